// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "gpu/timing_page.h"
#include "outcome.h"

#include <cstdint>
#include <functional>

namespace cuco_harness {

/// Called now and then while flags are waited for; a failure ends the waiting.
using Look = std::function<Outcome()>;

/// Starts a stretch on all of a team's ranks at once and sees its end.
class StartLine {
public:
    virtual ~StartLine() = default;
    /// The ranks know of the stretch. From the common start to the last rank's end.
    virtual Outcome time(uint32_t stretch, const Look& look, int64_t& makespan_ns) = 0;
    /// By how much the ranks' starts may differ because hosts' clocks do; 0 on one host.
    virtual int64_t startUncertaintyNs() const { return 0; }
    /// A failure when a host that the ranks are on is gone.
    virtual Outcome lost() { return std::nullopt; }
};

/// Of ranks on this host, by the page that they share with this process.
class PageStartLine : public StartLine {
public:
    PageStartLine(TimingPage& page, int first_rank, int ranks) : page_(page), first_rank_(first_rank), ranks_(ranks) {}

    Outcome time(uint32_t stretch, const Look& look, int64_t& makespan_ns) override;

    Outcome awaitReady(uint32_t stretch, const Look& look) const;
    /// At this moment of CLOCK_MONOTONIC.
    void go(uint32_t stretch, int64_t start_ns) const;
    Outcome awaitEnd(uint32_t stretch, const Look& look, int64_t& end_ns) const;

private:
    Outcome await(std::atomic<uint32_t> TimingPage::Rank::*flag, uint32_t stretch, const Look& look,
                  int64_t& last_ns) const;

    TimingPage& page_;
    const int first_rank_, ranks_;
};

}  // namespace cuco_harness
