// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "outcome.h"

#include <cuda_runtime.h>
#include <nccl.h>
#include <string>

namespace cuco_harness {

Outcome check(cudaError_t error, const char* doing);
Outcome check(ncclResult_t result, const char* doing);

/// The version of the NCCL that is loaded, as text. A failure of the node when it is not the header's.
Outcome checkNcclVersion(std::string& version);

/// What a code returned by cuco_setup or cuco_run says (candidate.h), as a failure of the candidate.
Failure candidateFailure(int code, const std::string& doing);
/// An error that the device reported after the candidate's work, as a failure of the candidate.
Failure deviceFailure(cudaError_t error, const std::string& doing);

}  // namespace cuco_harness
