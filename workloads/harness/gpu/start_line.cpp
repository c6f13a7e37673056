// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: Apache-2.0
#include "gpu/start_line.h"

#include "wire.h"

#include <vector>

namespace cuco_harness {
namespace {

// From the last rank's readiness to the common start.
constexpr int64_t start_lead_ns = 20'000;
constexpr int spins_between_looks = 4096;

}  // namespace

Outcome PageStartLine::await(std::atomic<uint32_t> TimingPage::Rank::*flag, uint32_t stretch, const Look& look,
                             int64_t& last_ns) const
{
    std::vector<char> there(size_t(ranks_), 0);
    size_t missing = there.size();
    for (int spins = 0; missing > 0; ++spins) {
        for (size_t i = 0; i < there.size(); ++i) {
            const auto& rank = page_.ranks[size_t(first_rank_) + i];
            if (!there[i] && (rank.*flag).load(std::memory_order_acquire) == stretch) {
                last_ns = monotonicNs();
                there[i] = 1;
                --missing;
            }
        }
        if (spins % spins_between_looks == spins_between_looks - 1)
            CUCO_CHECK(look());
    }
    return std::nullopt;
}

Outcome PageStartLine::awaitReady(uint32_t stretch, const Look& look) const
{
    int64_t ready_ns = 0;
    return await(&TimingPage::Rank::ready, stretch, look, ready_ns);
}

void PageStartLine::go(uint32_t stretch, int64_t start_ns) const
{
    page_.start_ns.store(start_ns, std::memory_order_relaxed);
    page_.go.store(stretch, std::memory_order_release);
}

Outcome PageStartLine::awaitEnd(uint32_t stretch, const Look& look, int64_t& end_ns) const
{
    return await(&TimingPage::Rank::ended, stretch, look, end_ns);
}

Outcome PageStartLine::time(uint32_t stretch, const Look& look, int64_t& makespan_ns)
{
    CUCO_CHECK(awaitReady(stretch, look));
    const int64_t start_ns = monotonicNs() + start_lead_ns;
    go(stretch, start_ns);
    int64_t end_ns = 0;
    CUCO_CHECK(awaitEnd(stretch, look, end_ns));
    makespan_ns = end_ns - start_ns;
    return std::nullopt;
}

}  // namespace cuco_harness
