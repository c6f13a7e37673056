// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "candidate.h"
#include "device_outcome.h"
#include "job.h"

#include <functional>
#include <string>

namespace cuco_harness {

/// Starts the job's ranks and waits for their end; the report's lines go to `report_descriptor`.
/// 0 when the report is complete, whatever it says of the candidate.
int runRanks(const Job& job, int report_descriptor);

/// Calls `body` with a current device and no other rank.
Outcome runOnOneDevice(const Job& job, int report_descriptor, const std::function<Outcome()>& body);

}  // namespace cuco_harness
