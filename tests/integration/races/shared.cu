// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later

// Threads of a block and what lies between them.
#include <cuda_runtime.h>

#include <cooperative_groups.h>

#ifndef FIXTURE_CASE
#define FIXTURE_CASE 0
#endif

constexpr int threads = 128;

template <int which>
__global__ void exchange(int* out)
{
    __shared__ int staged[threads];
    __shared__ int counts[4];
    const int me = int(threadIdx.x);
    if (which == 0 || which == 1) {  // other warps' values, 0 without a barrier
        staged[me] = me;             // line: stage
        if (which == 1)
            __syncthreads();
        out[blockIdx.x * threads + me] = staged[me ^ 32];  // line: other warp
    }
    if (which == 2 || which == 3) {  // other lanes' values, 2 without a barrier
        staged[me] = me;             // line: stage for the warp
        if (which == 3)
            __syncwarp();
        out[blockIdx.x * threads + me] = staged[me ^ 1];  // line: other lane
    }
    if (which == 4 || which == 5) {  // two rounds through the same memory, 4 without a barrier at the end of each
        for (int round = 0; round < 2; ++round) {
            staged[me] = me + round;  // line: stage again
            __syncthreads();
            out[blockIdx.x * threads + me] += staged[threads - 1 - me];  // line: last round
            if (which == 5)
                __syncthreads();
        }
    }
    if (which == 6 || which == 7) {  // a histogram, 6 read without a barrier
        if (me < 4)
            counts[me] = 0;
        __syncthreads();
        atomicAdd(&counts[me % 4], 1);  // line: count
        if (which == 7)
            __syncthreads();
        if (me == 0)
            out[blockIdx.x] = counts[1];  // line: counted
    }
    if (which == 8 || which == 9) {  // a barrier of 64 threads, 8 read by others too
        staged[me] = me;             // line: stage for half
        if (me < 64) {
            __barrier_sync_count(1, 64);
            out[blockIdx.x * threads + me] = staged[which == 9 ? 63 - me : 127 - me];  // line: half
        }
    }
    if (which == 10) {  // tiles, shuffles and votes
        namespace cg = cooperative_groups;
        auto tile = cg::tiled_partition<16>(cg::this_thread_block());
        staged[me] = me;
        tile.sync();
        int sum = staged[me ^ 8];
        sum = __shfl_xor_sync(~0u, sum, 16);
        sum += __any_sync(~0u, sum == 3);
        tile.sync();
        staged[me ^ 8] = sum;
        __syncthreads();
        out[blockIdx.x * threads + me] = staged[threads - 1 - me];
    }
    if (which == 11) {  // neighbours in the same word
        auto* bytes = reinterpret_cast<char*>(out + blockIdx.x * threads);
        bytes[me] = char(me);
        bytes[me] = char(bytes[me] + 1);
    }
}

extern "C" int fixture(int, int)
{
    int* out;
    cudaMalloc(&out, 4 * threads * sizeof(int));
    cudaMemset(out, 0, 4 * threads * sizeof(int));
    exchange<FIXTURE_CASE><<<4, threads>>>(out);
    return cudaDeviceSynchronize();
}
