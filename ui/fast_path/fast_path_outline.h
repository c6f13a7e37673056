// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/agents/fast_path.h"
#include "core/run/run_snapshot.h"

#include <array>
#include <optional>
#include <string>
#include <vector>

namespace cuco::ui {

/// A stage of a conversion with its attempts in their order.
struct StageOutline {
    FastPathStage stage = FastPathStage::infrastructure;
    int most = 0;                       ///< attempts that the run allows
    int made = 0;                       ///< without those that were rejected
    std::vector<std::string> attempts;  ///< ids, rejected ones too
    std::string accepted;               ///< the attempt that the next stage began with, or the result; may be empty
};

struct FastPathOutline {
    std::array<StageOutline, 3> stages;
    std::vector<std::string> others;  ///< of no stage: the workload's own seed, taken without a model
};

FastPathOutline outlineOf(const RunSnapshot& snapshot);

/// The attempts after this one that are not rejected: what continuing from it rejects.
std::vector<std::string> attemptsAfter(const RunSnapshot& snapshot, const std::string& id);

}  // namespace cuco::ui
