// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/evaluation/harness_job.h"
#include "core/evaluation/harness_report.h"
#include "core/nodes/node.h"
#include "core/nodes/toolchain.h"

#include <map>
#include <stop_token>
#include <string>

namespace cuco {

struct HarnessRun {
    CommandOutcome outcome;
    HarnessReport report;
};

enum class HarnessMode { run, check };

/// Writes job.txt anew, since a candidate can write in the folder between `run` and `check`, and runs the harness.
Result<HarnessRun> runHarness(Node& node, const Toolchain& toolchain, const Workload& workload, const JobFolder& folder,
                              const HarnessJob& job, HarnessMode mode, std::stop_token stop);

/// The same on GPUs: the harness's supervisor runs outside, its ranks in the node's sandbox.
Result<HarnessRun> runGpuHarness(Node& node, const Toolchain& toolchain, const Workload& workload,
                                 const JobFolder& folder, const HarnessJob& job,
                                 const std::map<std::string, std::string>& variables, std::stop_token stop);

}  // namespace cuco
