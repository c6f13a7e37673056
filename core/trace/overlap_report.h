// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/trace/critical_path.h"
#include "core/trace/timeline.h"

#include <nlohmann/json_fwd.hpp>

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace cuco {

/// Microseconds of one rank, from its lanes' intervals merged per activity (see RankSpans for fused kernels).
struct RankOverlap {
    int rank = 0;
    double busy_us = 0;           ///< first begin to last end
    double compute_us = 0;        ///< union of compute
    double communication_us = 0;  ///< union of communication; Activity::copy is a copy within the GPU and not part
    double overlapped_us = 0;     ///< |communication ∩ compute|
    double exposed_us = 0;        ///< communication − overlapped
    double wait_us = 0;           ///< waiting that neither computing nor communication covers
    /// HTA's ratio |comm ∩ comp| / |comm|; nothing when there is no communication.
    std::optional<double> hidden_share;
};

struct OverlapReport {
    std::vector<RankOverlap> ranks;
    double makespan_us = 0;              ///< first begin to last end over all ranks
    std::optional<double> hidden_share;  ///< Σ overlapped / Σ communication
    double exposed_us = 0;               ///< of the rank with the most of it
    double overlapped_us = 0;            ///< Σ over the ranks: the share's numerator
    double communication_us = 0;         ///< Σ over the ranks: its denominator
    std::optional<double> bound_us;      ///< the workload's bound, when it was given
    std::uint64_t dropped = 0;           ///< records the trace lost: the figures are then lower bounds
    std::optional<double> axis_error_us;
    std::optional<int> last_rank;         ///< whose device work ended last, where the critical path begins backwards
    std::string last_lane;                ///< and in which lane
    std::vector<PathStep> critical_path;  ///< see criticalPath(); of a stored report its last 1,000 steps
};

using PathKey = std::pair<int, std::optional<Activity>>;
/// µs on the critical path by rank and activity.
std::map<PathKey, double> criticalPathTimes(const OverlapReport& report);

OverlapReport overlapOf(const Timeline& timeline, std::optional<double> bound_us = std::nullopt);
nlohmann::json toJson(const OverlapReport& report);
Result<OverlapReport> overlapReportFromJson(const nlohmann::json& json);

}  // namespace cuco
