// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later

// The last block to come sums up what all have left (CUDA C++ Programming Guide, memory fence functions), and a grid
// that meets in between.
#include <cuda_runtime.h>

#include <cooperative_groups.h>

#ifndef FIXTURE_CASE
#define FIXTURE_CASE 0
#endif

constexpr int threads = 64, blocks = 8;
__device__ unsigned arrived = 0;
__device__ int total = 0;

__global__ void lastBlock(volatile int* parts, const int* in)
{
    __shared__ bool last;
    if (threadIdx.x == 0) {
        int sum = 0;
        for (int i = 0; i < threads; ++i)
            sum += in[blockIdx.x * threads + i];
        parts[blockIdx.x] = sum;
        __threadfence();
        last = atomicInc(&arrived, blocks) == blocks - 1;
    }
    __syncthreads();
    if (last && threadIdx.x == 0) {
        int sum = 0;
        for (int i = 0; i < blocks; ++i)
            sum += parts[i];
        total = sum;
        arrived = 0;
    }
}

__global__ void inTwoSteps(int* parts, int meet)
{
    const int me = int(blockIdx.x * blockDim.x + threadIdx.x);
    parts[me] = me;  // line: first step
    if (meet == 1)
        cooperative_groups::this_grid().sync();
    else
        cooperative_groups::this_thread_block().sync();
    parts[blocks * threads + me] = parts[blocks * threads - 1 - me];  // line: second step
}

extern "C" int fixture(int, int)
{
    int *in, *parts;
    cudaMalloc(&in, blocks * threads * sizeof(int));
    cudaMalloc(&parts, 2 * blocks * threads * sizeof(int));
    cudaMemset(in, 0, blocks * threads * sizeof(int));
    if (FIXTURE_CASE == 0) {
        for (int i = 0; i < 3; ++i)
            lastBlock<<<blocks, threads>>>(parts, in);
    } else {
        int meet = FIXTURE_CASE == 1;
        void* arguments[] = {&parts, &meet};
        cudaLaunchCooperativeKernel(inTwoSteps, blocks, threads, arguments, 0, nullptr);
    }
    return cudaDeviceSynchronize();
}
