// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/agents/proposer.h"
#include "core/population/candidate.h"

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace cuco {

enum class FastPathStage {
    infrastructure,  ///< windows and a device communicator; host collectives stay
    replacement,     ///< host collectives become device communication
    annotation,      ///< tunables, warm-up
};
/// Also a candidate's strategy: "infrastructure".
std::string_view toString(FastPathStage stage);
/// "Stage A, infrastructure".
std::string_view stageTitle(FastPathStage stage);

/// The strategy of the workload's seed, where no model was asked.
inline constexpr std::string_view own_seed_strategy = "own seed";

/// The agent that judges attempts, and the title of the step in which it judges one.
inline constexpr const char* judge_agent = "judge";
std::string judgingTitle(const std::string& attempt);
/// The attempt that a step judges; empty for any other step.
std::string judgedAttempt(const AgentStep& step);

/// Where a conversion stands, read from the candidates that came of it. Those that a person rejected count as not made:
/// that is how it is continued from an earlier one.
struct FastPathPosition {
    FastPathStage stage = FastPathStage::infrastructure;
    int attempts = 0;                       ///< made in this stage
    std::string base;                       ///< the stage's accepted source before; empty: the host's program
    std::shared_ptr<const Candidate> last;  ///< of this stage; not judged yet
};
FastPathPosition fastPathPosition(const std::vector<std::shared_ptr<const Candidate>>& candidates);

/// The converted program, or null: the annotated one if it verified, else what was annotated; without a model the
/// workload's own seed.
const Candidate* fastPathResult(const std::vector<const Candidate*>& candidates);

}  // namespace cuco
