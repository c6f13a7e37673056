// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later

// Rounds of puts around a ring, with nothing but the kernel's own synchronisation between them. FIXTURE_CASE leaves one
// part of that out; 0 is right.
#include <cuda_runtime.h>
#include <nccl.h>
#include <nccl_device.h>

constexpr int count = 64;
enum { source = 0, target = count, window_ints = 2 * count + 2 };

__global__ void ring(ncclWindow_t window, int* sums, int round, ncclDevComm comm, ncclGinBarrierHandle handle)
{
    const ncclTeam world = ncclTeamWorld(comm);
    const int next = (comm.rank + 1) % comm.nRanks, last = (comm.rank + comm.nRanks - 1) % comm.nRanks;
    ncclGin gin{comm, 0};
    int* mine = static_cast<int*>(ncclGetLocalPointer(window, 0));
    const int i = threadIdx.x;
    {
        ncclGinBarrierSession<ncclCoopCta> barrier{ncclCoopCta(), gin, world, handle, 0};
        if (FIXTURE_CASE != 1)
            barrier.sync(ncclCoopCta(), cuda::memory_order_relaxed, ncclGinFenceLevel::Relaxed);
    }
    mine[source + i] = comm.rank + round;  // line: store
    if (FIXTURE_CASE != 2)
        __syncthreads();
    if (i == 0) {
        if (FIXTURE_CASE == 3)
            gin.put(world, next, window, target * 4, window, source * 4, count * 4,  // line: unreleased
                    ncclGin_SignalInc{0}, ncclGin_None{}, ncclCoopThread(), ncclGin_None{}, cuda::thread_scope_system);
        else if (FIXTURE_CASE == 8)
            gin.putValue(world, next, window, (target + 1) * 4, round);  // line: value
        else
            gin.put(world, next, window, target * 4, window, source * 4, count * 4, ncclGin_SignalInc{0});  // line: put
        if (FIXTURE_CASE == 7)
            gin.putValue(world, next, window, (2 * count) * 4, round + 1);
    }
    if (FIXTURE_CASE == 7) {  // a flag that was put says nothing of a put before it
        if (i == 0)
            while (cuda::atomic_ref<int>(mine[2 * count]).load(cuda::memory_order_acquire) != round + 1) {
            }
        __syncthreads();
    } else if (FIXTURE_CASE == 4) {
        gin.waitSignal(ncclCoopCta(), 0, round + 1, 64, cuda::memory_order_relaxed);
    } else if (FIXTURE_CASE != 5 && FIXTURE_CASE != 8) {
        gin.waitSignal(ncclCoopCta(), 0, round + 1);
    }
    atomicAdd(sums, mine[target + i]);  // line: load
    if (FIXTURE_CASE == 6)
        mine[source + i] = -1;  // line: reuse
    gin.flush(ncclCoopCta());
    mine[source + i] = -1;
}

extern "C" int fixture(int rank, int ranks)
{
    ncclUniqueId id{};
    id.internal[0] = 8;
    ncclComm_t comm;
    void* buffer;
    int* sums;
    ncclWindow_t window;
    ncclDevComm devcomm;
    ncclGinBarrierHandle handle;
    ncclDevResourceRequirements barrier;
    ncclDevCommRequirements requirements{};
    requirements.resourceRequirementsList = &barrier;
    requirements.ginForceEnable = true;
    requirements.ginSignalCount = 1;
    const size_t bytes = sizeof(int) * window_ints;
    if (ncclCommInitRank(&comm, ranks, id, rank) != ncclSuccess || ncclMemAlloc(&buffer, bytes) != ncclSuccess ||
        ncclCommWindowRegister(comm, buffer, bytes, &window, NCCL_WIN_COLL_SYMMETRIC) != ncclSuccess ||
        ncclGinBarrierCreateRequirement(comm, ncclTeamWorld(comm), 1, &handle, &barrier) != ncclSuccess ||
        ncclDevCommCreate(comm, &requirements, &devcomm) != ncclSuccess)
        return 1;
    cudaMalloc(&sums, sizeof(int));
    for (int round = 0; round < 3; ++round)
        ring<<<1, count>>>(window, sums, round, devcomm, handle);
    return cudaDeviceSynchronize();
}
