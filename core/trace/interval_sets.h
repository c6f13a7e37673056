// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/trace/timeline.h"

#include <map>
#include <utility>

namespace cuco {

/// Half-open [first, second) in ns; in a set: sorted, disjoint, none empty.
using Span = std::pair<std::int64_t, std::int64_t>;
using SpanSet = std::vector<Span>;

SpanSet merged(SpanSet spans);
std::int64_t lengthOf(const SpanSet& set);
std::int64_t commonLength(const SpanSet& a, const SpanSet& b);

/// The times of one rank by what it did. A kernel that has lanes of its own ("in-kernel …", whose intervals bear its
/// name) counts by those alone: seen from outside, a fused kernel would hide all it communicates. Waits of the host
/// ("host …") are not the GPU's.
struct RankSpans {
    SpanSet compute, communication, copy, wait;
    Span extent{INT64_MAX, INT64_MIN};  ///< of these four and of host activity
};

std::map<int, RankSpans> spansByRank(const Timeline& timeline);

bool isInKernelLane(const Lane& lane);
bool isHostLane(const Lane& lane);

}  // namespace cuco
