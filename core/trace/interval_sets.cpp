// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/trace/interval_sets.h"

#include <algorithm>
#include <set>

namespace cuco {

SpanSet merged(SpanSet spans)
{
    if (!std::ranges::is_sorted(spans)) {
        std::ranges::sort(spans);
    }
    SpanSet set;
    for (const Span& span : spans) {
        if (span.first == span.second) {
            continue;
        }
        if (!set.empty() && span.first <= set.back().second) {
            set.back().second = std::max(set.back().second, span.second);
        } else {
            set.push_back(span);
        }
    }
    return set;
}

std::int64_t lengthOf(const SpanSet& set)
{
    std::int64_t length = 0;
    for (const auto& [begin, end] : set) {
        length += end - begin;
    }
    return length;
}

std::int64_t commonLength(const SpanSet& a, const SpanSet& b)
{
    std::int64_t length = 0;
    for (auto left = a.begin(), right = b.begin(); left != a.end() && right != b.end();) {
        length +=
            std::max<std::int64_t>(0, std::min(left->second, right->second) - std::max(left->first, right->first));
        ++(left->second < right->second ? left : right);
    }
    return length;
}

bool isHostLane(const Lane& lane)
{
    return lane.name.starts_with("host");
}

bool isInKernelLane(const Lane& lane)
{
    return lane.name.starts_with("in-kernel ");
}

std::map<int, RankSpans> spansByRank(const Timeline& timeline)
{
    std::map<int, std::set<std::uint32_t>> seen_inside;
    for (const Lane& lane : timeline.lanes) {
        if (isInKernelLane(lane)) {
            for (const Interval& interval : lane.intervals) {
                seen_inside[lane.rank].insert(interval.name);
            }
        }
    }
    std::map<int, RankSpans> ranks;
    for (const Lane& lane : timeline.lanes) {
        if (lane.intervals.empty()) {
            continue;
        }
        RankSpans& spans = ranks[lane.rank];
        const auto inside = seen_inside.find(lane.rank);
        const bool has_inside = inside != seen_inside.end() && !isInKernelLane(lane);
        for (const Interval& interval : lane.intervals) {
            const Span span{interval.begin_ns, interval.end_ns};
            spans.extent = {std::min(spans.extent.first, span.first), std::max(spans.extent.second, span.second)};
            const bool is_work = interval.activity == Activity::compute || interval.activity == Activity::communication;
            if (is_work && has_inside && inside->second.contains(interval.name)) {
                continue;
            }
            switch (interval.activity) {
                case Activity::compute:
                    spans.compute.push_back(span);
                    break;
                case Activity::communication:
                    spans.communication.push_back(span);
                    break;
                case Activity::copy:
                    spans.copy.push_back(span);
                    break;
                case Activity::wait:
                    if (!isHostLane(lane)) {
                        spans.wait.push_back(span);
                    }
                    break;
                case Activity::host:
                    break;
            }
        }
    }
    for (auto& [rank, spans] : ranks) {
        for (SpanSet* set : {&spans.compute, &spans.communication, &spans.copy, &spans.wait}) {
            *set = merged(std::move(*set));
        }
    }
    return ranks;
}

}  // namespace cuco
