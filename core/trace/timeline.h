// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/error.h"

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cuco {

enum class Activity : std::uint8_t { compute, communication, copy, wait, host };

/// Where a timeline's times come from. Only `cupti` and `in_kernel` are measurements of a GPU.
enum class TimeSource : std::uint8_t { modelled, cupti, in_kernel, imported };

std::string_view toString(Activity activity);
std::string_view toString(TimeSource source);

/// Half-open [begin_ns, end_ns) on the timeline's one clock, which starts at 0.
struct Interval {
    std::int64_t begin_ns = 0, end_ns = 0;
    std::uint32_t name = 0;   ///< index into Timeline::names
    std::uint32_t flow = 0;   ///< intervals with the same non-zero number belong together across lanes
    std::uint64_t bytes = 0;  ///< moved by it; 0 when it moves none or is not known
    Activity activity = Activity::host;
};

/// Work of one rank that happens in order: a stream, a copy engine, the SMs seen from inside kernels, the host.
struct Lane {
    int rank = 0;
    std::string name;                 ///< "stream 0", "copy engine", "in-kernel put"
    std::vector<Interval> intervals;  ///< by begin, then by end descending; nested or disjoint
};

struct Timeline {
    TimeSource source = TimeSource::modelled;
    std::string title;  ///< what was run: shape and ranks
    std::vector<std::string> names;
    std::vector<Lane> lanes;              ///< by rank
    std::uint64_t dropped = 0;            ///< records known to be lost
    std::vector<std::string> notes;       ///< sentences about what is missing or uncertain
    std::optional<double> axis_error_us;  ///< measured difference between the ranks' axes
    /// The same iteration without and with tracing, when that was measured.
    std::optional<double> untraced_us, traced_us;

    std::int64_t duration_ns() const;
    std::uint32_t nameIndex(std::string_view name);  ///< appends when new
};

/// Sorts the lane's intervals and moves those that overlap an earlier one in part to further lanes, "NAME (2)",
/// "NAME (3)", …; such are kernels that run side by side, though of one stream. Beyond 64 lanes they are left out and
/// added to `dropped`.
std::vector<Lane> disjointLanes(Lane lane, std::uint64_t& dropped);

/// Compact JSON used by the harness and inside run files.
nlohmann::json toJson(const Timeline& timeline);
/// Lanes come sorted by rank and intervals by time, however they are written; intervals that overlap others of their
/// lane in part get lanes of their own (see disjointLanes). Bounds are checked: at most 1,000 lanes, 5,000,000
/// intervals, 1,000,000 names; no negative or reversed interval.
Result<Timeline> timelineFromJson(const nlohmann::json& json);

/// Chrome trace event format as Perfetto opens it: one process a rank, one thread a lane; a flow becomes arrows
/// between its intervals in order of time.
nlohmann::json toPerfetto(const Timeline& timeline);

}  // namespace cuco
