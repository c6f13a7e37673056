// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "gpu/host_share.h"
#include "gpu/rank_launch.h"
#include "gpu/start_line.h"
#include "job.h"
#include "outcome.h"
#include "wire.h"

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace cuco_harness {

/// One stretch of iterations that a team runs from a common start until every rank's device is idle.
struct Stretch {
    int first_set = 0, length = 1;
    std::vector<int64_t> delay_ns;  ///< how much later than the others each rank starts; empty: together
    bool snapshot = false;          ///< outputs are copied in the order of the stream, as the candidate left them
    bool flush = true;              ///< the L2 is emptied first
    int warm_set = -1;  ///< an iteration in this set comes before the start: a process that has slept is slow
};

struct StretchTimes {
    double makespan_us = 0;           ///< by the supervisor's clock
    double start_uncertainty_us = 0;  ///< ranks on several hosts may start so far apart
    double event_us = 0;              ///< the slowest rank's CUDA events: what the ranks themselves claim
};

/// The ways to ranks on other hosts.
struct TeamLinks {
    std::vector<Channel> ranks;      ///< one each
    std::vector<Channel> launchers;  ///< one a host
    std::unique_ptr<StartLine> start_line;
};

/// One program's ranks: processes of their own, in a sandbox of their own when there is one. Nothing they say is
/// believed but that they are done or have failed.
class Team {
public:
    Team(const Program& program, int ranks, int64_t patience_ns);
    ~Team();
    Team(const Team&) = delete;
    Team& operator=(const Team&) = delete;

    /// On this host. `prefix` is what comes before the ranks' own command: a sandbox's.
    Outcome start(const std::vector<std::string>& prefix);
    /// Ranks that were started elsewhere. They end when these ways are closed.
    void adopt(TeamLinks links);
    bool isElsewhere() const { return !launch_; }

    /// Sends a question to every rank. `bytes` is called for each.
    void post(char kind, const std::string& doing, const std::function<std::string(int rank)>& bytes);
    void post(char kind, const std::string& doing, const std::string& bytes = "");
    /// Waits for every rank's answer.
    Outcome collect(std::vector<std::string>& replies);
    Outcome collect();

    /// What is said of a rank that fails from now on: "iteration 3 of shape 4096".
    void nowDoing(const std::string& doing) { doing_ = doing; }
    /// `at_end` is called at once when the last rank has ended.
    Outcome run(const Stretch& stretch, StretchTimes& times, const std::function<Outcome()>& at_end = {});

    /// The next descriptor that a rank has sent, now the caller's; -1: none.
    int takeDescriptor(int rank) { return links_.ranks[size_t(rank)].takeDescriptor(); }

    /// A failure when a host that its ranks are on is gone: then nothing that went wrong is the program's.
    Outcome lost() const { return links_.start_line ? links_.start_line->lost() : std::nullopt; }

    const Program& program() const { return program_; }
    /// Ends every process of the team.
    void end();

private:
    Outcome takeAnswers();
    Outcome failedRank(int rank);
    std::optional<int> endOf(int rank);
    Outcome deadline() const;
    Failure ranksFailure(const std::string& packed, int rank) const;

    const Program& program_;
    const int64_t patience_ns_;
    std::unique_ptr<RankLaunch> launch_;
    TeamLinks links_;
    uint32_t stretch_ = 0;
    bool loaded_ = false;  ///< the candidate's code may have run in the ranks

    std::string doing_;
    int64_t asked_ns_ = 0;
    std::vector<char> waiting_;
    std::vector<std::string> replies_;
};

}  // namespace cuco_harness
