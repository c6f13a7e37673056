// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "job.h"

#include <string>
#include <vector>

namespace cuco_harness {

/// Runs a job on GPUs (README.md) and reports. This process never calls CUDA and is never where a candidate is; it
/// owns the clock. `sandbox` goes before the command of each program's ranks. 0 when the report is complete.
int superviseJob(const Job& job, const std::vector<std::string>& sandbox, int report_descriptor);

}  // namespace cuco_harness
