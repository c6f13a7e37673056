// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/design/directive.h"
#include "core/evaluation/evaluation.h"
#include "core/nodes/node.h"
#include "core/nodes/toolchain.h"
#include "core/workload/workload.h"

#include <memory>
#include <set>
#include <stop_token>
#include <string>

namespace cuco {

struct EvaluationRequest {
    std::string source;
    Stage until = Stage::profile;
    std::vector<Shape> shapes;         ///< to benchmark; empty: the workload's search shapes for this node
    int ranks = 0;                     ///< 0: the workload's default that the node can run
    std::uint64_t input_seed = 1;
    bool screened = true;              ///< false for host.cu, which has no directive
};

struct EvaluationResult {
    Evaluation evaluation;
    std::optional<Timeline> timeline;  ///< of the first shape
};

/// Built for one workload on one node. `prepare` builds the harness and measures the baselines once;
/// afterwards `compile` and `measure` may be called from several threads.
class Evaluator {
public:
    Evaluator(std::shared_ptr<Node> node, std::unique_ptr<Toolchain> toolchain, Workload workload,
              DesignSpace design_space);
    ~Evaluator();

    const Workload& workload() const;
    const NodeProbe& probe() const;  ///< valid after prepare

    Result<void> prepare(std::stop_token stop);
    /// host.cu and the other host-driven baselines as measured by `prepare`.
    const std::vector<EvaluationResult>& baselines() const;

    /// Screen and compile: cheap, runs ahead.
    struct Compiled {
        Evaluation evaluation;  ///< final when it is not verified()
        std::shared_ptr<JobFolder> job;
    };
    Result<Compiled> compile(const EvaluationRequest& request, std::stop_token stop);
    /// Verify, benchmark and profile, as far as `request.until` says.
    Result<EvaluationResult> measure(const EvaluationRequest& request, Compiled compiled, std::stop_token stop);
    /// Both.
    Result<EvaluationResult> evaluate(const EvaluationRequest& request, std::stop_token stop);

private:
    struct Private;
    std::unique_ptr<Private> d_;
};

/// Markers, frozen code (against the workload's seed), directive and tunables of a candidate's text.
Evaluation screen(const std::string& source, const KernelSource& frozen_template, const DesignSpace& design_space,
                  const std::set<std::string>& capabilities);

}  // namespace cuco
