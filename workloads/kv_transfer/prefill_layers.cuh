// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "candidate.h"

#include <cublas_v2.h>
#include <cuda_bf16.h>

#include <initializer_list>

// The layers as the contract has them (README.md), and where a token's keys and values belong. What varies from
// strategy to strategy is how they get there, and when.
namespace prefill {

using Bf16 = __nv_bfloat16;

constexpr int weight_sets = 2;  // layer l uses set l % weight_sets
constexpr int warps_a_block = 4;

struct Problem {
    int rank = 0, ranks = 1;
    int64_t sequence = 0, hidden = 0, intermediate = 0, kv_dim = 0, layers = 0, page_tokens = 0;

    // Rank 2p computes for rank 2p + 1. The last of an odd number of ranks has nothing to do.
    __host__ __device__ bool prefills() const { return rank % 2 == 0 && rank + 1 < ranks; }
    __host__ __device__ bool decodes() const { return rank % 2 == 1; }
    __host__ __device__ int partner() const { return rank % 2 == 0 ? rank + 1 : rank - 1; }
    __host__ __device__ int64_t pages() const { return (sequence + page_tokens - 1) / page_tokens; }
    __host__ __device__ int64_t plane() const
    {
        return pages() * page_tokens * kv_dim;
    }                                                                         // elements of a layer's keys in the cache
    __host__ __device__ int64_t tokens() const { return sequence * kv_dim; }  // elements of a layer's keys as computed
};

inline Problem problemOf(const cuco_context& context)
{
    Problem p;
    p.rank = context.rank;
    p.ranks = context.ranks;
    p.sequence = context.shape[0];
    p.hidden = context.shape[1];
    p.intermediate = context.shape[2];
    p.kv_dim = context.shape[3];
    p.layers = context.shape[4];
    p.page_tokens = context.shape[5];
    return p;
}

__device__ inline float4 fourOf(const float* from, int64_t index)
{
    return reinterpret_cast<const float4*>(from)[index];
}

__device__ inline float4 fourOf(const Bf16* from, int64_t index)
{
    const uint2 held = reinterpret_cast<const uint2*>(from)[index];
    const auto* values = reinterpret_cast<const Bf16*>(&held);
    return make_float4(__bfloat162float(values[0]), __bfloat162float(values[1]), __bfloat162float(values[2]),
                       __bfloat162float(values[3]));
}

__device__ inline void storeFour(Bf16* to, int64_t index, float4 values)
{
    uint2 held;
    auto* rounded = reinterpret_cast<Bf16*>(&held);
    rounded[0] = __float2bfloat16(values.x);
    rounded[1] = __float2bfloat16(values.y);
    rounded[2] = __float2bfloat16(values.z);
    rounded[3] = __float2bfloat16(values.w);
    reinterpret_cast<uint2*>(to)[index] = held;
}

// to = from / √(mean of from² + epsilon), row by row, a warp each.
template <class Element>
__global__ void normaliseRows(Bf16* to, const Element* from, int64_t rows, int64_t width, float epsilon)
{
    const int64_t row = int64_t(blockIdx.x) * warps_a_block + threadIdx.x / 32;
    const int lane = int(threadIdx.x) % 32;
    if (row >= rows)
        return;
    const Element* source = from + row * width;
    Bf16* target = to + row * width;
    const int64_t fours = width % 4 == 0 ? width / 4 : 0;
    float squares = 0.0f;
    for (int64_t i = lane; i < fours; i += 32) {
        const float4 v = fourOf(source, i);
        squares += v.x * v.x + v.y * v.y + v.z * v.z + v.w * v.w;
    }
    for (int64_t i = 4 * fours + lane; i < width; i += 32)
        squares += float(source[i]) * float(source[i]);
    for (int lanes = 16; lanes > 0; lanes /= 2)
        squares += __shfl_xor_sync(0xffffffffu, squares, lanes);
    const float factor = 1.0f / sqrtf(squares / float(width) + epsilon);
    for (int64_t i = lane; i < fours; i += 32) {
        const float4 v = fourOf(source, i);
        storeFour(target, i, make_float4(v.x * factor, v.y * factor, v.z * factor, v.w * factor));
    }
    for (int64_t i = 4 * fours + lane; i < width; i += 32)
        target[i] = __float2bfloat16(float(source[i]) * factor);
}

// u / (1 + |u|), in place.
__global__ void activate(Bf16* u, int64_t elements)
{
    const int64_t thread = int64_t(blockIdx.x) * blockDim.x + threadIdx.x, threads = int64_t(gridDim.x) * blockDim.x;
    const int64_t vectors = elements / 8;
    for (int64_t i = thread; i < vectors; i += threads) {
        uint4 held = reinterpret_cast<uint4*>(u)[i];
        auto* values = reinterpret_cast<Bf16*>(&held);
#pragma unroll
        for (int e = 0; e < 8; ++e) {
            const float value = __bfloat162float(values[e]);
            values[e] = __float2bfloat16(value / (1.0f + fabsf(value)));
        }
        reinterpret_cast<uint4*>(u)[i] = held;
    }
    for (int64_t i = 8 * vectors + thread; i < elements; i += threads) {
        const float value = __bfloat162float(u[i]);
        u[i] = __float2bfloat16(value / (1.0f + fabsf(value)));
    }
}

// The page of the cache in which a page of the sequence lies: its key's place among all keys.
__global__ void rankPages(const int32_t* keys, int32_t* table, int pages)
{
    const int page = int(blockIdx.x * blockDim.x + threadIdx.x);
    if (page >= pages)
        return;
    const int32_t key = keys[page];
    int place = 0;
    for (int other = 0; other < pages; ++other)
        place += keys[other] < key || (keys[other] == key && other < page) ? 1 : 0;
    table[page] = place;
}

// What the last page holds behind the last token is zero, in every plane of every layer.
__global__ void clearTail(Bf16* cache, Problem p, const int32_t* table)
{
    const int64_t used = p.sequence - (p.pages() - 1) * p.page_tokens;
    const int64_t begin = (table[p.pages() - 1] * p.page_tokens + used) * p.kv_dim;
    const int64_t elements = (p.page_tokens - used) * p.kv_dim;
    for (int64_t plane = blockIdx.x; plane < 2 * p.layers; plane += gridDim.x) {
        for (int64_t i = threadIdx.x; i < elements; i += blockDim.x)
            cache[plane * p.plane() + begin + i] = __float2bfloat16(0.0f);
    }
}

// CTAs to move a layer's keys and values: no more than have a warp with something to do.
inline int ctasFor(const Problem& p, int most)
{
    const int64_t wanted = (p.tokens() / 8 + 31) / 32;
    return int(wanted < 1 ? 1 : wanted < most ? wanted : most);
}

inline int preparePages(const Problem& p, const void* keys, int32_t* table, void* cache, cudaStream_t stream)
{
    const int pages = int(p.pages());
    rankPages<<<(pages + 31) / 32, 32, 0, stream>>>(static_cast<const int32_t*>(keys), table, pages);
    if (p.sequence % p.page_tokens != 0)
        clearTail<<<int(2 * p.layers), 64, 0, stream>>>(static_cast<Bf16*>(cache), p, table);
    CUCO_TRY(cudaGetLastError());
    return 0;
}

// What a prefill rank computes. `x` is the hidden state, in float; a layer's projections are keys, values and queries,
// each sequence × kv_dim, one behind the other.
struct Layers {
    Problem p;
    cublasHandle_t blas = nullptr;
    Bf16 *normed = nullptr, *mixing = nullptr, *attended = nullptr, *inner = nullptr;

    int make(const Problem& problem)
    {
        p = problem;
        CUCO_TRY(cublasCreate(&blas));
        CUCO_TRY(cudaMalloc(&normed, size_t(p.sequence * p.hidden) * sizeof(Bf16)));
        CUCO_TRY(cudaMalloc(&mixing, size_t(p.kv_dim * p.kv_dim) * sizeof(Bf16)));
        CUCO_TRY(cudaMalloc(&attended, size_t(p.tokens()) * sizeof(Bf16)));
        CUCO_TRY(cudaMalloc(&inner, size_t(p.sequence * p.intermediate) * sizeof(Bf16)));
        return 0;
    }

    void free()
    {
        if (blas)
            cublasDestroy(blas);
        for (Bf16* memory : {normed, mixing, attended, inner})
            cudaFree(memory);
    }

    const Bf16* weightsOf(const void* weights, int64_t layer) const
    {
        const int64_t elements = 4 * p.hidden * p.kv_dim + 2 * p.hidden * p.intermediate;
        return static_cast<const Bf16*>(weights) + layer % weight_sets * elements;
    }

    // c = alpha·a·b, all row-major, which is column-major cᵀ = bᵀ·aᵀ; `batches` of b and c follow each other.
    int product(const Bf16* a, const Bf16* b, Bf16* c, int64_t m, int64_t n, int64_t k, float alpha,
                int batches = 1) const
    {
        const float zero = 0.0f;
        CUCO_TRY(cublasGemmStridedBatchedEx(blas, CUBLAS_OP_N, CUBLAS_OP_N, int(n), int(m), int(k), &alpha, b,
                                            CUDA_R_16BF, int(n), k * n, a, CUDA_R_16BF, int(k), 0, &zero, c,
                                            CUDA_R_16BF, int(n), m * n, batches, CUBLAS_COMPUTE_32F,
                                            CUBLAS_GEMM_DEFAULT));
        return 0;
    }

    // x += a·b / √(2 · layers), b's entries taken as of unit variance.
    int addProduct(const Bf16* a, const Bf16* b, float* x, int64_t k) const
    {
        const float alpha = sqrtf(3.0f / float(k)) / sqrtf(2.0f * float(p.layers)), one = 1.0f;
        CUCO_TRY(cublasGemmEx(blas, CUBLAS_OP_N, CUBLAS_OP_N, int(p.hidden), int(p.sequence), int(k), &alpha, b,
                              CUDA_R_16BF, int(p.hidden), a, CUDA_R_16BF, int(k), &one, x, CUDA_R_32F, int(p.hidden),
                              CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT));
        return 0;
    }

    template <class Element>
    int normalise(Bf16* to, const Element* from, int64_t width, float epsilon, cudaStream_t stream) const
    {
        const int64_t blocks = (p.sequence + warps_a_block - 1) / warps_a_block;
        normaliseRows<<<int(blocks), 32 * warps_a_block, 0, stream>>>(to, from, p.sequence, width, epsilon);
        CUCO_TRY(cudaGetLastError());
        return 0;
    }

    // First of a layer. Then project, whole or in parts, then finish.
    int begin(const float* x, cudaStream_t stream) const
    {
        CUCO_TRY(cublasSetStream(blas, stream));
        return normalise(normed, x, p.hidden, 1e-6f, stream);
    }

    // Parts first … first + count - 1 of keys (0), values (1) and queries (2).
    int project(const Bf16* w, Bf16* projections, int first, int count) const
    {
        const float alpha = sqrtf(3.0f / float(p.hidden));
        return product(normed, w + first * p.hidden * p.kv_dim, projections + first * p.tokens(), p.sequence, p.kv_dim,
                       p.hidden, alpha, count);
    }

    int finish(const Bf16* w, const Bf16* projections, float* x, cudaStream_t stream) const
    {
        const Bf16 *keys = projections, *values = keys + p.tokens(), *queries = values + p.tokens();
        const Bf16* out = w + 3 * p.hidden * p.kv_dim;
        const Bf16* up = out + p.kv_dim * p.hidden;
        const Bf16* down = up + p.hidden * p.intermediate;
        const float mean = 1.0f / sqrtf(float(p.sequence)), zero = 0.0f;
        // Linear attention: keysᵀ·values, row-major.
        CUCO_TRY(cublasGemmEx(blas, CUBLAS_OP_N, CUBLAS_OP_T, int(p.kv_dim), int(p.kv_dim), int(p.sequence), &mean,
                              values, CUDA_R_16BF, int(p.kv_dim), keys, CUDA_R_16BF, int(p.kv_dim), &zero, mixing,
                              CUDA_R_16BF, int(p.kv_dim), CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT));
        CUCO_TRY(product(queries, mixing, attended, p.sequence, p.kv_dim, p.kv_dim, 1.0f / sqrtf(float(p.kv_dim))));
        CUCO_TRY(normalise(attended, attended, p.kv_dim, 1.0f, stream));
        CUCO_TRY(addProduct(attended, out, x, p.kv_dim));
        CUCO_TRY(normalise(normed, x, p.hidden, 1e-6f, stream));
        CUCO_TRY(product(normed, up, inner, p.sequence, p.intermediate, p.hidden, sqrtf(3.0f / float(p.hidden))));
        const int64_t elements = p.sequence * p.intermediate, blocks = (elements / 8 + 255) / 256;
        activate<<<int(blocks < 1 ? 1 : blocks < 1024 ? blocks : 1024), 256, 0, stream>>>(inner, elements);
        CUCO_TRY(cudaGetLastError());
        return addProduct(inner, down, x, p.intermediate);
    }
};

}  // namespace prefill
