// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: Apache-2.0

/// Every function of ncclGin on any number of ranks, each rank putting to the next one of a ring.
#include <cuda_runtime.h>
#include <nccl.h>
#include <nccl_device.h>

constexpr int count = 512, signals = 4, counters = 2;

/// Parts of every rank's window, in ints.
enum { source = 0, target = count, single = 2 * count, window_ints = 2 * count + 64 };

__device__ int sent_by(int rank, int round, int i)
{
    return rank * 100000 + round * 1000 + i;
}
__device__ void fill(int* out, int rank, int round)
{
    for (int i = threadIdx.x; i < count; i += blockDim.x)
        out[i] = sent_by(rank, round, i);
}
__device__ void compare(const int* in, int rank, int round, int* wrong)
{
    for (int i = threadIdx.x; i < count; i += blockDim.x)
        if (in[i] != sent_by(rank, round, i))
            atomicAdd(wrong, 1);
}

struct Ring {
    ncclTeam world;
    int next, last;
    __device__ explicit Ring(const ncclDevComm& comm)
        : world(ncclTeamWorld(comm)),
          next((comm.rank + 1) % comm.nRanks),
          last((comm.rank + comm.nRanks - 1) % comm.nRanks)
    {
    }
};

template <class Coop>
__device__ void round_of_puts(ncclGin gin, const ncclDevComm& comm, ncclWindow_t window, int round, Coop coop,
                              int* wrong)
{
    const Ring ring(comm);
    int* mine = static_cast<int*>(ncclGetLocalPointer(window, 0));
    fill(mine + source, comm.rank, round);
    __syncthreads();
    if (threadIdx.x < coop.size()) {
        gin.put(ring.world, ring.next, window, target * sizeof(int), window, source * sizeof(int), count * sizeof(int),
                ncclGin_SignalInc{0}, ncclGin_CounterInc{1}, coop);
        gin.waitCounter(coop, 1, round + 1);
    }
    __syncthreads();
    fill(mine + source, 77, 7);  // may be used again
    gin.waitSignal(ncclCoopCta(), 0, round + 1);
    compare(mine + target, ring.last, round, wrong);
}

/// Nobody begins a round before all have looked at the one before.
__device__ void meet(const ncclDevComm& comm, ncclGinBarrierHandle handle, ncclGin gin, int index)
{
    ncclGinBarrierSession<ncclCoopCta> barrier{ncclCoopCta(), gin, ncclTeamWorld(comm), handle, uint32_t(index)};
    barrier.sync(ncclCoopCta(), cuda::memory_order_acq_rel, ncclGinFenceLevel::Relaxed);
}

__global__ void puts(ncclWindow_t window, ncclDevComm comm, ncclGinBarrierHandle handle, int context, int* wrong)
{
    ncclGin gin{comm, context};
    meet(comm, handle, gin, 1);
    round_of_puts(gin, comm, window, 0, ncclCoopThread(), wrong);
    meet(comm, handle, gin, 0);
    round_of_puts(gin, comm, window, 1, ncclCoopWarp(), wrong);
    meet(comm, handle, gin, 1);
    round_of_puts(gin, comm, window, 2, ncclCoopCta(), wrong);
    meet(comm, handle, gin, 0);
    if (threadIdx.x == 0) {
        if (gin.readCounter(1) != 3 || gin.readSignal(0) != 3 || gin.readSignal(0, 1) != 1)
            atomicAdd(wrong, 1);
        gin.resetCounter(1);
        gin.resetSignal(0);
        if (gin.readCounter(1) != 0 || gin.readSignal(0) != 0)
            atomicAdd(wrong, 1);
    }
    meet(comm, handle, gin, 1);
}

/// Without a signal of their own: one that follows says that they have settled. Symmetric pointers.
__global__ void settled_by_a_signal(ncclWindow_t window, ncclDevComm comm, ncclGinBarrierHandle handle, int* wrong)
{
    ncclGin gin{comm, 0};
    const Ring ring(comm);
    const ncclSymPtr<int> all(window);
    fill((all + source).localPtr(), comm.rank, 3);
    __syncthreads();
    gin.put(ring.world, ring.next, all + target, all + source, count / 2, ncclGin_None{}, ncclGin_None{},
            ncclCoopCta());
    if (threadIdx.x == 0) {
        gin.put(ring.world, ring.next, all + target + count / 2, all + source + count / 2, count / 2);
        gin.signal(ring.world, ring.next, ncclGin_SignalAdd{2, 5});
    }
    gin.waitSignal(ncclCoopCta(), 2, 5);
    compare((all + target).localPtr(), ring.last, 3, wrong);
    gin.flush(ncclCoopCta());
    fill((all + source).localPtr(), 77, 7);
    meet(comm, handle, gin, 0);
}

__global__ void values(ncclWindow_t window, ncclDevComm comm, ncclGinBarrierHandle handle, int* wrong)
{
    ncclGin gin{comm, 0};
    const Ring ring(comm);
    const ncclSymPtr<int> here(window, single * sizeof(int));
    volatile int* mine = here.localPtr();
    if (threadIdx.x == 0) {
        gin.putValue(ring.world, ring.next, here, 4711 + comm.rank);
        while (*mine != 4711 + ring.last) {
        }
        gin.putValue(ring.world, ring.next, window, (single + 2) * sizeof(int), 0x123456789abcull + comm.rank,
                     ncclGin_SignalInc{3});
        while (gin.readSignal(3) < 1) {
        }
        if (*reinterpret_cast<volatile unsigned long long*>(mine + 2) != 0x123456789abcull + ring.last)
            atomicAdd(wrong, 1);
    }
    meet(comm, handle, gin, 0);
}

__global__ void shadows(ncclDevComm comm, ncclGinBarrierHandle handle, int* wrong)
{
    ncclGin gin{comm, 0};
    const Ring ring(comm);
    for (int round = 0; round < 3; ++round) {
        gin.signal(ring.world, ring.next, ncclGin_SignalInc{1}, ncclCoopCta());
        if (threadIdx.x == 0)
            gin.increaseSignalShadow(1, 1);
        gin.waitSignalMeetShadow(ncclCoopCta(), 1);
        if (*gin.getSignalShadowPtr(1) != unsigned(round + 1))
            atomicAdd(wrong, 1);
        __syncthreads();
    }
    gin.signal(ring.world, ring.next, ncclGin_SignalInc{1}, ncclCoopCta());
    unsigned before = 0, delta = 0;
    gin.waitSignalFollowShadow(ncclCoopCta(), 1, 1u, &before, &delta);
    if (before != 3 || delta != 1 || *gin.getSignalShadowPtr(1) != 4)
        atomicAdd(wrong, 1);
    meet(comm, handle, gin, 0);
    if (threadIdx.x == 0) {
        gin.resetSignal(1);
        if (*gin.getSignalShadowPtr(1) != 0)
            atomicAdd(wrong, 1);
    }
    meet(comm, handle, gin, 1);
}

/// What one rank stores before a barrier its peers find after it, whatever the barrier is made of.
template <class Barrier>
__device__ void exchange(Barrier& barrier, ncclWindow_t window, const ncclDevComm& comm, int round, int* wrong)
{
    const Ring ring(comm);
    int* theirs = static_cast<int*>(ncclGetLsaPointer(window, 0, ring.next));
    fill(theirs + target, comm.rank, round);
    barrier.sync(ncclCoopCta(), cuda::memory_order_acq_rel, ncclGinFenceLevel::Relaxed);
    compare(static_cast<int*>(ncclGetLocalPointer(window, 0)) + target, ring.last, round, wrong);
    barrier.sync(ncclCoopCta(), cuda::memory_order_acq_rel, ncclGinFenceLevel::Relaxed);
}

__global__ void barriers(ncclWindow_t window, ncclDevComm comm, ncclGinBarrierHandle handle, int* wrong)
{
    ncclGin gin{comm, 0};
    {
        ncclGinBarrierSession<ncclCoopCta> world{ncclCoopCta(), gin, ncclTeamWorld(comm), handle, 1};
        exchange(world, window, comm, 10, wrong);
        exchange(world, window, comm, 11, wrong);
    }
    {
        ncclBarrierSession<ncclCoopCta> world{ncclCoopCta(), ncclTeamTagWorld(), gin, 0};
        exchange(world, window, comm, 12, wrong);
    }
    {
        ncclBarrierSession<ncclCoopCta> lsa{ncclCoopCta(), ncclTeamTagLsa(), comm, 1};
        exchange(lsa, window, comm, 13, wrong);
    }
    ncclGinBarrierSession<ncclCoopCta> rail{ncclCoopCta(), gin, ncclTeamTagRail(), 0};
    rail.sync(ncclCoopCta(), cuda::memory_order_acq_rel, ncclGinFenceLevel::Relaxed);
    ncclBarrierSession<ncclCoopCta> rails{ncclCoopCta(), ncclTeamTagRail(), gin, 1};
    rails.sync(ncclCoopCta(), cuda::memory_order_acq_rel, ncclGinFenceLevel::Relaxed);
}

extern "C" int fixture(int rank, int ranks)
{
    ncclUniqueId id{};
    id.internal[0] = 21;
    ncclComm_t comm;
    void* buffer;
    int* wrong;
    ncclWindow_t window;
    ncclDevComm devcomm;
    ncclGinBarrierHandle handle;
    ncclDevResourceRequirements world_barriers;
    const size_t bytes = sizeof(int) * window_ints;
    if (ncclCommInitRank(&comm, ranks, id, rank) != ncclSuccess || ncclMemAlloc(&buffer, bytes) != ncclSuccess ||
        ncclCommWindowRegister(comm, buffer, bytes, &window, NCCL_WIN_COLL_SYMMETRIC) != ncclSuccess ||
        ncclGinBarrierCreateRequirement(comm, ncclTeamWorld(comm), 2, &handle, &world_barriers) != ncclSuccess)
        return 1;
    ncclDevCommRequirements requirements{};
    requirements.resourceRequirementsList = &world_barriers;
    requirements.barrierCount = 2;
    requirements.ginForceEnable = true;
    requirements.ginContextCount = 2;
    requirements.ginSignalCount = signals;
    requirements.ginCounterCount = counters;
    if (ncclDevCommCreate(comm, &requirements, &devcomm) != ncclSuccess || devcomm.ginContextCount != 2)
        return 2;
    cudaMalloc(&wrong, 8 * sizeof(int));
    cudaMemset(wrong, 0, 8 * sizeof(int));
    cudaMemset(buffer, 0, bytes);
    cudaDeviceSynchronize();
    puts<<<1, 96>>>(window, devcomm, handle, 0, wrong);
    puts<<<1, 96>>>(window, devcomm, handle, 1, wrong + 1);
    settled_by_a_signal<<<1, 96>>>(window, devcomm, handle, wrong + 2);
    values<<<1, 96>>>(window, devcomm, handle, wrong + 3);
    shadows<<<1, 96>>>(devcomm, handle, wrong + 4);
    barriers<<<1, 96>>>(window, devcomm, handle, wrong + 5);
    if (cudaDeviceSynchronize() != cudaSuccess)
        return 3;
    int found[8];
    cudaMemcpy(found, wrong, sizeof found, cudaMemcpyDeviceToHost);
    for (int i = 0; i < 6; ++i)
        if (found[i] != 0)
            return 10 + i;
    ncclDevCommDestroy(comm, &devcomm);
    ncclCommWindowDeregister(comm, window);
    ncclMemFree(buffer);
    ncclCommDestroy(comm);
    return 0;
}
