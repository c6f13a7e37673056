// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later

// Every rank owns one slot in each window. With OVERLAP its rows reach into the next rank's.
#include <cuda_runtime.h>
#include <nccl.h>
#include <nccl_device.h>

#ifndef OVERLAP
#define OVERLAP 0
#endif

constexpr int shard = 64;

__global__ void push(ncclWindow_t window, ncclDevComm comm)
{
    for (int peer = 0; peer < comm.lsaSize; ++peer) {
        auto* out = static_cast<short*>(ncclGetLsaPointer(window, 0, peer)) + comm.lsaRank * shard;
        const int count = comm.lsaRank + 1 < comm.lsaSize ? shard + OVERLAP : shard;
        for (int i = int(threadIdx.x); i < count; i += int(blockDim.x))
            out[i] = short(comm.lsaRank);  // line: push
    }
    ncclLsaBarrierSession<ncclCoopCta> barrier{ncclCoopCta(), comm, ncclTeamTagLsa(), blockIdx.x};
    barrier.sync(ncclCoopCta(), cuda::memory_order_acq_rel);
}

extern "C" int fixture(int rank, int ranks)
{
    ncclUniqueId id{};
    id.internal[0] = 7;
    ncclComm_t comm;
    void* buffer;
    ncclWindow_t window;
    ncclDevComm devcomm;
    ncclDevCommRequirements requirements{};
    requirements.lsaBarrierCount = 1;
    const size_t bytes = sizeof(short) * shard * ranks;
    if (ncclCommInitRank(&comm, ranks, id, rank) != ncclSuccess || ncclMemAlloc(&buffer, bytes) != ncclSuccess ||
        ncclCommWindowRegister(comm, buffer, bytes, &window, NCCL_WIN_COLL_SYMMETRIC) != ncclSuccess ||
        ncclDevCommCreate(comm, &requirements, &devcomm) != ncclSuccess)
        return 1;
    push<<<1, 64>>>(window, devcomm);
    short* out = new short[shard * ranks];
    cudaMemcpy(out, buffer, bytes, cudaMemcpyDeviceToHost);
    delete[] out;
    return cudaDeviceSynchronize();
}
