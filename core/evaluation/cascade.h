// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/evaluation/evaluation.h"
#include "core/evaluation/evaluation_plan.h"
#include "core/nodes/node.h"
#include "core/nodes/toolchain.h"
#include "core/workload/workload.h"

#include <map>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>

namespace cuco {

using SamplesByShape = std::map<std::string, std::vector<double>>;

/// What the harness measured of one candidate, as raw as it came.
struct Measurement {
    SamplesByShape samples_us;
    SamplesByShape baseline_samples_us;  ///< of the baseline's turns in between, on GPUs
    std::optional<Timeline> timeline;
};

/// The stages from compile to profile for one workload on one node, without comparing anything to a baseline.
/// A stage that rejects sets the evaluation's verdict; later ones are then not entered.
class Cascade {
public:
    Cascade(Node& node, Toolchain& toolchain, const Workload& workload)
        : node_(node), toolchain_(toolchain), workload_(workload)
    {
    }

    /// `backend`: of the directive; empty for a baseline, which has none and is not looked into.
    Result<std::shared_ptr<JobFolder>> compile(const std::string& source, std::string_view backend,
                                               Evaluation& evaluation, std::stop_token stop) const;
    /// `baseline`: built too, to take turns with on GPUs; nullptr for the baseline itself.
    Result<Measurement> measure(const EvaluationPlan& plan, const JobFolder& candidate, const JobFolder* baseline,
                                Evaluation& evaluation, std::stop_token stop) const;

private:
    Result<void> verify(const EvaluationPlan& plan, const JobFolder& candidate, Evaluation& evaluation,
                        Measurement& measurement, std::stop_token stop) const;
    Result<void> timeInTurns(const EvaluationPlan& plan, const JobFolder& candidate, const JobFolder* baseline,
                             Evaluation& evaluation, Measurement& measurement, std::stop_token stop) const;
    Result<void> takeTurn(const HarnessJob& job, const JobFolder& folder, Evaluation& evaluation,
                          SamplesByShape& samples, std::stop_token stop) const;
    Result<void> profile(const EvaluationPlan& plan, const JobFolder& candidate, Measurement& measurement,
                         std::stop_token stop) const;

    Node& node_;
    Toolchain& toolchain_;
    const Workload& workload_;
};

}  // namespace cuco
