// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later

// Every rank stores its shard into all windows and reads the whole in the same kernel, several times in a row with
// nothing but the kernel's own barriers in between.
#include <cuda_runtime.h>
#include <nccl.h>
#include <nccl_device.h>

#ifndef ENTRY
#define ENTRY 1
#endif
#ifndef EXIT
#define EXIT 1
#endif
#ifndef ORDER
#define ORDER acq_rel
#endif
#ifndef EXIT_INDEX
#define EXIT_INDEX blockIdx.x
#endif
#define PASTE(a, b) a##b
#define ORDER_NAMED(name) PASTE(cuda::memory_order_, name)

constexpr int blocks = 2, threads = 64, shard = 256;

__global__ void gather(ncclWindow_t window, int* sums, int round, ncclDevComm comm)
{
    ncclLsaBarrierSession<ncclCoopCta> barrier{ncclCoopCta(), comm, ncclTeamTagLsa(), blockIdx.x};
    if (ENTRY)
        barrier.sync(ncclCoopCta(), cuda::memory_order_relaxed);
    for (int peer = 0; peer < comm.lsaSize; ++peer) {
        auto* out = static_cast<int*>(ncclGetLsaPointer(window, 0, peer)) + comm.lsaRank * shard;
        for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < shard; i += blockDim.x * gridDim.x)
            out[i] = round + int(i);  // line: store
    }
    if (EXIT)
        barrier.sync(ncclCoopCta(), ORDER_NAMED(ORDER));
    const auto* here = static_cast<const int*>(ncclGetLocalPointer(window, 0));
    int sum = 0;
    for (int peer = 0; peer < comm.lsaSize; ++peer)
        for (unsigned i = (EXIT_INDEX)*blockDim.x + threadIdx.x; i < shard; i += blockDim.x * gridDim.x)
            sum += here[peer * shard + int(i)];  // line: load
    atomicAdd(sums, sum);
}

extern "C" int fixture(int rank, int ranks)
{
    ncclUniqueId id{};
    id.internal[0] = 7;
    ncclComm_t comm;
    void* buffer;
    int* sums;
    ncclWindow_t window;
    ncclDevComm devcomm;
    ncclDevCommRequirements requirements{};
    requirements.lsaBarrierCount = blocks;
    const size_t bytes = sizeof(int) * shard * ranks;
    if (ncclCommInitRank(&comm, ranks, id, rank) != ncclSuccess || ncclMemAlloc(&buffer, bytes) != ncclSuccess ||
        ncclCommWindowRegister(comm, buffer, bytes, &window, NCCL_WIN_COLL_SYMMETRIC) != ncclSuccess ||
        ncclDevCommCreate(comm, &requirements, &devcomm) != ncclSuccess)
        return 1;
    cudaMalloc(&sums, sizeof(int));
    for (int round = 0; round < 3; ++round)
        gather<<<blocks, threads>>>(window, sums, round, devcomm);
    return cudaDeviceSynchronize();
}
