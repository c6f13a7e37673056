// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: Apache-2.0

/// All ranks write their shard into every rank's window and meet in one LSA barrier a block.
#include <cuda_runtime.h>
#include <nccl.h>
#include <nccl_device.h>

#ifndef FIXTURE_BARRIER
#define FIXTURE_BARRIER 1
#endif
#ifndef FIXTURE_SKIP_RANK
#define FIXTURE_SKIP_RANK -1
#endif
#ifndef FIXTURE_OVERRUN
#define FIXTURE_OVERRUN 0
#endif

constexpr int blocks = 4, threads = 64, shard = 4096;

__global__ void __launch_bounds__(threads)
    gather(ncclWindow_t window, const uint4* in, size_t count, int* early, const __grid_constant__ ncclDevComm comm)
{
    ncclLsaBarrierSession<ncclCoopCta> barrier{ncclCoopCta(), comm, ncclTeamTagLsa(), blockIdx.x};
    barrier.sync(ncclCoopCta(), cuda::memory_order_relaxed);
    const size_t first = blockIdx.x * blockDim.x + threadIdx.x, step = gridDim.x * blockDim.x;
    for (int d = 0; d < comm.lsaSize; ++d) {
        const int peer = (comm.lsaRank + d) % comm.lsaSize;
        auto* out = static_cast<uint4*>(ncclGetLsaPointer(window, comm.lsaRank * count * 16, peer));
        for (size_t i = first; i < count + FIXTURE_OVERRUN; i += step)
            out[i] = in[i % count];
    }
    if (FIXTURE_BARRIER && comm.lsaRank != FIXTURE_SKIP_RANK)
        barrier.sync(ncclCoopCta(), cuda::memory_order_acq_rel);
    const auto* here = static_cast<const uint4*>(ncclGetLocalPointer(window, 0));
    for (int peer = 0; peer < comm.lsaSize; ++peer)
        for (size_t i = first; i < count; i += step)
            if (here[peer * count + i].x != static_cast<unsigned>(peer * 1000000 + i))
                atomicAdd(early, 1);
}

extern "C" void driver_barrier();

extern "C" int fixture(int rank, int ranks)
{
    const size_t count = shard / 16 * 1, bytes = shard * ranks;
    ncclUniqueId id{};
    id.internal[0] = 77;
    ncclComm_t comm;
    if (ncclCommInitRank(&comm, ranks, id, rank) != ncclSuccess)
        return 1;
    void* buffer;
    ncclWindow_t window;
    ncclDevComm devcomm;
    ncclDevCommRequirements requirements{};
    requirements.lsaBarrierCount = blocks;
    if (ncclMemAlloc(&buffer, bytes) != ncclSuccess ||
        ncclCommWindowRegister(comm, buffer, bytes, &window, NCCL_WIN_COLL_SYMMETRIC) != ncclSuccess || !window ||
        ncclDevCommCreate(comm, &requirements, &devcomm) != ncclSuccess || devcomm.lsaSize != ranks)
        return 2;
    uint4* in;
    int* early;
    cudaMalloc(&in, shard);
    cudaMalloc(&early, sizeof(int));
    uint4 host[shard / 16];
    for (size_t i = 0; i < count; ++i)
        host[i] = make_uint4(rank * 1000000 + i, 1, 2, 3);
    cudaMemcpy(in, host, shard, cudaMemcpyHostToDevice);
    cudaStream_t stream;
    cudaStreamCreate(&stream);
    for (int repeat = 0; repeat < 3; ++repeat) {
        cudaMemset(buffer, 0xee, bytes);
        cudaMemset(early, 0, sizeof(int));
        cudaDeviceSynchronize();
        driver_barrier();
        gather<<<blocks, threads, 0, stream>>>(window, in, count, early, devcomm);
        if (cudaStreamSynchronize(stream) != cudaSuccess)
            return 3;
        int wrong = 0;
        cudaMemcpy(&wrong, early, sizeof wrong, cudaMemcpyDeviceToHost);
        driver_barrier();
        if (wrong != 0) {
            printf("rank %d read %d elements too early\n", rank, wrong);
            return 4;
        }
    }
    cudaStreamDestroy(stream);
    cudaFree(in);
    ncclDevCommDestroy(comm, &devcomm);
    ncclCommWindowDeregister(comm, window);
    ncclMemFree(buffer);
    ncclCommDestroy(comm);
    return 0;
}
