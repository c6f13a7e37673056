// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "gpu/start_line.h"
#include "wire.h"

#include <vector>

namespace cuco_harness {

/// Starts a team whose ranks are on several hosts. How far each host's clock is ahead is measured before every stretch;
/// the start is told as a moment of the host's own clock, and the end is one too. So what the clocks differ by makes
/// ranks start apart and does not otherwise count. clocks[i] leads to host i, where serveHostClock answers.
class HostsStartLine : public StartLine {
public:
    HostsStartLine(std::vector<Channel>& clocks, int team) : clocks_(clocks), team_(team) {}

    Outcome time(uint32_t stretch, const Look& look, int64_t& makespan_ns) override;
    int64_t startUncertaintyNs() const override { return uncertainty_ns_; }
    Outcome lost() override;

private:
    /// What a host tells: when, and by how much later than at the start's moment it heard of it.
    struct Told {
        int64_t moment_ns = 0, late_ns = 0;
    };
    Outcome await(char kind, uint32_t stretch, const Look& look, std::vector<Told>& told);

    std::vector<Channel>& clocks_;
    const int team_;
    int64_t uncertainty_ns_ = 0;
};

/// On a host: watches the flags of teams[i]'s ranks for the supervisor until it is gone.
void serveHostClock(Channel& clock, const std::vector<PageStartLine>& teams);

}  // namespace cuco_harness
