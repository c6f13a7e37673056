// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/design/directive.h"
#include "core/evaluation/candidate_evaluator.h"
#include "core/evaluation/evaluator.h"

#include <memory>

namespace cuco {

/// For workloads of kind "program": builds each candidate by the workload's command, runs it in the node's sandbox in
/// turns with the host-driven program, and reads what the ranks print. The makespan is the longest of the ranks' own
/// figures; every evaluation says `self_reported`, has no bound, no noise floor and no profile.
class ProgramEvaluator : public CandidateEvaluator {
public:
    ProgramEvaluator(std::shared_ptr<Node> node, Workload workload, DesignSpace design_space,
                     EvaluationDefaults defaults = {});
    ~ProgramEvaluator() override;

    const Workload& workload() const override;
    const NodeProbe& probe() const override;
    Result<void> prepare(std::stop_token stop) override;
    const std::vector<BaselineResult>& baselines() const override;
    Result<Compiled> compile(const EvaluationRequest& request, std::stop_token stop) override;
    Result<EvaluationResult> measure(const EvaluationRequest& request, Compiled compiled,
                                     std::stop_token stop) override;

private:
    struct Private;
    std::unique_ptr<Private> d_;
};

}  // namespace cuco
