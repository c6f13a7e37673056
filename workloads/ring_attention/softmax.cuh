// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// The softmax of the attention, over tiles of keys as they come.

#include "tensor_core.cuh"

#include <math.h>

namespace ring {

__device__ __forceinline__ float quadMaximum(float x)
{
    x = fmaxf(x, __shfl_xor_sync(~0u, x, 1));
    return fmaxf(x, __shfl_xor_sync(~0u, x, 2));
}

__device__ __forceinline__ float quadSum(float x)
{
    x += __shfl_xor_sync(~0u, x, 1);
    return x + __shfl_xor_sync(~0u, x, 2);
}

/// A warp's 16 rows of queries, in the lanes' registers as fragments C of tensor_core.cuh: unnormalised outputs, the
/// scores' running maximum and this lane's part of their weights' sum. The maximum is raised only when a score passes
/// it by more than a factor of 2⁸ (after FlashAttention-4), so that outputs are seldom scaled.
template <int out_tiles, int score_tiles>
struct SoftmaxRows {
    float out[out_tiles][4], maximum[2], sum[2];

    static constexpr int carried_vectors = out_tiles + 1;  ///< float4 a thread

    /// `from`: this thread's first vector, which `threads` others stand between and the next. Null: nothing was seen
    /// yet.
    __device__ __forceinline__ void start(const float4* from, int threads)
    {
#pragma unroll
        for (int n = 0; n < out_tiles; ++n) {
            const float4 held = from ? from[n * threads] : make_float4(0.0f, 0.0f, 0.0f, 0.0f);
            out[n][0] = held.x, out[n][1] = held.y, out[n][2] = held.z, out[n][3] = held.w;
        }
        const float4 held = from ? from[out_tiles * threads] : make_float4(-INFINITY, -INFINITY, 0.0f, 0.0f);
        maximum[0] = held.x, maximum[1] = held.y, sum[0] = held.z, sum[1] = held.w;
    }

    __device__ __forceinline__ void keep(float4* to, int threads) const
    {
#pragma unroll
        for (int n = 0; n < out_tiles; ++n)
            to[n * threads] = make_float4(out[n][0], out[n][1], out[n][2], out[n][3]);
        to[out_tiles * threads] = make_float4(maximum[0], maximum[1], sum[0], sum[1]);
    }

    /// Row i looks at the tile's keys up to `diagonal` + i, and at no more than `keys`.
    static __device__ __forceinline__ void mask(float (&score)[score_tiles][4], int keys, int diagonal)
    {
        const int lane = cuco_tensor::threadAnew() % 32, pair = lane % 4 * 2;
#pragma unroll
        for (int half = 0; half < 2; ++half) {
            const int last = diagonal + half * 8 + lane / 4, end = last < keys ? last + 1 : keys;
#pragma unroll
            for (int n = 0; n < score_tiles; ++n) {
                if (n * 8 + pair >= end)
                    score[n][2 * half] = -INFINITY;
                if (n * 8 + pair + 1 >= end)
                    score[n][2 * half + 1] = -INFINITY;
            }
        }
    }

    /// Scores become weights. Of several slices one vote says whether maxima are raised.
    template <int slices>
    static __device__ __forceinline__ void weigh(SoftmaxRows* rows, float (*score)[score_tiles][4], float scale)
    {
        float seen[slices][2];
        bool passed = false;
#pragma unroll
        for (int m = 0; m < slices; ++m)
            passed |= rows[m].look(score[m], scale, seen[m]);
        if (__any_sync(~0u, passed)) {
#pragma unroll
            for (int m = 0; m < slices; ++m)
                rows[m].raiseMaximum(seen[m], scale);
        }
#pragma unroll
        for (int m = 0; m < slices; ++m)
            rows[m].exponentiate(score[m], scale);
    }

    /// Fragment A of the weights of keys 16 k … 16 k + 15.
    static __device__ __forceinline__ void pack(uint32_t (&to)[4], const float (&weight)[score_tiles][4], int k)
    {
#pragma unroll
        for (int i = 0; i < 4; ++i)
            to[i] = cuco_tensor::packBf16(weight[2 * k + i / 2][i % 2 * 2], weight[2 * k + i / 2][i % 2 * 2 + 1]);
    }

    /// What outputs of rows 0 to 7 (half 0) or 8 to 15 are multiplied by in the end.
    __device__ __forceinline__ float normalisation(int half) const
    {
        const float all = quadSum(sum[half]);
        return all > 0.0f ? 1.0f / all : 0.0f;
    }

private:
    /// The rows' largest scores; whether one of them passes the maximum by so much that it must be raised.
    __device__ __forceinline__ bool look(const float (&score)[score_tiles][4], float scale, float (&seen)[2]) const
    {
        constexpr float most = 8.0f;  // weights stay under 2⁸
        bool passed = false;
#pragma unroll
        for (int half = 0; half < 2; ++half) {
            float x = fmaxf(score[0][2 * half], score[0][2 * half + 1]);
#pragma unroll
            for (int n = 1; n < score_tiles; ++n)
                x = fmaxf(x, fmaxf(score[n][2 * half], score[n][2 * half + 1]));
            seen[half] = quadMaximum(x);
            // Of two infinities this is not a number, which is not greater.
            passed |= (seen[half] - maximum[half]) * scale > most;
        }
        return passed;
    }

    __device__ __forceinline__ void raiseMaximum(const float (&seen)[2], float scale)
    {
#pragma unroll
        for (int half = 0; half < 2; ++half) {
            const float next = fmaxf(maximum[half], seen[half]);
            const float factor =
                maximum[half] == -INFINITY ? 0.0f : cuco_tensor::exp2Approximate((maximum[half] - next) * scale);
            maximum[half] = next;
            sum[half] *= factor;
#pragma unroll
            for (int n = 0; n < out_tiles; ++n) {
                out[n][2 * half] *= factor;
                out[n][2 * half + 1] *= factor;
            }
        }
    }

    __device__ __forceinline__ void exponentiate(float (&score)[score_tiles][4], float scale)
    {
#pragma unroll
        for (int half = 0; half < 2; ++half) {
            const float shift = maximum[half] == -INFINITY ? 0.0f : -maximum[half] * scale;
#pragma unroll
            for (int n = 0; n < score_tiles; ++n) {
                float &left = score[n][2 * half], &right = score[n][2 * half + 1];
                left = cuco_tensor::exp2Approximate(fmaf(left, scale, shift));
                right = cuco_tensor::exp2Approximate(fmaf(right, scale, shift));
                sum[half] += left + right;
            }
        }
    }
};

}  // namespace ring
