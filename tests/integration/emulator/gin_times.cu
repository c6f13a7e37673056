// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: Apache-2.0

/// What GIN takes on two ranks, in us: a small put and its answer, a large put, and one on each of two contexts.
#include <cuda_runtime.h>
#include <nccl.h>
#include <nccl_device.h>

constexpr size_t large = 16 << 20;
enum { small, one, two };

__global__ void measure(ncclWindow_t window, ncclDevComm comm, ncclGinBarrierHandle handle, int what, long long* out)
{
    const ncclTeam world = ncclTeamWorld(comm);
    ncclGin gin{comm, 0}, other{comm, 1};
    {
        ncclGinBarrierSession<ncclCoopThread> barrier{ncclCoopThread(), gin, world, handle, 0};
        barrier.sync(ncclCoopThread(), cuda::memory_order_acq_rel, ncclGinFenceLevel::Relaxed);
        barrier.sync(ncclCoopThread(), cuda::memory_order_acq_rel, ncclGinFenceLevel::Relaxed);
    }
    const long long begin = clock64();
    if (what == small) {
        if (comm.rank == 0)
            gin.put(world, 1, window, 0, window, 0, 8, ncclGin_SignalInc{0});
        gin.waitSignal(ncclCoopThread(), 0, 1);
        if (comm.rank == 1)
            gin.put(world, 0, window, 0, window, 0, 8, ncclGin_SignalInc{0});
    } else if (comm.rank == 0) {
        gin.put(world, 1, window, large, window, 0, large, ncclGin_SignalInc{0});
        if (what == two)
            other.put(world, 1, window, 2 * large, window, 0, large, ncclGin_SignalInc{0});
    } else {
        gin.waitSignal(ncclCoopThread(), 0, 1);
        if (what == two)
            other.waitSignal(ncclCoopThread(), 0, 1);
    }
    *out = clock64() - begin;
    gin.flush(ncclCoopThread());
    other.flush(ncclCoopThread());
    {
        ncclGinBarrierSession<ncclCoopThread> barrier{ncclCoopThread(), gin, world, handle, 0};
        barrier.sync(ncclCoopThread(), cuda::memory_order_acq_rel, ncclGinFenceLevel::Relaxed);
    }
    gin.resetSignal(0);
    other.resetSignal(0);
}

extern "C" void driver_barrier();
extern "C" void driver_trace_begin();
extern "C" void driver_trace_end();

extern "C" int fixture(int rank, int ranks)
{
    ncclUniqueId id{};
    id.internal[0] = 23;
    ncclComm_t comm;
    void* buffer;
    long long* clocks;
    ncclWindow_t window;
    ncclDevComm devcomm;
    ncclGinBarrierHandle handle;
    ncclDevResourceRequirements barrier;
    ncclDevCommRequirements requirements{};
    requirements.resourceRequirementsList = &barrier;
    requirements.ginForceEnable = true;
    requirements.ginContextCount = 2;
    requirements.ginSignalCount = 1;
    if (ncclCommInitRank(&comm, ranks, id, rank) != ncclSuccess || ncclMemAlloc(&buffer, 3 * large) != ncclSuccess ||
        ncclCommWindowRegister(comm, buffer, 3 * large, &window, NCCL_WIN_COLL_SYMMETRIC) != ncclSuccess ||
        ncclGinBarrierCreateRequirement(comm, ncclTeamWorld(comm), 1, &handle, &barrier) != ncclSuccess ||
        ncclDevCommCreate(comm, &requirements, &devcomm) != ncclSuccess)
        return 1;
    cudaMalloc(&clocks, sizeof(long long));
    driver_barrier();
    if (rank == 0)
        driver_trace_begin();
    driver_barrier();
    const char* const names[] = {"round_trip", "put", "two_puts"};
    for (int what = small; what <= two; ++what) {
        measure<<<1, 1>>>(window, devcomm, handle, what, clocks);
        long long took = 0;
        if (cudaMemcpy(&took, clocks, sizeof took, cudaMemcpyDeviceToHost) != cudaSuccess)
            return 2;
        if (rank == (what == small ? 0 : 1))
            printf("%s %.2f\n", names[what], double(took) / 1755);
    }
    driver_barrier();
    if (rank == 0)
        driver_trace_end();
    driver_barrier();
    return 0;
}
