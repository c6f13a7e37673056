// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/evaluation/evaluation.h"
#include "core/evaluation/evaluation_plan.h"
#include "core/evaluation/harness_report.h"
#include "core/nodes/node.h"
#include "core/nodes/toolchain.h"
#include "core/workload/workload.h"

#include <filesystem>
#include <map>
#include <stop_token>
#include <string>

namespace cuco {

/// Where a program is measured.
struct Bench {
    Node& node;
    Toolchain& toolchain;
    const Workload& workload;
};

/// Runs a program on the emulated node: verified, timed and traced in one go, since a model is not disturbed by either;
/// then compares its dumps with the reference, unless it is not `checked`. Sets the evaluation's stage and, when the
/// program is at fault, its verdict.
Result<HarnessReport> runModelled(const Bench& bench, const EvaluationPlan& plan, const JobFolder& folder,
                                  const std::filesystem::path& program, bool checked, Evaluation& evaluation,
                                  std::stop_token stop);

/// Runs a job on this node's GPUs, under the lease that all processes of this user honour, its ranks in the sandbox.
/// Sets the verdict when the candidate is at fault. `variables` are added to the environment.
Result<HarnessReport> runOnGpus(const Bench& bench, const JobFolder& folder, const HarnessJob& job,
                                const std::map<std::string, std::string>& variables, Evaluation& evaluation,
                                std::stop_token stop);

}  // namespace cuco
