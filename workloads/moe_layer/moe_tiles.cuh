// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Products by tiles for kernels that do more than multiply: rows from wherever a function finds them, sums left in
// shared memory for whatever follows.

#include "moe_layer.cuh"
#include "tensor_core.cuh"

namespace moe {

constexpr int tile_threads = 256;  // 2 × 4 warps, each of half the rows and 32 columns
constexpr int tile_columns = 128, slab = 32, slab_row = slab + 8, result_row = tile_columns + 4;
constexpr int stages = 3;

template <int Rows>
struct Tile {
    static constexpr int stage_elements = (Rows + tile_columns) * slab_row;
    static constexpr size_t staged_bytes = stages * stage_elements * sizeof(__nv_bfloat16);
    static constexpr size_t result_bytes = Rows * result_row * sizeof(float);
    static constexpr size_t shared_bytes = staged_bytes > result_bytes ? staged_bytes : result_bytes;
};

/// 8 elements of row `row` of a row-major matrix, zeros behind its end.
__device__ inline uint4 loadEight(const __nv_bfloat16* matrix, int64_t row, int column, int columns)
{
    const __nv_bfloat16* from = matrix + row * columns + column;
    if (columns % 8 == 0 && column < columns)
        return *reinterpret_cast<const uint4*>(from);
    uint32_t words[4] = {};
    for (int i = 0; i < 8 && column + i < columns; ++i)
        words[i / 2] |= uint32_t(__bfloat16_as_ushort(from[i])) << (16 * (i % 2));
    return make_uint4(words[0], words[1], words[2], words[3]);
}

/// The rows of a weight matrix that are a tile's columns: row(column), negative where there is none.
template <class Row>
struct Weights {
    const __nv_bfloat16* matrix;
    int k;
    Row row;
};
template <class Row>
__device__ Weights<Row> weightsOf(const __nv_bfloat16* matrix, int k, Row row)
{
    return {matrix, k, row};
}

/// A tile's columns of one slab of k, by asynchronous copies where 16 bytes are aligned.
template <class Row>
__device__ inline void stageColumns(const Weights<Row>& weights, int first, __nv_bfloat16* to,
                                    cuco_tensor::AsyncCopies& copies)
{
    for (int i = int(threadIdx.x); i < tile_columns * slab / 8; i += tile_threads) {
        const int column = i / (slab / 8), k = first + i % (slab / 8) * 8;
        const int64_t row = weights.row(column);
        __nv_bfloat16* place = to + column * slab_row + i % (slab / 8) * 8;
        const bool valid = row >= 0 && k < weights.k;
        if (weights.k % 8 == 0)
            copies.copy16(cuco_tensor::sharedAddress(place), weights.matrix + (valid ? row * weights.k + k : 0), valid);
        else
            *reinterpret_cast<uint4*>(place) =
                valid ? loadEight(weights.matrix, row, k, weights.k) : make_uint4(0, 0, 0, 0);
    }
}

/// By a block of tile_threads: Rows × tile_columns sums over k, in float, left in `shared` with result_row from
/// one row to the next. left.load(row, k) fetches 8 elements from k on, left.convert makes bf16 of them. Only the first
/// `filled` rows count.
template <int Rows, class Left, class Row>
__device__ void multiplyTile(const Left& left, int filled, const Weights<Row>& weights, char* shared)
{
    constexpr int vectors_a_row = slab / 8, held = Rows * vectors_a_row / tile_threads, high = Rows / 32;
    constexpr int stage_elements = Tile<Rows>::stage_elements;
    auto* staged = reinterpret_cast<__nv_bfloat16*>(shared);
    const int thread = int(threadIdx.x), warp = thread / 32, lane = thread % 32;
    const int warp_row = warp / 4 * (Rows / 2), warp_column = warp % 4 * 32;
    const int steps = (weights.k + slab - 1) / slab;
    cuco_tensor::AsyncCopies copies;
    typename Left::Raw raw[held];
    const auto fetch = [&](int step) {
#pragma unroll
        for (int i = 0; i < held; ++i) {
            const int index = thread + i * tile_threads;
            raw[i] = left.load(index / vectors_a_row, step * slab + index % vectors_a_row * 8);
        }
    };
    const auto put = [&](int step) {
#pragma unroll
        for (int i = 0; i < held; ++i) {
            const int index = thread + i * tile_threads;
            *reinterpret_cast<uint4*>(staged + step % stages * stage_elements + index / vectors_a_row * slab_row +
                                      index % vectors_a_row * 8) = left.convert(raw[i]);
        }
    };
    const auto stage = [&](int step) {
        if (step < steps)
            stageColumns(weights, step * slab, staged + step % stages * stage_elements + Rows * slab_row, copies);
        copies.commit();
    };

    float sum[high][4][4];
#pragma unroll
    for (int i = 0; i < high * 16; ++i)
        sum[i / 16][i / 4 % 4][i % 4] = 0;
    for (int step = 0; step < stages - 1; ++step) {
        stage(step);
        if (step < steps) {
            fetch(step);
            put(step);
        }
    }
    // What a lane points at in the four matrices that it helps to load.
    const int a_offset = (warp_row + lane % 16) * slab_row + lane / 16 * 8;
    const int b_offset = (Rows + warp_column + lane % 8 + lane / 16 * 8) * slab_row + lane / 8 % 2 * 8;
    for (int step = 0; step < steps; ++step) {
        copies.wait<stages - 2>();
        __syncthreads();
        const int ahead = step + stages - 1;
        stage(ahead);
        if (ahead < steps)
            fetch(ahead);
        const __nv_bfloat16* now = staged + step % stages * stage_elements;
#pragma unroll
        for (int depth = 0; depth < slab && warp_row < filled; depth += 16) {
            uint32_t b[2][4];
            const cuco_tensor::SharedAddress rows[2] = {
                cuco_tensor::sharedAddress(now + b_offset + depth),
                cuco_tensor::sharedAddress(now + b_offset + 16 * slab_row + depth)};
            cuco_tensor::loadMatrices(b, rows);
#pragma unroll
            for (int i = 0; i < high; ++i) {
                if (warp_row + 16 * i >= filled)
                    continue;
                uint32_t a[4];
                cuco_tensor::loadMatrices(a, cuco_tensor::sharedAddress(now + a_offset + 16 * i * slab_row + depth));
                cuco_tensor::multiplyAdd(sum[i], a, b);
            }
        }
        if (ahead < steps)
            put(ahead);
    }
    copies.wait<0>();
    __syncthreads();
    auto* result = reinterpret_cast<float*>(shared);
#pragma unroll
    for (int i = 0; i < high * 4; ++i) {
        const float* from = sum[i / 4][i % 4];
        float* to = result + (warp_row + i / 4 * 16 + lane / 4) * result_row + warp_column + i % 4 * 8 + lane % 4 * 2;
        *reinterpret_cast<float2*>(to) = make_float2(from[0], from[1]);
        *reinterpret_cast<float2*>(to + 8 * result_row) = make_float2(from[2], from[3]);
    }
    __syncthreads();
}

}  // namespace moe
