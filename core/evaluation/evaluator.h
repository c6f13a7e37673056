// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/design/directive.h"
#include "core/evaluation/candidate_evaluator.h"
#include "core/nodes/node.h"
#include "core/nodes/toolchain.h"
#include "core/workload/workload.h"

#include <memory>
#include <set>
#include <stop_token>
#include <string>

namespace cuco {

/// What to measure when a request does not say.
struct EvaluationDefaults {
    int ranks = 0;                         ///< 0: the first of the workload's rank counts that the node can run
    std::vector<Shape> shapes;             ///< empty: the workload's search shapes for the node
    Stage until = Stage::profile;          ///< nothing is timed before benchmark, baselines neither
    std::filesystem::path workloads = {};  ///< the product's, with the emulator; empty: races cannot be checked
    std::filesystem::path analysis = {};   ///< declarations for the analysis; empty: directives are believed
};

/// Built for one workload on one node. `prepare` builds the harness and measures the baselines once;
/// afterwards `compile` and `measure` may be called from several threads.
class Evaluator : public CandidateEvaluator {
public:
    Evaluator(std::shared_ptr<Node> node, std::unique_ptr<Toolchain> toolchain, Workload workload,
              DesignSpace design_space, EvaluationDefaults defaults = {});
    ~Evaluator() override;

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

/// Markers, frozen code (against the workload's seed), directive and tunables of a candidate's text.
Evaluation screenText(const std::string& source, const KernelSource& frozen_template, const DesignSpace& design_space,
                      const std::set<std::string>& capabilities);

/// The same, and what games the evaluation.
Evaluation screen(const std::string& source, const KernelSource& frozen_template, const DesignSpace& design_space,
                  const std::set<std::string>& capabilities);

}  // namespace cuco
