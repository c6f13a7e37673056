// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/evaluation/candidate_evaluator.h"
#include "core/evaluation/evaluator.h"
#include "core/evaluation/harness_job.h"

namespace cuco {

/// A request with its gaps filled for one node.
struct EvaluationPlan {
    int ranks = 0;
    std::vector<Shape> verify_shapes, timed_shapes;
    std::uint64_t seed = 1;
    std::string backend;  ///< of the candidate's directive; empty for a baseline, which has none
    Stage until = Stage::profile;
    bool modelled = false;
    bool all_rounds = false;
};

/// Of the directive; empty when the request has none.
std::string backendOf(const EvaluationRequest& request);

/// Errors: a rank count that the workload is not made for or the node cannot run; no shapes.
Result<EvaluationPlan> planEvaluation(const Workload& workload, const NodeProbe& probe,
                                      const EvaluationDefaults& defaults, const EvaluationRequest& request);

constexpr std::size_t turns_a_round = 2;  ///< of each program, in a job on GPUs

/// Every verification shape a few times in a row with ranks that start apart, then every timed shape, all of them
/// dumped, for the emulated node.
HarnessJob modelledJob(const EvaluationPlan& plan, const Workload& workload);
/// The same on GPUs, where timed shapes are run in turns with the job's baselines. The first is traced where the job
/// gets a program for it; a traced program is never timed.
HarnessJob candidateJob(const EvaluationPlan& plan, const Workload& workload);
/// For a job in which all baselines take turns; the node's rates are measured too.
HarnessJob baselineJob(const EvaluationPlan& plan, const Workload& workload);

}  // namespace cuco
