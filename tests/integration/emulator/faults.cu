// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: Apache-2.0

/// One fault a build, chosen by FIXTURE_CASE. The test finds each fault's line by the comment on it.
#include <cuda_runtime.h>
#include <nccl.h>

extern "C" void driver_guard(void* begin, unsigned long bytes, int access);

__global__ void fill(int* out, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = i;  // line: fill
}

__global__ void read_one(const int* in, int* out)
{
    out[0] = in[0];  // line: read
}

__global__ void past_shared(int* out, int n)
{
    extern __shared__ int values[];
    values[threadIdx.x + n] = 1;  // line: shared
    __syncthreads();
    out[0] = values[0];
}

__global__ void diverged(volatile int* flag)
{
    if (threadIdx.x == 0)
        while (*flag == 0) {  // line: spin
        }
    __syncthreads();
    if (threadIdx.x == 1)
        *flag = 1;
}

__global__ void wait_for_all(unsigned* counter)
{
    if (threadIdx.x == 0) {
        atomicAdd(counter, 1u);
        while (atomicAdd(counter, 0u) < gridDim.x) {  // line: grid
        }
    }
    __syncthreads();
}

__global__ void patient(volatile int* flag)
{
    while (*flag == 0)
        __nanosleep(200);
}

__global__ void half_a_warp(int* out)
{
    if (threadIdx.x < 16)
        out[threadIdx.x] = __shfl_sync(0xffffffffu, threadIdx.x, 20);
    else
        __syncthreads();
}

__device__ __noinline__ int deep(int n)
{
    volatile int room[256];
    room[n % 256] = n;
    return n == 0 ? 0 : deep(n - 1) + room[n % 256];
}
__global__ void recursive(int* out, int n)
{
    out[0] = deep(n);
}

__global__ void divide(int* out, int n)
{
    out[0] = 100 / n;  // line: divide
}
__global__ void dereference(int* out)
{
    *reinterpret_cast<int*>(8 + threadIdx.x) = 1;
}
__global__ void give_up()
{
    __trap();  // line: trap
}

/// A page in a symmetric window of a new communicator; null when there is none.
static void* symmetricMemory(int ranks, int rank, ncclComm_t& comm)
{
    ncclUniqueId id{};
    id.internal[0] = 9;
    ncclCommInitRank(&comm, ranks, id, rank);
    void* memory = nullptr;
    ncclWindow_t window = nullptr;
    const bool done = ncclMemAlloc(&memory, 4096) == ncclSuccess &&
                      ncclCommWindowRegister(comm, memory, 4096, &window, NCCL_WIN_COLL_SYMMETRIC) == ncclSuccess;
    return done ? memory : nullptr;
}

extern "C" int fixture(int rank, int ranks)
{
    int* device;
    int host = 0;
    cudaMalloc(&device, 1000 * sizeof(int));
    cudaMemset(device, 0, 1000 * sizeof(int));
    switch (FIXTURE_CASE) {
        case 0:
            fill<<<8, 128>>>(device, 1001);
            break;
        case 1:
            read_one<<<1, 1>>>(&host, device);
            break;
        case 2:
            past_shared<<<1, 32, 128>>>(device, 8);
            break;
        case 3:
            diverged<<<1, 64>>>(device);
            break;
        case 4:
            wait_for_all<<<1000, 1024>>>(reinterpret_cast<unsigned*>(device));
            break;
        case 5:
            patient<<<1, 32>>>(device);
            break;
        case 6:
            half_a_warp<<<1, 32>>>(device);
            break;
        case 7:
            recursive<<<1, 1>>>(device, 1000);
            break;
        case 8:
            divide<<<1, 1>>>(device, 0);
            break;
        case 9:
            dereference<<<1, 1>>>(device);
            break;
        case 10:
            give_up<<<1, 1>>>();
            break;
        case 11:
            cudaFree(device);
            fill<<<1, 32>>>(device, 32);
            break;
        case 12:
            driver_guard(device + 500, 80, 1);
            fill<<<8, 128>>>(device, 1000);
            break;
        case 13:
            host = device[3];  // line: host
            break;
        case 14:
            cudaMemcpy(device, device + 990, 44, cudaMemcpyDeviceToDevice);  // line: copy
            break;
        case 15: {
            ncclUniqueId id{};
            id.internal[0] = 9;
            ncclComm_t comm;
            ncclCommInitRank(&comm, ranks, id, rank);
            if (rank != 1)
                ncclAllGather(device + rank, device, 1, ncclInt32, comm, 0);
            break;
        }
        case 16: {  // waiting for an event that was never recorded is no wait
            cudaEvent_t event;
            cudaStream_t stream;
            cudaEventCreate(&event);
            cudaStreamCreate(&stream);
            if (cudaStreamWaitEvent(stream, event) != cudaSuccess || cudaStreamSynchronize(stream) != cudaSuccess)
                return 1;
            break;
        }
        case 17:
            if (rank == 0)
                abort();
            break;
        case 18:
        case 19:
        case 20: {  // 18: only what is received in is registered, 19: only what is sent, 20: both
            ncclComm_t comm;
            void* const memory = symmetricMemory(ranks, rank, comm);
            if (!memory)
                return 1;
            void* const sent = FIXTURE_CASE == 18 ? device : memory;
            void* const received = FIXTURE_CASE == 19 ? device : memory;
            if (rank == 0)
                ncclSend(sent, 512, ncclInt32, 1, comm, 0);
            else if (rank == 1)
                ncclRecv(received, 512, ncclInt32, 0, comm, 0);  // line: receive
            break;
        }
        case 21:
        case 22:
        case 23:
        case 24: {
            // Of an all-gather and a sum. 21: rank 1 receives outside of its window, 22: elsewhere in it than the
            // others; 23: only what is received in is registered, on all ranks; 24: rank 1 sends from a window.
            ncclComm_t comm;
            void* const memory = symmetricMemory(ranks, rank, comm);
            if (!memory)
                return 1;
            int* received = static_cast<int*>(memory);
            if (rank == 1)
                received = FIXTURE_CASE == 21 ? device : received + (FIXTURE_CASE == 22 ? 64 : 0);
            if (FIXTURE_CASE == 24)
                ncclAllReduce(rank == 1 ? memory : device, device, 16, ncclInt32, ncclSum, comm, 0);  // line: sum
            else
                ncclAllGather(device, received, 16, ncclInt32, comm, 0);  // line: gather
            break;
        }
    }
    return cudaDeviceSynchronize() == cudaSuccess && host != 12345 ? 0 : 1;
}
