// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: Apache-2.0
#ifndef CUCO_EMULATED
#include "rank_trace_axis.h"

#include <cuda_runtime.h>
#include <nccl.h>
#include <nccl_device.h>

namespace {

constexpr int most_moments = 64;

__device__ uint64_t globalTimer()
{
    uint64_t now;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now)::"memory");
    return now;
}

/// Device memory for the readings of one kernel.
class Readings {
public:
    Readings() { failed_ = cudaMalloc(&device_, bytes) != cudaSuccess; }
    ~Readings() { cudaFree(device_); }
    Readings(const Readings&) = delete;
    Readings& operator=(const Readings&) = delete;

    uint64_t* device() const { return failed_ ? nullptr : device_; }
    /// Waits for the kernel; the first and last readings, then the moments.
    bool read(cuco_harness::AxisStamps& stamps, int moments) const
    {
        uint64_t host[most_moments + 2];
        if (cudaGetLastError() != cudaSuccess || cudaDeviceSynchronize() != cudaSuccess ||
            cudaMemcpy(host, device_, bytes, cudaMemcpyDeviceToHost) != cudaSuccess)
            return false;
        stamps.first = host[0];
        stamps.last = host[1];
        stamps.moments.assign(host + 2, host + 2 + moments);
        return true;
    }

private:
    static constexpr size_t bytes = (most_moments + 2) * sizeof(uint64_t);
    uint64_t* device_ = nullptr;
    bool failed_ = false;
};

}  // namespace

extern "C" __global__ void cucoAxisAnchor(uint64_t* readings)
{
    readings[0] = globalTimer();
    __threadfence();
    readings[1] = globalTimer();
}

extern "C" __global__ void cucoAxisBarrier(ncclDevComm dev_comm, uint64_t* readings, int moments)
{
    if (threadIdx.x == 0)
        readings[0] = globalTimer();
    ncclLsaBarrierSession<ncclCoopCta> barrier{ncclCoopCta(), dev_comm, ncclTeamTagLsa(), 0};
    for (int i = 0; i < moments; ++i) {
        barrier.sync(ncclCoopCta(), cuda::memory_order_acq_rel);
        if (threadIdx.x == 0)
            readings[2 + i] = globalTimer();
    }
    if (threadIdx.x == 0)
        readings[1] = globalTimer();
}

namespace cuco_harness {

bool stampAnchor(AxisStamps& stamps)
{
    const Readings readings;
    if (!readings.device())
        return false;
    cucoAxisAnchor<<<1, 1>>>(readings.device());
    return readings.read(stamps, 0);
}

bool stampBarriers(ncclComm* comm, int moments, AxisStamps& stamps, std::string& why)
{
    moments = moments < most_moments ? moments : most_moments;
    const Readings readings;
    ncclDevCommRequirements requirements{};
    requirements.lsaBarrierCount = 1;
    ncclDevComm dev_comm{};
    int ranks = 0;
    if (ncclCommCount(comm, &ranks) != ncclSuccess ||
        ncclDevCommCreate(comm, &requirements, &dev_comm) != ncclSuccess) {
        why = "NCCL gave no device communicator for a barrier between the ranks' GPUs";
        return false;
    }
    bool done = false;
    if (dev_comm.lsaSize != ranks)
        why = "not all ranks' GPUs reach each other's memory";
    else if (!readings.device())
        why = "no device memory is left";
    else {
        cucoAxisBarrier<<<1, 32>>>(dev_comm, readings.device(), moments);
        done = readings.read(stamps, moments);
        if (!done)
            why = "the barrier kernel failed";
    }
    ncclDevCommDestroy(comm, &dev_comm);
    return done;
}

}  // namespace cuco_harness
#endif
