// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// What workload moe_layer is: who has which tokens and experts, which experts a token goes to, and how its elements
// become 8-bit integers. The oracle and the candidates use the same functions, so that both route and quantise alike
// to the last bit. Device functions here are for whole warps; none uses shared memory.

#include "candidate.h"

#include <cuda_bf16.h>
#include <math.h>

namespace moe {

constexpr int block_elements = 128;  // of a token, with one scale
constexpr int most_experts = 1024, most_top_k = 32, most_ranks = 64;
constexpr int whole_order = 100;  // from this skew on all tokens go to the same experts

__host__ __device__ inline int64_t roundUp(int64_t value, int64_t to)
{
    return (value + to - 1) / to * to;
}

/// The workload's parameters, and what follows from them.
struct Layer {
    int rank, ranks;
    int tokens, hidden, intermediate, experts, top_k, skew, busy;
    int spread;  // a step through the experts that meets each once

    /// Only the first `busy` ranks have tokens of their own.
    __host__ __device__ int tokensOf(int r) const { return r < busy ? tokens : 0; }
    __host__ __device__ int expertsOf(int r) const { return experts / ranks + (r < experts % ranks ? 1 : 0); }
    __host__ __device__ int firstExpertOf(int r) const
    {
        return r * (experts / ranks) + (r < experts % ranks ? r : experts % ranks);
    }
    __host__ __device__ int ownerOf(int expert) const
    {
        const int few = experts / ranks, larger = experts % ranks;
        return expert < larger * (few + 1) ? expert / (few + 1) : larger + (expert - larger * (few + 1)) / few;
    }
    __host__ __device__ int localExperts() const { return expertsOf(rank); }

    // A quantised row: its integers, then one exponent a block of elements.
    __host__ __device__ int blocks() const { return (hidden + block_elements - 1) / block_elements; }
    __host__ __device__ int64_t exponentsAt() const { return roundUp(hidden, 16); }
    __host__ __device__ int64_t rowBytes() const { return exponentsAt() + roundUp(blocks(), 16); }
    /// Elements from one bf16 row of a buffer of the candidate's own to the next.
    __host__ __device__ int64_t pitch() const { return roundUp(hidden, 16); }
    __host__ __device__ int64_t middlePitch() const { return roundUp(intermediate, 8); }
    // Inputs are uniform in [-1, 1): these keep what comes out of a product near one.
    float upScale() const { return 3.0f / sqrtf(float(hidden)); }
    float downScale() const { return 3.0f / sqrtf(float(intermediate)); }
    /// Rows that the experts of a rank have at most, of the tokens of one other rank.
    __host__ __device__ int64_t mostRowsOfSource() const
    {
        const int largest = (experts + ranks - 1) / ranks;
        return int64_t(tokens) * (top_k < largest ? top_k : largest);
    }
};

inline Layer layerOf(const cuco_context& context)
{
    Layer layer{};
    layer.rank = context.rank;
    layer.ranks = context.ranks;
    layer.tokens = int(context.shape[0]);
    layer.hidden = int(context.shape[1]);
    layer.intermediate = int(context.shape[2]);
    layer.experts = int(context.shape[3]);
    layer.top_k = int(context.shape[4]);
    layer.skew = int(context.shape[5]);
    layer.busy = int(context.shape[6]);
    const auto divides = [](int a, int b) {
        while (b != 0) {
            const int rest = a % b;
            a = b;
            b = rest;
        }
        return a;
    };
    // Near the golden section, so that neighbours are far apart in load and every rank has some of both.
    layer.spread = layer.experts * 62 / 100 > 0 ? layer.experts * 62 / 100 : 1;
    while (divides(layer.experts, layer.spread) != 1)
        ++layer.spread;
    return layer;
}

inline bool isValid(const Layer& layer)
{
    return layer.ranks <= most_ranks && layer.tokens >= 0 && layer.hidden > 0 && layer.intermediate > 0 &&
           layer.experts > 0 && layer.experts <= most_experts && layer.top_k > 0 && layer.top_k <= layer.experts &&
           layer.top_k <= most_top_k && layer.skew > 0 && layer.busy >= 0;
}

__device__ inline float fromBits(uint32_t bf16_bits)
{
    return __uint_as_float(bf16_bits << 16);
}

__device__ inline uint32_t pairOf(float low, float high)
{
    return uint32_t(__bfloat16_as_ushort(__float2bfloat16(low))) |
           uint32_t(__bfloat16_as_ushort(__float2bfloat16(high))) << 16;
}

template <class Value>
__device__ inline Value warpMax(Value value)
{
    for (int step = 16; step > 0; step /= 2) {
        const Value other = __shfl_xor_sync(~0u, value, step);
        value = other > value ? other : value;
    }
    return value;
}

/// What experts are compared by: the logit in 1/32768 and a bias that only the choice depends on, then the smaller
/// index. Integers, so that no two computations differ. Never 0.
__device__ inline uint32_t routingKey(const Layer& layer, const __nv_bfloat16* logits, int expert)
{
    const int64_t position = int64_t(expert) * layer.spread % layer.experts;
    uint32_t score;
    if (layer.skew >= whole_order)
        score = uint32_t(position);
    else {
        // Uniform logits with biases on a ramp: load rises linearly, to `skew` times the smallest.
        const int64_t ramp = 131072 * int64_t(layer.top_k) * (layer.skew - 1) * position;
        const int64_t whole = int64_t(layer.experts) * (layer.skew + 1) * (layer.experts > 1 ? layer.experts - 1 : 1);
        score = uint32_t(__float2int_rz(__bfloat162float(logits[expert]) * 32768.0f) + 32768 + int(ramp / whole));
    }
    return (score << 10 | uint32_t(most_experts - 1 - expert)) + 1;
}

/// By a warp: the token's experts, the best first, and their shares, which are sigmoids of the logits without bias,
/// divided by their sum.
__device__ inline void routeToken(const Layer& layer, const __nv_bfloat16* logits, int* experts, float* gates)
{
    const int lane = int(threadIdx.x) % 32;
    uint32_t last = ~0u;
    float sum = 0, mine = 0;
    int my_expert = 0;
    for (int choice = 0; choice < layer.top_k; ++choice) {
        uint32_t best = 0;
        for (int expert = lane; expert < layer.experts; expert += 32) {
            const uint32_t key = routingKey(layer, logits, expert);
            if (key < last && key > best)
                best = key;
        }
        last = warpMax(best);
        const int expert = most_experts - 1 - int((last - 1) % most_experts);
        const float affinity = 1.0f / (1.0f + expf(-__bfloat162float(logits[expert])));
        sum += affinity;
        if (lane == choice) {
            my_expert = expert;
            mine = affinity;
        }
    }
    if (lane < layer.top_k) {
        experts[lane] = my_expert;
        gates[lane] = mine / sum;
    }
}

/// Ranks that have an expert of the token, one bit each.
__device__ inline uint64_t ranksOf(const Layer& layer, const int* experts)
{
    uint64_t ranks = 0;
    for (int choice = 0; choice < layer.top_k; ++choice)
        ranks |= uint64_t(1) << layer.ownerOf(experts[choice]);
    return ranks;
}

/// 16 elements of a row as pairs of bf16, zeros behind its end.
__device__ inline void loadSixteen(const __nv_bfloat16* row, int column, int hidden, uint32_t* pairs)
{
    if (hidden % 8 == 0) {
        for (int half = 0; half < 2; ++half) {
            uint4 vector = make_uint4(0, 0, 0, 0);
            if (column + 8 * half < hidden)
                vector = *reinterpret_cast<const uint4*>(row + column + 8 * half);
            pairs[4 * half] = vector.x;
            pairs[4 * half + 1] = vector.y;
            pairs[4 * half + 2] = vector.z;
            pairs[4 * half + 3] = vector.w;
        }
        return;
    }
    for (int i = 0; i < 8; ++i) {
        const int at = column + 2 * i;
        const uint32_t low = at < hidden ? __bfloat16_as_ushort(row[at]) : 0;
        const uint32_t high = at + 1 < hidden ? __bfloat16_as_ushort(row[at + 1]) : 0;
        pairs[i] = low | high << 16;
    }
}

/// The exponent of a block's scale, a power of two with bias 127, from its largest magnitude as bf16's bits: the
/// smallest with which no element exceeds 127. A product of such a scale and an 8-bit integer is a bf16.
__device__ inline uint32_t exponentOf(uint32_t largest)
{
    const int exponent = int(largest >> 7) - 6 + ((largest & 127) == 127 ? 1 : 0);
    return uint32_t(exponent < 1 ? 1 : exponent > 253 ? 253 : exponent);
}

/// By a warp: quantises a row and hands it on in vectors of 16 bytes, vector(offset, value), then its exponents by
/// fours, exponents(offset, value).
template <class Vector, class Exponents>
__device__ inline void quantiseRow(const Layer& layer, const __nv_bfloat16* row, Vector vector, Exponents exponents)
{
    const int lane = int(threadIdx.x) % 32;
    constexpr int columns_a_step = 32 * 16, steps_held = 32;
    uint32_t held = 0;
    int step = 0;
    for (int first = 0; first < layer.hidden; first += columns_a_step, ++step) {
        const int column = first + 16 * lane;
        uint32_t pairs[8];
        loadSixteen(row, column, layer.hidden, pairs);
        uint32_t largest = 0;
        for (int i = 0; i < 8; ++i) {
            const uint32_t low = pairs[i] & 0x7fff, high = pairs[i] >> 16 & 0x7fff;
            largest = low > largest ? low : largest;
            largest = high > largest ? high : largest;
        }
        for (int distance = 4; distance > 0; distance /= 2) {
            const uint32_t other = __shfl_xor_sync(~0u, largest, distance);
            largest = other > largest ? other : largest;
        }
        const uint32_t exponent = exponentOf(largest);
        const float inverse = __uint_as_float((254 - exponent) << 23);
        uint32_t words[4];
        for (int i = 0; i < 4; ++i) {
            words[i] = 0;
            for (int byte = 0; byte < 4; ++byte) {
                const uint32_t pair = pairs[2 * i + byte / 2];
                const int value = __float2int_rn(fromBits(byte % 2 == 0 ? pair & 0xffff : pair >> 16) * inverse);
                words[i] |= uint32_t(value & 0xff) << (8 * byte);
            }
        }
        if (column < layer.hidden)
            vector(column, make_uint4(words[0], words[1], words[2], words[3]));
        // The four blocks of this step, to the lane that writes them.
        uint32_t four = exponent << (8 * (lane / 8));
        four |= __shfl_xor_sync(~0u, four, 8);
        four |= __shfl_xor_sync(~0u, four, 16);
        if (lane == step % steps_held)
            held = four;
        if (step % steps_held == steps_held - 1 || first + columns_a_step >= layer.hidden) {
            if (lane <= step % steps_held)
                exponents(layer.exponentsAt() + 4 * (step / steps_held * steps_held + lane), held);
        }
    }
}

__device__ inline uint32_t exponentAt(const Layer& layer, const char* row, int column)
{
    return *reinterpret_cast<const uint8_t*>(row + layer.exponentsAt() + column / block_elements);
}

/// 8 integers with their block's exponent as bf16, exactly.
__device__ inline uint4 dequantise(uint2 integers, uint32_t exponent)
{
    const float scale = __uint_as_float(exponent << 23);
    uint32_t pairs[4];
    for (int i = 0; i < 4; ++i) {
        const uint32_t two = (i < 2 ? integers.x : integers.y) >> (16 * (i % 2));
        const float low = float(int8_t(two & 0xff)) * scale, high = float(int8_t(two >> 8 & 0xff)) * scale;
        pairs[i] = __float_as_uint(low) >> 16 | (__float_as_uint(high) & 0xffff0000u);
    }
    return make_uint4(pairs[0], pairs[1], pairs[2], pairs[3]);
}

/// 8 elements of a quantised row.
__device__ inline uint4 dequantiseEight(const Layer& layer, const char* row, int column)
{
    return dequantise(*reinterpret_cast<const uint2*>(row + column), exponentAt(layer, row, column));
}

}  // namespace moe
