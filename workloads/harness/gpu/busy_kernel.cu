// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: Apache-2.0
#include "gpu/busy_kernel.h"

namespace cuco_harness {
namespace {

constexpr int threads = 1024, blocks_per_sm = 2;

__device__ int64_t deviceNs()
{
    int64_t now;
    asm volatile("mov.u64 %0, %globaltimer;" : "=l"(now));
    return now;
}

__global__ void spin(int64_t duration_ns)
{
    for (const int64_t end = deviceNs() + duration_ns; deviceNs() < end;) {
    }
}

}  // namespace

cudaError_t keepBusy(int64_t duration_ns, cudaStream_t stream)
{
    int device = 0, sms = 1;
    if (const cudaError_t error = cudaGetDevice(&device); error != cudaSuccess)
        return error;
    if (const cudaError_t error = cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, device);
        error != cudaSuccess)
        return error;
    spin<<<sms * blocks_per_sm, threads, 0, stream>>>(duration_ns);
    return cudaGetLastError();
}

}  // namespace cuco_harness
