// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "candidate.h"
#include "job.h"
#include "outcome.h"

#include <functional>
#include <string>

/// What differs between GPUs (a process a rank) and the emulated node (a fiber a rank).
namespace cuco_harness {

/// Starts the job's ranks and waits for their end; the report's lines go to `report_descriptor`.
/// 0 when the report is complete, whatever it says of the candidate.
int runRanks(const Job& job, int report_descriptor);

/// Calls `body` with a current device and no other rank.
Outcome runOnOneDevice(const Job& job, int report_descriptor, const std::function<Outcome()>& body);

using ReferenceFunction = int (*)(const cuco_context*, const void* const*, float* const*, cudaStream_t);
/// Null with a sentence in `error` otherwise. Call it inside runOnOneDevice.
ReferenceFunction loadReference(const std::string& path, std::string& error);

}  // namespace cuco_harness
