// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>

namespace cuco_harness {

constexpr int most_ranks = 64;

/// A page that the supervisor shares with a team's ranks. It names the common start there and sees each rank's end
/// within a fraction of a microsecond; what it reads the clock at is its own affair.
struct TimingPage {
    struct alignas(64) Rank {
        std::atomic<uint32_t> ready, ended;  ///< the number of the stretch
    };
    alignas(64) std::atomic<uint32_t> go;  ///< the number of the stretch whose start_ns is set
    std::atomic<int64_t> start_ns;         ///< CLOCK_MONOTONIC
    Rank ranks[most_ranks];
};
static_assert(std::atomic<int64_t>::is_always_lock_free);

}  // namespace cuco_harness
