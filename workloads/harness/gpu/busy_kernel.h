// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

namespace cuco_harness {

/// Occupies every SM of the current device for so long. Another process's kernels get the device in turns with it.
cudaError_t keepBusy(int64_t duration_ns, cudaStream_t stream);

}  // namespace cuco_harness
