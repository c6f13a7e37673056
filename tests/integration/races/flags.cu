// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later

// Block 0 makes data, block 1 waits for a flag and uses it. On two ranks block 1 is the other rank's.
#include <cuda_runtime.h>

#include <cuda/atomic>

#ifndef FIXTURE_CASE
#define FIXTURE_CASE 0
#endif

constexpr int threads = 64;

template <int which>
__device__ void give(int* data, int* flag)
{
    data[threadIdx.x] = int(threadIdx.x);  // line: give
    using cuda::memory_order_acq_rel;
    if (which == 0) {  // as in the programming guide
        __syncthreads();
        if (threadIdx.x == 0) {
            __threadfence();
            *static_cast<volatile int*>(flag) = 1;
        }
    } else if (which == 1) {  // every thread with a fence of its own
        __threadfence();
        __syncthreads();
        if (threadIdx.x == 0)
            atomicExch(flag, 1);
    } else if (which == 2) {  // no fence
        __syncthreads();
        if (threadIdx.x == 0)
            *static_cast<volatile int*>(flag) = 1;
    } else if (which == 3) {  // the other has no fence
        __syncthreads();
        if (threadIdx.x == 0) {
            __threadfence();
            atomicExch(flag, 1);
        }
    } else if (which == 4) {
        __syncthreads();
        if (threadIdx.x == 0)
            cuda::atomic_ref<int, cuda::thread_scope_device>(*flag).store(1, cuda::memory_order_release);
    } else if (which == 5) {  // the order is too weak
        __syncthreads();
        if (threadIdx.x == 0)
            cuda::atomic_ref<int, cuda::thread_scope_device>(*flag).store(1, cuda::memory_order_relaxed);
    } else if (which == 6) {  // the scope is too small
        __syncthreads();
        if (threadIdx.x == 0)
            cuda::atomic_ref<int, cuda::thread_scope_block>(*flag).store(1, cuda::memory_order_release);
    } else if (which == 7) {  // no barrier: the flag says nothing about the other threads
        if (threadIdx.x == 0)
            cuda::atomic_ref<int>(*flag).store(1, cuda::memory_order_release);
    } else if (which == 8) {  // system
        __syncthreads();
        if (threadIdx.x == 0) {
            __threadfence_system();
            *static_cast<volatile int*>(flag) = 1;
        }
    } else if (which == 9) {  // of every thread
        cuda::atomic_ref<int>(*flag).fetch_add(1, cuda::memory_order_release);
    } else if (which == 10) {
        cuda::atomic_thread_fence(memory_order_acq_rel, cuda::thread_scope_device);
        atomicAdd(flag, 1);
    }
}

template <int which>
__device__ void take(const int* data, int* flag, int* out)
{
    if (which == 9 || which == 10) {
        cuda::atomic_ref<int> count(*flag);
        while (count.load(cuda::memory_order_acquire) < threads) {
        }
    } else if (threadIdx.x == 0) {
        if (which == 4 || which == 5 || which == 6 || which == 7) {
            cuda::atomic_ref<int> ready(*flag);
            while (ready.load(cuda::memory_order_acquire) == 0) {
            }
        } else {
            while (*static_cast<volatile int*>(flag) == 0) {
            }
        }
        if (which == 8)
            __threadfence_system();
        else if (which != 3)
            __threadfence();
    }
    __syncthreads();
    out[threadIdx.x] = data[threads - 1 - threadIdx.x];  // line: take
}

template <int which>
__global__ void work(int* data, int* flag, int* out, int role)
{
    if (role == 0 || (role == 2 && blockIdx.x == 0))
        give<which>(data, flag);
    else
        take<which>(data, flag, out);
}

extern "C" void driver_barrier();

/// The first rank's; ranks are loaded one by one, so it goes through the environment of all of them.
static int* exchanged(int rank, int* mine)
{
    if (rank == 0) {
        char text[32];
        snprintf(text, sizeof text, "%p", static_cast<void*>(mine));
        setenv("FIXTURE_DATA", text, 1);
    }
    driver_barrier();
    return reinterpret_cast<int*>(strtoull(getenv("FIXTURE_DATA"), nullptr, 16));
}

extern "C" int fixture(int rank, int ranks)
{
    int *data, *out;
    cudaMalloc(&data, (threads + 1) * sizeof(int));
    cudaMalloc(&out, threads * sizeof(int));
    cudaMemset(data, 0, (threads + 1) * sizeof(int));
    cudaDeviceSynchronize();
    data = exchanged(rank, data);
    work<FIXTURE_CASE><<<ranks == 1 ? 2 : 1, threads>>>(data, data + threads, out, ranks == 1 ? 2 : rank);
    return cudaDeviceSynchronize();
}
