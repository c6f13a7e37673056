// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wire.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace cuco_harness {

/// Where the supervisor listens, and what an agent on another host must know to be let in.
struct Invitation {
    std::vector<std::string> addresses;  ///< numeric; any of them may be out of reach from a host
    int port = 0;
    std::string secret;  ///< what an agent says
    std::string answer;  ///< and what only the supervisor says then
};
/// A file that only its owner may read. False when it cannot be written.
bool writeInvitation(const std::string& path, const Invitation& invitation);
std::optional<Invitation> readInvitation(const std::string& path);

/// Who is at the other end. An agent comes twice: for messages, and for the clock.
struct Greeting {
    bool clock = false;
    int number = -1;   ///< which of the launcher's processes it is; the same both times
    std::string host;  ///< its name
};

/// Waits for agents, over TCP.
class AgentListener {
public:
    ~AgentListener();
    AgentListener() = default;
    AgentListener(const AgentListener&) = delete;
    AgentListener& operator=(const AgentListener&) = delete;

    /// On any free port of every address. False when there is none.
    bool open();
    const Invitation& invitation() const { return invitation_; }
    /// The next that knows the secret, if one comes within so many milliseconds, and gets the answer; who does not know
    /// it is sent away.
    std::optional<Greeting> accept(int patience_ms, Channel& channel);

private:
    int socket_ = -1;
    Invitation invitation_;
};

/// Tries every address until the supervisor answers, for so many milliseconds each: an address may be another machine's
/// too. A closed channel when it does not.
Channel reachSupervisor(const Invitation& invitation, const Greeting& greeting, int patience_ms);

/// How far another host's CLOCK_MONOTONIC is ahead of this one's.
struct ClockLead {
    int64_t ns = 0;
    int64_t uncertainty_ns = 0;  ///< half of the fastest round trip: it may be off by so much, not more
};
/// By messages there and back; the other side answers with answerClock.
std::optional<ClockLead> measureClockLead(Channel& clock);
constexpr char clock_question = 'p', clock_answer = 'q';
bool answerClock(Channel& clock);

}  // namespace cuco_harness
