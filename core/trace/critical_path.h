// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/trace/interval_sets.h"

#include <optional>

namespace cuco {

/// A stretch of the critical path: what one rank did while nothing else kept the run from ending sooner.
struct PathStep {
    int rank = 0;
    std::optional<Activity> activity;  ///< none: the rank's GPU was idle
    std::int64_t begin_ns = 0, end_ns = 0;
};

/// The chain of steps, oldest first, without gaps, from the first to the last moment of device work. A trace holds no
/// dependencies, so the chain is built backwards by these rules. It begins on the rank that ends last. There, at each
/// moment, counts what the rank computes, else what it communicates, else copies, else waits for, else that it idles.
/// - Computing and copying lead back to their begin on the same rank.
/// - Communication leads back to its begin, or to the later begin of another rank's communication that overlaps it:
///   it cannot end before the last rank takes part, and the chain goes on with that rank.
/// - A wait leads to the rank whose computing, communicating or copying ended last during it, at that end.
/// - Idleness leads back to the end of the rank's last work.
/// Ranks' times count as exact: a step between ranks is no more certain than the axes' error.
std::vector<PathStep> criticalPath(const std::map<int, RankSpans>& ranks);

}  // namespace cuco
