// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/evaluation/data_paths.h"
#include "core/evaluation/evaluator.h"

#include <memory>
#include <string>

namespace cuco {

/// "emulated", "local", or hosts as parseHostSpan reads them; an empty name: local when it is usable and has the ranks,
/// else emulated. Errors name the nodes there are.
Result<std::shared_ptr<Node>> makeNode(const std::string& name, int ranks = 1);

/// The same for a workload: programs run on the local node, with or without GPUs.
Result<std::shared_ptr<Node>> makeNodeFor(const Workload& workload, const std::string& name, int ranks);

/// An evaluator that is not prepared yet, of the workload's kind.
Result<std::unique_ptr<CandidateEvaluator>> makeEvaluatorFor(const DataPaths& paths, std::shared_ptr<Node> node,
                                                             const Workload& workload, EvaluationDefaults defaults);

/// The one for candidates of candidate.h.
Result<std::unique_ptr<Evaluator>> makeEvaluator(const DataPaths& paths, std::shared_ptr<Node> node,
                                                 const Workload& workload, EvaluationDefaults defaults);

}  // namespace cuco
