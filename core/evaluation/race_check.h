// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/evaluation/evaluation.h"
#include "core/evaluation/evaluation_plan.h"
#include "core/nodes/emulated_node.h"
#include "core/nodes/emulator_toolchain.h"
#include "core/workload/workload.h"

#include <filesystem>
#include <mutex>
#include <stop_token>
#include <string>

namespace cuco {

/// Runs candidates on the emulated node under its race checker (workloads/emulator/README.md), whatever node they are
/// for. Prepared at the first check; may be used from several threads.
class RaceCheck {
public:
    /// `workloads`: the product's, where the emulator is.
    RaceCheck(std::filesystem::path workloads, const Workload& workload);

    /// Sets the verdict `race` when two accesses are not ordered. A candidate that cannot be emulated is not checked,
    /// and one that fails in another way is left to the stages that follow: the evaluation then has a remark.
    /// `built`: a job folder in which the emulated node has compiled the source; nullptr to compile it here.
    Result<void> check(const std::string& source, const JobFolder* built, const EvaluationPlan& plan,
                       Evaluation& evaluation, std::stop_token stop);

private:
    Result<void> prepare(std::stop_token stop);
    Result<void> run(const JobFolder& folder, const EvaluationPlan& plan, Evaluation& evaluation, std::stop_token stop);

    const Workload workload_;
    std::mutex mutex_;
    EmulatedNode node_;
    EmulatorToolchain toolchain_;
    NodeProbe probe_;
    bool prepared_ = false;  ///< guarded
};

}  // namespace cuco
