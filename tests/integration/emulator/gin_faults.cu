// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: Apache-2.0

/// One mistake with ncclGin a build, chosen by FIXTURE_CASE: a ring of puts, made wrong in one place. The test finds
/// each one's line by the comment on it. 0 is right.
#include <cuda_runtime.h>
#include <nccl.h>
#include <nccl_device.h>

constexpr int count = 1024;
enum { source = 0, target = count, window_ints = 2 * count };

__global__ void ring(ncclWindow_t window, ncclDevComm comm, ncclGinBarrierHandle handle, int* wrong)
{
    const int next = (comm.rank + 1) % comm.nRanks, last = (comm.rank + comm.nRanks - 1) % comm.nRanks;
    const ncclTeam world = ncclTeamWorld(comm);
    ncclGin gin{comm, FIXTURE_CASE == 13 ? 4 : 0};  // line: context
    int* mine = static_cast<int*>(ncclGetLocalPointer(window, 0));
    for (int i = threadIdx.x; i < count; i += blockDim.x)
        mine[source + i] = comm.rank * count + i;
    {
        const uint32_t index = FIXTURE_CASE == 14;
        ncclGinBarrierSession<ncclCoopCta> barrier{ncclCoopCta(), gin, world, handle, index};  // line: session
        if (FIXTURE_CASE != 7 || comm.rank != 2)
            barrier.sync(ncclCoopCta(), cuda::memory_order_acq_rel, ncclGinFenceLevel::Relaxed);  // line: barrier
    }
    const size_t bytes = count * sizeof(int);
    const size_t offset = FIXTURE_CASE == 8 ? target * sizeof(int) + 4 : target * sizeof(int);
    if (threadIdx.x == 0) {
        if (FIXTURE_CASE == 3)  // says too early that it has come
            gin.signal(world, next, ncclGin_SignalInc{0});
        if (FIXTURE_CASE == 4)  // says it of another context's
            ncclGin{comm, 1}.put(world, next, window, offset, window, 0, bytes);
        if (FIXTURE_CASE == 1 || FIXTURE_CASE == 3)
            gin.put(world, next, window, offset, window, 0, bytes);  // line: unsignalled
        else if (FIXTURE_CASE == 4)
            gin.signal(world, next, ncclGin_SignalInc{0});
        else if (FIXTURE_CASE == 6 && comm.rank == 1)
            gin.put(world, next, window, offset, window, 0, bytes, ncclGin_None{}, ncclGin_CounterInc{0});
        else if (FIXTURE_CASE == 9)
            gin.put(world, next, window, offset, window, 0, bytes, ncclGin_SignalInc{9});  // line: signal
        else if (FIXTURE_CASE == 15)
            gin.put(world, next, window, offset, window, 0, bytes, ncclGin_SignalInc{handle.signal0});  // line: theirs
        else if (FIXTURE_CASE == 16)
            gin.put(world, 5, window, offset, window, 0, bytes);  // line: peer
        else
            gin.put(world, next, window, offset, window, 0, bytes, ncclGin_SignalInc{0},  // line: put
                    ncclGin_CounterInc{0});
        if (FIXTURE_CASE == 10)
            gin.signal(world, next, ncclGin_SignalAdd{0, 1});  // line: mixed
        if (FIXTURE_CASE == 11)
            gin.resetSignal(0);  // line: reset
    }
    __syncthreads();
    if (FIXTURE_CASE == 5)  // before anybody has read it
        for (int i = threadIdx.x; i < count; i += blockDim.x)
            mine[source + i] = -1;
    if (FIXTURE_CASE == 12)
        gin.waitCounter(ncclCoopCta(), 0, 2);  // line: counter
    if (FIXTURE_CASE != 1 && FIXTURE_CASE != 2)
        gin.waitSignal(ncclCoopCta(), 0, 1);  // line: wait
    for (int i = threadIdx.x; i < count; i += blockDim.x)
        if (mine[target + i] != last * count + i)
            atomicAdd(wrong, 1);
    gin.flush(ncclCoopCta());
}

extern "C" void driver_barrier();
extern "C" void driver_guard(void* begin, unsigned long bytes, int access);
extern "C" void driver_sleep_ns(long long ns);

extern "C" int fixture(int rank, int ranks)
{
    ncclUniqueId id{};
    id.internal[0] = 22;
    ncclComm_t comm;
    void* buffer;
    int *wrong, found = 0;
    ncclWindow_t window;
    ncclDevComm devcomm;
    ncclGinBarrierHandle handle;
    ncclDevResourceRequirements barrier;
    const size_t bytes = sizeof(int) * window_ints;
    ncclDevCommRequirements requirements{};
    requirements.resourceRequirementsList = &barrier;
    requirements.ginForceEnable = FIXTURE_CASE != 17;
    requirements.ginContextCount = 2;
    requirements.ginSignalCount = 1;
    requirements.ginCounterCount = 1;
    if (ncclCommInitRank(&comm, ranks, id, rank) != ncclSuccess || ncclMemAlloc(&buffer, bytes) != ncclSuccess ||
        ncclCommWindowRegister(comm, buffer, bytes, &window, NCCL_WIN_COLL_SYMMETRIC) != ncclSuccess ||
        ncclGinBarrierCreateRequirement(comm, ncclTeamWorld(comm), 1, &handle, &barrier) != ncclSuccess ||
        ncclDevCommCreate(comm, &requirements, &devcomm) != ncclSuccess)
        return 1;
    cudaMalloc(&wrong, sizeof(int));
    cudaMemset(wrong, 0, sizeof(int));
    cudaMemset(buffer, 0, bytes);
    cudaDeviceSynchronize();
    driver_barrier();
    ring<<<1, 64>>>(window, devcomm, handle, wrong);
    if (cudaDeviceSynchronize() != cudaSuccess)
        return 2;
    cudaMemcpy(&found, wrong, sizeof found, cudaMemcpyDeviceToHost);
    driver_barrier();
    if (FIXTURE_CASE == 1) {  // taken back while it is still under way
        driver_guard(buffer, bytes, 1);
        driver_sleep_ns(10'000'000);
    }
    if (found != 0)
        printf("rank %d found %d elements wrong\n", rank, found);
    ncclDevCommDestroy(comm, &devcomm);
    ncclMemFree(buffer);
    return found != 0;
}
