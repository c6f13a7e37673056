// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: Apache-2.0
#include <cuda_runtime.h>

#define CHECK(condition)                                   \
    do {                                                   \
        if (!(condition)) {                                \
            printf("line %d: %s\n", __LINE__, #condition); \
            return __LINE__;                               \
        }                                                  \
    } while (0)
#define OK(call) CHECK((call) == cudaSuccess)

__device__ int module_counter = 0;
__constant__ int table[4] = {1, 2, 3, 4};
extern __shared__ unsigned char pool[];

template <int N, class T>
__global__ void __launch_bounds__(256) block_sum(const T* in, T* out)
{
    __shared__ T part[N], total;
    part[threadIdx.x] = in[blockIdx.x * N + threadIdx.x];
    __syncthreads();
    for (int stride = N / 2; stride > 0; stride /= 2) {
        if (threadIdx.x < stride)
            part[threadIdx.x] += part[threadIdx.x + stride];
        __syncthreads();
    }
    if (threadIdx.x == 0)
        total = part[0];
    __syncthreads();
    if (threadIdx.x == N - 1)
        out[blockIdx.x] = total;
}

__global__ void warps(int* out)
{
    const int lane = threadIdx.x & 31;
    int sum = lane;
    for (int offset = 16; offset > 0; offset /= 2)
        sum += __shfl_down_sync(~0u, sum, offset);
    sum = __shfl_sync(~0u, sum, 0);
    const unsigned odd = __ballot_sync(~0u, lane & 1);
    int up = __shfl_up_sync(~0u, lane, 1);
    unsigned half = 0;
    if (lane < 16) {
        half = __activemask();
        up += __reduce_add_sync(0xffffu, lane);
    } else {
        half = __activemask();
    }
    out[threadIdx.x] = sum * 1000 + (odd == 0xaaaaaaaau) * 100 + (half == (lane < 16 ? 0xffffu : 0xffff0000u)) * 10;
    out[32 + threadIdx.x] = up;
    out[64 + threadIdx.x] = static_cast<int>(__match_any_sync(~0u, lane / 8));
}

__global__ void atomics(int* counter, float* sum, unsigned long long* top)
{
    atomicAdd(counter, 1);
    atomicAdd(sum, 0.5f);
    atomicMax(top, static_cast<unsigned long long>(blockIdx.x * blockDim.x + threadIdx.x));
    atomicAdd(&module_counter, table[threadIdx.x & 3]);
}

__global__ void dynamic(int* out, int n)
{
    int* values = reinterpret_cast<int*>(pool);
    values[n - 1 - threadIdx.x] = threadIdx.x;
    __syncthreads();
    out[threadIdx.x] = values[threadIdx.x];
}

/// Blocks pass a token on: volatile polling across blocks.
__global__ void relay(volatile int* token, int* order)
{
    if (threadIdx.x == 0) {
        while (*token != static_cast<int>(blockIdx.x)) {
        }
        order[blockIdx.x] = *token;
        __threadfence();
        *token = blockIdx.x + 1;
    }
}

__global__ void old_style(int* out)
{
    __shared__ volatile int s[64];
    const int t = threadIdx.x;
    s[t] = t;
    s[t + 32] = 0;
    if (t < 16) {
        s[t] += s[t + 16];
        s[t] += s[t + 8];
        s[t] += s[t + 4];
        s[t] += s[t + 2];
        s[t] += s[t + 1];
    }
    if (t == 0)
        out[0] = s[0];
}

__global__ void nothing(const float* p, int n)
{
    if (p != nullptr || n != 0)
        __trap();
}

extern "C" int fixture(int rank, int)
{
    float *in, *out;
    OK(cudaMalloc(&in, 4 * 128 * sizeof(float)));
    OK(cudaMalloc(&out, 4 * sizeof(float)));
    float host[512], sums[4];
    for (int i = 0; i < 512; ++i)
        host[i] = i * (rank + 1);
    OK(cudaMemcpy(in, host, sizeof host, cudaMemcpyHostToDevice));
    block_sum<128, float><<<4, 128>>>(in, out);
    OK(cudaGetLastError());
    OK(cudaMemcpy(sums, out, sizeof sums, cudaMemcpyDeviceToHost));
    for (int b = 0; b < 4; ++b)
        CHECK(sums[b] == (128 * b * 128 + 127 * 64) * (rank + 1));

    int* numbers;
    OK(cudaMalloc(&numbers, 4096));
    int back[1024];
    warps<<<1, 32>>>(numbers);
    OK(cudaMemcpy(back, numbers, 96 * sizeof(int), cudaMemcpyDeviceToHost));
    for (int lane = 0; lane < 32; ++lane) {
        CHECK(back[lane] == 496 * 1000 + 110);
        CHECK(back[32 + lane] == (lane ? lane - 1 : 0) + (lane < 16 ? 120 : 0));
        CHECK(back[64 + lane] == static_cast<int>(0xffu << (lane / 8 * 8)));
    }

    struct Totals {
        unsigned long long top;
        int counter;
        float sum;
    } totals{}, *device_totals;
    OK(cudaMalloc(&device_totals, sizeof totals));
    OK(cudaMemset(device_totals, 0, sizeof totals));
    atomics<<<8, 96>>>(&device_totals->counter, &device_totals->sum, &device_totals->top);
    OK(cudaMemcpy(&totals, device_totals, sizeof totals, cudaMemcpyDeviceToHost));
    CHECK(totals.counter == 768 && totals.sum == 384.0f && totals.top == 767);
    int counted = 0;
    OK(cudaMemcpyFromSymbol(&counted, module_counter, sizeof counted));
    CHECK(counted == 768 / 4 * 10);

    dynamic<<<1, 64, 64 * sizeof(int)>>>(numbers, 64);
    OK(cudaMemcpy(back, numbers, 64 * sizeof(int), cudaMemcpyDeviceToHost));
    for (int i = 0; i < 64; ++i)
        CHECK(back[i] == 63 - i);

    OK(cudaMemset(numbers, 0, 4096));
    relay<<<6, 32>>>(numbers, numbers + 64);
    OK(cudaMemcpy(back, numbers, 4096, cudaMemcpyDeviceToHost));
    CHECK(back[0] == 6);
    for (int b = 0; b < 6; ++b)
        CHECK(back[64 + b] == b);

    old_style<<<1, 32>>>(numbers);
    OK(cudaMemcpy(back, numbers, sizeof(int), cudaMemcpyDeviceToHost));
    CHECK(back[0] == 496);

    nothing<<<1, 1>>>(NULL, 0);
    nothing<<<1, 1, 0, cudaStreamPerThread>>>(0, 0);
    const float* null = nullptr;
    int zero = 0;
    void* arguments[] = {&null, &zero};
    OK(cudaLaunchCooperativeKernel((void*)nothing, 2, 32, arguments, 0, 0));
    OK(cudaDeviceSynchronize());
    CHECK(cudaLaunchCooperativeKernel((const void*)nothing, 100000, 1024, arguments, 0, 0) ==
          cudaErrorCooperativeLaunchTooLarge);
    CHECK(cudaGetLastError() == cudaErrorCooperativeLaunchTooLarge);
    nothing<<<1, 2048>>>(0, 0);
    CHECK(cudaGetLastError() == cudaErrorInvalidConfiguration);
    nothing<<<1, 32, 100 * 1024>>>(0, 0);
    CHECK(cudaGetLastError() == cudaErrorInvalidValue);
    OK(cudaFuncSetAttribute(nothing, cudaFuncAttributeMaxDynamicSharedMemorySize, 100 * 1024));
    nothing<<<1, 32, 100 * 1024>>>(0, 0);
    OK(cudaGetLastError());
    OK(cudaFree(in));
    return 0;
}
