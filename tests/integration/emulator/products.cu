// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: Apache-2.0
//
// C = A · B of 64 × 64 and 64 × 64 by the four warps of a warpgroup, with A in shared memory and in registers and B's
// columns and rows in shared memory, and by each warp alone. FIXTURE_CASE 1: the sums are looked at before they are
// waited for; 2: the first panel lies behind the block's shared memory; 3: only half of a warp takes part.
#include "warpgroup.cuh"

#include <cuda_bf16.h>
#include <cuda_runtime.h>

#ifndef FIXTURE_CASE
#define FIXTURE_CASE 0
#endif

constexpr int n = 64, panel = n * 128;

/// Where an element of a row lies in a panel.
__device__ int place(int row, int column)
{
    return row * 128 + ((column / 8) ^ (row % 8)) * 16 + column % 8 * 2;
}

__device__ __nv_bfloat16& at(char* matrix, int row, int column)
{
    return *reinterpret_cast<__nv_bfloat16*>(matrix + place(row, column));
}

__device__ uint32_t pair(const char* matrix, int row, int column)
{
    return *reinterpret_cast<const uint32_t*>(matrix + place(row, column));
}

__device__ void keep(const float (&c)[8][4], float* to)
{
    const int warp = threadIdx.x / 32, g = threadIdx.x % 32 / 4, t = threadIdx.x % 4;
    for (int i = 0; i < 32; ++i)
        to[(16 * warp + g + i / 2 % 2 * 8) * n + i / 4 * 8 + 2 * t + i % 2] = c[i / 4][i % 4];
}

__global__ void multiply(const float* a, const float* b, float* by_rows, float* by_registers, float* by_warps)
{
    extern __shared__ __align__(1024) char shared[];
    char *left = shared, *right = shared + panel, *turned = right + panel;
    for (int i = threadIdx.x; i < n * n; i += blockDim.x) {
        at(left, i / n, i % n) = __float2bfloat16(a[i]);
        at(right, i / n, i % n) = __float2bfloat16(b[i]);
        at(turned, i % n, i / n) = __float2bfloat16(b[i]);
    }
    cuco_warpgroup::publishShared();
    __syncthreads();
    const cuco_warpgroup::Matrix rows(left, 0), columns(FIXTURE_CASE == 2 ? shared + 3 * panel : turned, 0);
    const cuco_warpgroup::Matrix as_it_lies(right, panel);
    float c[8][4], d[8][4] = {}, e[8][4] = {};
    for (int i = 0; i < 32; ++i)
        c[i / 4][i % 4] = -1;
    if (FIXTURE_CASE == 3 && threadIdx.x % 32 >= 16)
        return;
    const int warp = threadIdx.x / 32, g = threadIdx.x % 32 / 4, t = threadIdx.x % 4;
    uint32_t registers[n / 16][4];
    for (int k = 0; k < n / 16; ++k)
        for (int i = 0; i < 4; ++i)
            registers[k][i] = pair(left, 16 * warp + g + i % 2 * 8, 16 * k + 2 * t + i / 2 * 8);

    cuco_warpgroup::begin();
    cuco_warpgroup::multiplyRows<false>(c, rows.from(0), columns.from(0));
    for (int k = 1; k < n / 16; ++k)
        cuco_warpgroup::multiplyRows<true>(c, rows.from(32 * k), columns.from(32 * k));
    cuco_warpgroup::commit();
    for (int k = 0; k < n / 16; ++k)
        cuco_warpgroup::multiplyAdd(d, registers[k], as_it_lies.from(k * 16 * 128));
    cuco_warpgroup::commit();
    cuco_warpgroup::wait<1>();
    if (FIXTURE_CASE != 1)
        cuco_warpgroup::wait<0>();
    keep(c, by_rows);
    keep(d, by_registers);

    for (int k = 0; k < n / 16; ++k) {
        uint32_t both[4][4];
        for (int i = 0; i < 16; ++i)
            both[i / 4][i % 4] = pair(turned, i / 4 * 16 + i / 2 % 2 * 8 + g, 16 * k + 2 * t + i % 2 * 8);
        cuco_tensor::multiplyAdd(e, registers[k], both);
    }
    keep(e, by_warps);
}

extern "C" int fixture(int rank, int)
{
    float *a, *b, *out;
    cudaMalloc(&a, n * n * sizeof(float));
    cudaMalloc(&b, n * n * sizeof(float));
    cudaMalloc(&out, 3 * n * n * sizeof(float));
    float left[n * n], right[n * n], got[3 * n * n];
    for (int i = 0; i < n * n; ++i) {
        left[i] = float(i * 7 % 23 - 11);
        right[i] = float(i * 5 % 19 - 9);
    }
    cudaMemcpy(a, left, sizeof left, cudaMemcpyHostToDevice);
    cudaMemcpy(b, right, sizeof right, cudaMemcpyHostToDevice);
    multiply<<<1, 128, 3 * panel>>>(a, b, out, out + n * n, out + 2 * n * n);
    if (cudaDeviceSynchronize() != cudaSuccess)
        return 1;
    cudaMemcpy(got, out, sizeof got, cudaMemcpyDeviceToHost);
    for (int i = 0; i < n * n; ++i) {
        float sum = 0;
        for (int k = 0; k < n; ++k)
            sum += left[i / n * n + k] * right[k * n + i % n];
        for (int way = 0; way < 3; ++way)
            if (got[way * n * n + i] != sum) {
                printf("element %d by way %d is %g instead of %g\n", i, way, got[way * n * n + i], sum);
                return 2;
            }
    }
    return rank < 0;
}
