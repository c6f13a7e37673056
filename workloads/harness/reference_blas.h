// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "candidate.h"

#include <cublas_v2.h>

namespace cuco_harness {

/// For cuco_reference, which runs once for every timed iteration: the device's handle, made at its first call and kept
/// for as long as the process lives. To make one takes longer than a small product. One thread a device.
inline int keptBlas(int device, cudaStream_t stream, cublasHandle_t* blas)
{
    constexpr int most_devices = 64;
    static cublasHandle_t kept[most_devices] = {};
    if (device < 0 || device >= most_devices)
        return cuco_error_code(cudaErrorInvalidDevice);
    if (!kept[device])
        CUCO_TRY(cublasCreate(&kept[device]));
    *blas = kept[device];
    CUCO_TRY(cublasSetStream(*blas, stream));
    return 0;
}

}  // namespace cuco_harness
