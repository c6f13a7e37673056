// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/trace/timeline.h"

#include <nlohmann/json_fwd.hpp>

#include <optional>
#include <vector>

namespace cuco {

/// Microseconds of one rank, from its lanes' intervals merged per activity.
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
    std::optional<double> bound_us;      ///< the workload's bound, when it was given
};

OverlapReport overlapOf(const Timeline& timeline, std::optional<double> bound_us = std::nullopt);
nlohmann::json toJson(const OverlapReport& report);
Result<OverlapReport> overlapReportFromJson(const nlohmann::json& json);

}  // namespace cuco
