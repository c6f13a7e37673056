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

/// The reason that its rejections have: "continued from c3, without the 2 after it".
std::string continuingReason(const std::string& id, std::size_t rejected);
/// What a person did last and did not undo. Continuing from an attempt is one act with several decisions.
struct LastAct {
    std::vector<Decision> decisions;  ///< the latest first; empty: nothing to undo
    std::string continued_from;       ///< empty: it is a single decision
};
LastAct lastActOf(const std::vector<Decision>& decisions);

}  // namespace cuco::ui
