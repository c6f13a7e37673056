// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/trace/timeline.h"
#include "ui/views/timeline/span_row.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

namespace cuco::ui {

/// One interval of a timeline by its lane and its place in the lane.
struct IntervalRef {
    std::uint32_t lane = 0, interval = 0;
    bool operator==(const IntervalRef&) const = default;
};

/// What a rank's overlap strip shows at a time, counted as in OverlapReport.
enum class OverlapKind : std::uint8_t { compute_only, hidden, exposed };

/// Nanoseconds of one rank within a range.
struct RangeStatistics {
    int rank = 0;
    double compute_ns = 0, communication_ns = 0, overlapped_ns = 0;

    double exposed_ns() const { return communication_ns - overlapped_ns; }
};

/// A timeline prepared for painting, picking and searching; made once a timeline.
class TimelineIndex {
public:
    /// More nesting levels than this are not shown.
    static constexpr std::size_t deepest_level = 16;

    struct LaneRows {
        std::vector<SpanRow> rows;  ///< one a nesting level; at least one
        std::size_t too_deep = 0;   ///< intervals below the deepest level
    };
    struct RankGroup {
        int rank = 0;
        std::vector<std::uint32_t> lanes;  ///< indices into Timeline::lanes
        SpanRow overlap;                   ///< kinds are OverlapKind
        RangeStatistics total;
    };

    explicit TimelineIndex(std::shared_ptr<const Timeline> timeline);

    const Timeline& timeline() const { return *timeline_; }
    const std::vector<RankGroup>& ranks() const { return ranks_; }
    const LaneRows& rowsOf(std::uint32_t lane) const { return lanes_[lane]; }
    TimeRange extent() const { return extent_; }  ///< 0 to the last end, never empty

    const Lane& lane(IntervalRef ref) const { return timeline_->lanes[ref.lane]; }
    const Interval& interval(IntervalRef ref) const { return lane(ref).intervals[ref.interval]; }
    std::string_view name(IntervalRef ref) const;
    /// The others of the same flow, by time; empty when it belongs to none.
    std::vector<IntervalRef> flowOf(IntervalRef ref) const;
    /// Intervals whose name contains `text`, whatever the case, by begin.
    std::vector<IntervalRef> search(std::string_view text) const;
    std::vector<RangeStatistics> statistics(TimeRange range) const;

private:
    void buildRows();
    void buildRanks();
    void buildFlows();

    std::shared_ptr<const Timeline> timeline_;
    std::vector<LaneRows> lanes_;
    std::vector<RankGroup> ranks_;
    std::vector<IntervalRef> in_flows_;  ///< by flow, then begin
    TimeRange extent_;
};

}  // namespace cuco::ui
