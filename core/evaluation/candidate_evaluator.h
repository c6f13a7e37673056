// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/evaluation/evaluation.h"
#include "core/nodes/node.h"
#include "core/workload/workload.h"

#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

namespace cuco {

struct EvaluationRequest {
    std::string source;
    Stage until = Stage::profile;
    std::vector<Shape> shapes;  ///< to benchmark; empty: the workload's search shapes for this node
    int ranks = 0;              ///< 0: the workload's default that the node can run
    /// Of the inputs. Nothing: drawn at random, so that no candidate can know it; the evaluation tells which it was.
    std::optional<std::uint64_t> input_seed;
    bool check_races = false;  ///< on the emulated node, whatever node it is evaluated on
    bool screened = true;      ///< false for host.cu, which has no directive
    /// A directive that the code belies is a verdict of the screen (directive_check.h).
    bool check_directive = false;
    /// What crashed, hung or got an error on GPUs is run again with each launch waited for, so that the detail can name
    /// the launch. The emulated node names it at once.
    bool diagnose = false;
    /// All rounds of timing, also where fewer would do to tell the times apart.
    bool all_rounds = false;
};

struct EvaluationResult {
    Evaluation evaluation;
    std::optional<Timeline> timeline;  ///< of the first shape
};

/// A host-driven way to do the workload's work, as measured on the node. One that the node cannot run has a verdict
/// and no times.
struct BaselineResult {
    std::string name;  ///< "host.cu", "zero_cta"
    std::string source;
    EvaluationResult result;
};

/// What a run needs of an evaluator. After `prepare`, `compile` and `measure` may be called from several threads.
class CandidateEvaluator {
public:
    virtual ~CandidateEvaluator() = default;

    virtual const Workload& workload() const = 0;
    virtual const NodeProbe& probe() const = 0;  ///< valid after prepare

    virtual Result<void> prepare(std::stop_token stop) = 0;
    /// host.cu and the other host-driven baselines as measured by `prepare`.
    virtual const std::vector<BaselineResult>& baselines() const = 0;

    /// Screen and compile: cheap, runs ahead.
    struct Compiled {
        Evaluation evaluation;  ///< final when it is not verified()
        std::shared_ptr<JobFolder> job;
        bool for_profiler = false;       ///< it was built for the profiler too
        std::string no_profile_because;  ///< with a request that wants a profile
    };
    virtual Result<Compiled> compile(const EvaluationRequest& request, std::stop_token stop) = 0;
    /// Verify, benchmark and profile, as far as `request.until` says.
    virtual Result<EvaluationResult> measure(const EvaluationRequest& request, Compiled compiled,
                                             std::stop_token stop) = 0;
    /// Both.
    Result<EvaluationResult> evaluate(const EvaluationRequest& request, std::stop_token stop);
};

}  // namespace cuco
