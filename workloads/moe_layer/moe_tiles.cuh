// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Products by tiles for kernels that do more than multiply: rows from wherever a function finds them, sums left in
// shared memory for whatever follows.

#include "moe_layer.cuh"

#include <mma.h>

namespace moe {

constexpr int tile_threads = 128;  // 2 × 2 warps
constexpr int tile_rows = 64, tile_columns = 128, slab = 32, slab_row = slab + 8, result_row = tile_columns + 4;
constexpr size_t tile_shared_bytes = tile_rows * result_row * sizeof(float);
static_assert(tile_shared_bytes >= 2 * (tile_rows + tile_columns) * slab_row * sizeof(__nv_bfloat16));

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

/// By a block of tile_threads: tile_rows × tile_columns sums over k, in float, left in `shared`: left(row, k) and
/// right(column, k) give 8 elements.
template <class Left, class Right>
__device__ void multiplyTile(int k, Left left, Right right, char* shared)
{
    using namespace nvcuda;
    constexpr int left_vectors = tile_rows * slab / 8 / tile_threads,
                  right_vectors = tile_columns * slab / 8 / tile_threads;
    constexpr int stage = (tile_rows + tile_columns) * slab_row;
    auto* staged = reinterpret_cast<__nv_bfloat16*>(shared);
    const int warp = int(threadIdx.x) / 32, warp_row = warp / 2 * 32, warp_column = warp % 2 * 64;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum[2][4];
#pragma unroll
    for (int i = 0; i < 8; ++i)
        wmma::fill_fragment(sum[i / 4][i % 4], 0.0f);
    uint4 held[left_vectors + right_vectors];
    const auto load = [&](int first) {
#pragma unroll
        for (int i = 0; i < left_vectors + right_vectors; ++i) {
            const int index = int(threadIdx.x) + i * tile_threads, row = index / (slab / 8),
                      at_k = first + index % (slab / 8) * 8;
            held[i] = i < left_vectors ? left(row, at_k) : right(row - tile_rows, at_k);
        }
    };
    load(0);
    for (int step = 0; step * slab < k; ++step) {
        __nv_bfloat16* now = staged + step % 2 * stage;
#pragma unroll
        for (int i = 0; i < left_vectors + right_vectors; ++i) {
            const int index = int(threadIdx.x) + i * tile_threads;
            *reinterpret_cast<uint4*>(now + index / (slab / 8) * slab_row + index % (slab / 8) * 8) = held[i];
        }
        __syncthreads();
        if ((step + 1) * slab < k)
            load((step + 1) * slab);
#pragma unroll
        for (int depth = 0; depth < slab; depth += 16) {
            wmma::fragment<wmma::matrix_b, 16, 16, 16, __nv_bfloat16, wmma::col_major> b[4];
#pragma unroll
            for (int j = 0; j < 4; ++j)
                wmma::load_matrix_sync(b[j], now + (tile_rows + warp_column + 16 * j) * slab_row + depth, slab_row);
#pragma unroll
            for (int i = 0; i < 2; ++i) {
                wmma::fragment<wmma::matrix_a, 16, 16, 16, __nv_bfloat16, wmma::row_major> a;
                wmma::load_matrix_sync(a, now + (warp_row + 16 * i) * slab_row + depth, slab_row);
#pragma unroll
                for (int j = 0; j < 4; ++j)
                    wmma::mma_sync(sum[i][j], a, b[j], sum[i][j]);
            }
        }
    }
    __syncthreads();
    auto* result = reinterpret_cast<float*>(shared);
#pragma unroll
    for (int i = 0; i < 8; ++i)
        wmma::store_matrix_sync(result + (warp_row + 16 * (i / 4)) * result_row + warp_column + 16 * (i % 4),
                                sum[i / 4][i % 4], result_row, wmma::mem_row_major);
    __syncthreads();
}

}  // namespace moe
