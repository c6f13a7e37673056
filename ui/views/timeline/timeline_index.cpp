// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/timeline/timeline_index.h"

#include "core/trace/interval_sets.h"

#include <algorithm>
#include <map>
#include <utility>

namespace cuco::ui {

namespace {

bool covers(const SpanSet& stretches, std::size_t& cursor, std::int64_t ns)
{
    while (cursor < stretches.size() && stretches[cursor].second <= ns)
        ++cursor;
    return cursor < stretches.size() && stretches[cursor].first <= ns;
}

SpanRow overlapRow(const SpanSet& compute, const SpanSet& communication)
{
    std::vector<std::int64_t> edges;
    edges.reserve(2 * (compute.size() + communication.size()));
    for (const auto* stretches : {&compute, &communication}) {
        for (const auto& [begin, end] : *stretches) {
            edges.push_back(begin);
            edges.push_back(end);
        }
    }
    std::ranges::sort(edges);
    SpanRow row;
    std::size_t compute_cursor = 0, communication_cursor = 0;
    for (std::size_t i = 0; i + 1 < edges.size(); ++i) {
        if (edges[i] == edges[i + 1])
            continue;
        const bool computes = covers(compute, compute_cursor, edges[i]);
        const bool communicates = covers(communication, communication_cursor, edges[i]);
        if (!computes && !communicates)
            continue;
        const OverlapKind kind = !communicates ? OverlapKind::compute_only
                                 : computes    ? OverlapKind::hidden
                                               : OverlapKind::exposed;
        row.append({edges[i], edges[i + 1], 0, static_cast<std::uint8_t>(kind)});
    }
    row.finish();
    return row;
}

RangeStatistics statisticsOf(int rank, const SpanRow& overlap, TimeRange range)
{
    RangeStatistics statistics{.rank = rank};
    for (std::size_t i = overlap.firstEndingAfter(range.begin_ns); i < overlap.size(); ++i) {
        const Span& span = overlap[i];
        if (static_cast<double>(span.begin_ns) >= range.end_ns)
            break;
        const double inside = std::min(static_cast<double>(span.end_ns), range.end_ns) -
                              std::max(static_cast<double>(span.begin_ns), range.begin_ns);
        const auto kind = static_cast<OverlapKind>(span.kind);
        if (kind != OverlapKind::exposed)
            statistics.compute_ns += inside;
        if (kind != OverlapKind::compute_only)
            statistics.communication_ns += inside;
        if (kind == OverlapKind::hidden)
            statistics.overlapped_ns += inside;
    }
    return statistics;
}

char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

bool containsWhateverCase(std::string_view text, std::string_view part)
{
    return !std::ranges::search(text, part, {}, lower, lower).empty();
}

}  // namespace

TimelineIndex::TimelineIndex(std::shared_ptr<const Timeline> timeline) : timeline_(std::move(timeline))
{
    std::int64_t last = 0;
    for (const Lane& lane : timeline_->lanes) {
        for (const Interval& interval : lane.intervals)
            last = std::max(last, interval.end_ns);
    }
    extent_ = {0, std::max(static_cast<double>(last), shortest_range_ns)};
    buildRows();
    buildRanks();
    buildFlows();
}

void TimelineIndex::buildRows()
{
    lanes_.reserve(timeline_->lanes.size());
    for (const Lane& lane : timeline_->lanes) {
        LaneRows& built = lanes_.emplace_back();
        built.rows.emplace_back();
        for (std::uint32_t i = 0; i < lane.intervals.size(); ++i) {
            const Interval& interval = lane.intervals[i];
            // Nested intervals find the next level; imported ones that cross each other do so, too.
            auto level = std::ranges::find_if(
                built.rows, [&](const SpanRow& row) { return row.empty() || row.back().end_ns <= interval.begin_ns; });
            if (level == built.rows.end()) {
                if (built.rows.size() == deepest_level) {
                    ++built.too_deep;
                    continue;
                }
                level = built.rows.emplace(built.rows.end());
            }
            level->append({interval.begin_ns, interval.end_ns, i, static_cast<std::uint8_t>(interval.activity)});
        }
        for (SpanRow& row : built.rows)
            row.finish();
    }
}

void TimelineIndex::buildRanks()
{
    std::map<int, std::vector<std::uint32_t>> lanes_of;
    for (std::uint32_t lane = 0; lane < timeline_->lanes.size(); ++lane)
        lanes_of[timeline_->lanes[lane].rank].push_back(lane);
    const auto spans_of = spansByRank(*timeline_);
    for (auto& [rank, lanes] : lanes_of) {
        const auto spans = spans_of.find(rank);
        SpanRow overlap = spans == spans_of.end() ? overlapRow({}, {})
                                                  : overlapRow(spans->second.compute, spans->second.communication);
        const RangeStatistics total = statisticsOf(rank, overlap, extent_);
        ranks_.push_back({rank, std::move(lanes), std::move(overlap), total});
    }
}

void TimelineIndex::buildFlows()
{
    for (std::uint32_t lane = 0; lane < timeline_->lanes.size(); ++lane) {
        const auto& intervals = timeline_->lanes[lane].intervals;
        for (std::uint32_t i = 0; i < intervals.size(); ++i) {
            if (intervals[i].flow != 0)
                in_flows_.push_back({lane, i});
        }
    }
    std::ranges::sort(in_flows_, {},
                      [this](IntervalRef ref) { return std::pair(interval(ref).flow, interval(ref).begin_ns); });
}

std::string_view TimelineIndex::name(IntervalRef ref) const
{
    const std::uint32_t name = interval(ref).name;
    return name < timeline_->names.size() ? std::string_view(timeline_->names[name]) : std::string_view();
}

std::vector<IntervalRef> TimelineIndex::flowOf(IntervalRef ref) const
{
    const std::uint32_t flow = interval(ref).flow;
    if (flow == 0)
        return {};
    const auto members =
        std::ranges::equal_range(in_flows_, flow, {}, [this](IntervalRef r) { return interval(r).flow; });
    std::vector<IntervalRef> others;
    std::ranges::copy_if(members, std::back_inserter(others), [&](IntervalRef other) { return other != ref; });
    return others;
}

std::vector<IntervalRef> TimelineIndex::search(std::string_view text) const
{
    std::vector<bool> matches(timeline_->names.size());
    for (std::size_t i = 0; i < matches.size(); ++i)
        matches[i] = !text.empty() && containsWhateverCase(timeline_->names[i], text);
    std::vector<IntervalRef> found;
    for (std::uint32_t lane = 0; lane < timeline_->lanes.size(); ++lane) {
        const auto& intervals = timeline_->lanes[lane].intervals;
        for (std::uint32_t i = 0; i < intervals.size(); ++i) {
            if (intervals[i].name < matches.size() && matches[intervals[i].name])
                found.push_back({lane, i});
        }
    }
    std::ranges::stable_sort(found, {}, [this](IntervalRef ref) { return interval(ref).begin_ns; });
    return found;
}

std::vector<RangeStatistics> TimelineIndex::statistics(TimeRange range) const
{
    std::vector<RangeStatistics> all;
    for (const RankGroup& group : ranks_)
        all.push_back(statisticsOf(group.rank, group.overlap, range));
    return all;
}

}  // namespace cuco::ui
