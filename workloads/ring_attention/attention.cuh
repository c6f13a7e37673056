// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Attention of a tile of queries over keys that may come in several pieces, in one kernel or in several.
//
// The method is FlashAttention-2's (Dao, arXiv 2307.08691): a thread block keeps a tile of queries of one head, walks
// over tiles of keys, and each warp holds its rows' scores, their running maximum and sum, and the unnormalised output
// in registers. The maximum is raised only when a score passes it by more than a factor of 2⁸ (after FlashAttention-4),
// so that outputs are seldom scaled. Shared memory is two stages of a tile of K and of V; while one is worked on, the
// next arrives by asynchronous copies. 16-byte chunks of a row lie at their index xor the row's, so that neither copies
// nor matrix loads meet in a bank.

#include "keys.cuh"
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

template <int head_dim, bool causal, int key_rows_ = 64, int warps = 4>
struct Attention {
    static constexpr int key_rows = key_rows_, warp_rows = 32, query_rows = warps * warp_rows, threads = warps * 32;
    static constexpr int row_bytes = head_dim * 2, row_chunks = head_dim / 8;
    static constexpr int query_bytes = query_rows * row_bytes, tile_bytes = key_rows * row_bytes;
    static constexpr int kept_at = query_bytes + 4 * tile_bytes;  // behind two stages of K and V
    static constexpr int shared_bytes = kept_at + 64;
    static constexpr int out_tiles = head_dim / 8, score_tiles = key_rows / 8;
    static constexpr int carried_vectors = (2 * out_tiles + 2) * threads;  // float4, of a tile of queries
    static_assert(head_dim % 64 == 0 && key_rows % 16 == 0 && threads % row_chunks == 0);

    /// By all threads of a block of `threads`. `source.next(Keys&)` gives the next piece and true, or false after the
    /// last; it is called by all threads alike and may contain barriers of the block. `shared`: shared_bytes, aligned
    /// to 128. `scale`: of the scores, times log2 e.
    template <class Source>
    static __device__ void run(const Queries& queries, Source& source, float scale, char* shared, Carried carried)
    {
        Attention self(queries.position, scale, shared);
        self.start(carried.from);
        __syncthreads();  // whoever had the shared memory before is through with it
        if (threadIdx.x == 0)
            self.kept() = {queries, carried.to};
        self.fetchQueries(queries);
        Walk<Source, causal, key_rows> walk{source, queries.position + queries.rows - 1};
        bool more = walk.advance();
        if (more)
            self.fetch(walk.piece, walk.row, walk.tile().rows, 0);
        self.copies_.commit();
        int stage = 0;
        while (more) {
            const Tile tile = walk.tile();
            self.copies_.template wait<0>();
            __syncthreads();  // this stage is here, and the other is free
            more = walk.advance();
            if (more)
                self.fetch(walk.piece, walk.row, walk.tile().rows, stage ^ 1);
            self.copies_.commit();
            self.attend(tile, stage);
            stage ^= 1;
        }
        self.copies_.template wait<0>();
        __syncthreads();  // the queries have arrived, even where there were no keys
        if (self.kept().to)
            self.keep(self.kept().to);
        else
            self.finish(self.kept().queries);
    }

private:
    using SharedAddress = cuco_tensor::SharedAddress;

    /// What is needed again at the end only.
    struct Kept {
        Queries queries;
        float4* to;
    };
    static_assert(sizeof(Kept) <= shared_bytes - kept_at);
    __device__ Kept& kept() const { return *reinterpret_cast<Kept*>(shared_ + kept_at); }

    __device__ Attention(int position, float scale, char* shared)
        : position_(position), scale_(scale), shared_(shared), base_(cuco_tensor::sharedAddress(shared))
    {
    }

    /// Where a thread stands in its warp's fragments. Made anew for each use: registers are scarce.
    struct Place {
        int thread = cuco_tensor::threadAnew(), lane = thread % 32;
        int first_row = thread / 32 * warp_rows, group = lane / 4, pair = lane % 4 * 2;

        // What a lane adds to a tile's begin for a load of Q or V (matrices 0 and 1 are rows 0 to 15, 2 and 3 the 8
        // columns to the right) or K (0 and 1 are 16 columns, 2 and 3 the 8 rows below), and its chunk within the row.
        __device__ int rowsFirst() const { return lane % 16 * row_bytes; }
        __device__ int rowsFirstChunk() const { return (lane / 16 ^ lane % 8) * 16; }
        __device__ int columnsFirst() const { return (lane % 8 + lane / 16 * 8) * row_bytes; }
        __device__ int columnsFirstChunk() const { return (lane / 8 % 2 ^ lane % 8) * 16; }
    };

    __device__ void start(const float4* from)
    {
#pragma unroll
        for (int m = 0; m < 2; ++m) {
#pragma unroll
            for (int n = 0; n < out_tiles; ++n) {
                const float4 held =
                    from ? from[(m * out_tiles + n) * threads + threadIdx.x] : make_float4(0.0f, 0.0f, 0.0f, 0.0f);
                out_[m][n][0] = held.x;
                out_[m][n][1] = held.y;
                out_[m][n][2] = held.z;
                out_[m][n][3] = held.w;
            }
        }
        const float4 maxima = from ? from[2 * out_tiles * threads + threadIdx.x]
                                   : make_float4(-INFINITY, -INFINITY, -INFINITY, -INFINITY);
        const float4 sums =
            from ? from[(2 * out_tiles + 1) * threads + threadIdx.x] : make_float4(0.0f, 0.0f, 0.0f, 0.0f);
        maximum_[0][0] = maxima.x, maximum_[0][1] = maxima.y, maximum_[1][0] = maxima.z, maximum_[1][1] = maxima.w;
        sum_[0][0] = sums.x, sum_[0][1] = sums.y, sum_[1][0] = sums.z, sum_[1][1] = sums.w;
    }

    __device__ void keep(float4* to) const
    {
#pragma unroll
        for (int m = 0; m < 2; ++m) {
#pragma unroll
            for (int n = 0; n < out_tiles; ++n)
                to[(m * out_tiles + n) * threads + threadIdx.x] =
                    make_float4(out_[m][n][0], out_[m][n][1], out_[m][n][2], out_[m][n][3]);
        }
        to[2 * out_tiles * threads + threadIdx.x] =
            make_float4(maximum_[0][0], maximum_[0][1], maximum_[1][0], maximum_[1][1]);
        to[(2 * out_tiles + 1) * threads + threadIdx.x] = make_float4(sum_[0][0], sum_[0][1], sum_[1][0], sum_[1][1]);
    }

    /// Where chunk `index` of a row lies in a tile.
    static __device__ int placeOf(int row, int index)
    {
        return row * row_bytes + (index ^ row % 8) * 16;
    }

    template <int rows>
    __device__ void fetchRows(const __nv_bfloat16* from, int stride, int valid, SharedAddress to)
    {
        constexpr int step = threads / row_chunks;  // a multiple of 8: the place in a row stays
        static_assert(step % 8 == 0 && rows % step == 0);
        const int thread = cuco_tensor::threadAnew(), row = thread / row_chunks, chunk = thread % row_chunks;
        const __nv_bfloat16* source = from + int64_t(row) * stride + chunk * 8;
        const SharedAddress target = to + placeOf(row, chunk);
#pragma unroll
        for (int i = 0; i < rows / step; ++i)
            copies_.copy16(target + i * step * row_bytes, source + int64_t(i * step) * stride, row + i * step < valid);
    }

    __device__ void fetchQueries(const Queries& queries)
    {
        fetchRows<query_rows>(queries.q, queries.stride, queries.rows, base_);
    }

    __device__ void fetch(const Keys& keys, int row, int valid, int stage)
    {
        const SharedAddress to = base_ + query_bytes + stage * 2 * tile_bytes;
        fetchRows<key_rows>(keys.k + int64_t(row) * keys.stride, keys.stride, valid, to);
        fetchRows<key_rows>(keys.v + int64_t(row) * keys.stride, keys.stride, valid, to + tile_bytes);
    }

    __device__ __forceinline__ void attend(const Tile& tile, int stage)
    {
        const int first_position = position_ + Place().first_row;
        if (causal && tile.position > first_position + warp_rows - 1)
            return;  // none of the warp's rows looks so far
        float score[2][score_tiles][4];
        multiplyByKeys(score, base_ + query_bytes + stage * 2 * tile_bytes);
        if (tile.rows < key_rows || (causal && tile.position + key_rows - 1 > first_position))
            mask(score, tile, first_position - tile.position);
        raiseMaximum(score);
        exponentiate(score);
        multiplyByValues(score, base_ + query_bytes + (stage * 2 + 1) * tile_bytes);
    }

    __device__ __forceinline__ void multiplyByKeys(float (&score)[2][score_tiles][4], SharedAddress keys)
    {
#pragma unroll
        for (int m = 0; m < 2; ++m) {
#pragma unroll
            for (int n = 0; n < score_tiles; ++n)
                score[m][n][0] = score[m][n][1] = score[m][n][2] = score[m][n][3] = 0.0f;
        }
        const Place place;
        const SharedAddress queries = base_ + place.first_row * row_bytes + place.rowsFirst();
        const int query_chunk = place.rowsFirstChunk(), key_chunk = place.columnsFirstChunk();
        keys += place.columnsFirst();
#pragma unroll
        for (int k = 0; k < head_dim / 16; ++k) {
            uint32_t q[2][4];
            cuco_tensor::loadMatrices(q[0], queries + (query_chunk ^ k * 32));
            cuco_tensor::loadMatrices(q[1], queries + 16 * row_bytes + (query_chunk ^ k * 32));
#pragma unroll
            for (int n = 0; n < score_tiles; n += 2) {
                uint32_t b[4];
                cuco_tensor::loadMatrices(b, keys + n * 8 * row_bytes + (key_chunk ^ k * 32));
#pragma unroll
                for (int m = 0; m < 2; ++m) {
                    cuco_tensor::multiplyAdd(score[m][n], q[m], b[0], b[1]);
                    cuco_tensor::multiplyAdd(score[m][n + 1], q[m], b[2], b[3]);
                }
            }
        }
    }

    /// Row i of the warp may look at the keys up to `diagonal` + i of the tile.
    __device__ __forceinline__ void mask(float (&score)[2][score_tiles][4], const Tile& tile, int diagonal) const
    {
        const Place place;
#pragma unroll
        for (int m = 0; m < 2; ++m) {
#pragma unroll
            for (int half = 0; half < 2; ++half) {
                const int last = causal ? diagonal + m * 16 + half * 8 + place.group : key_rows;
                const int end = last + 1 < tile.rows ? last + 1 : tile.rows;
#pragma unroll
                for (int n = 0; n < score_tiles; ++n) {
                    if (n * 8 + place.pair >= end)
                        score[m][n][2 * half] = -INFINITY;
                    if (n * 8 + place.pair + 1 >= end)
                        score[m][n][2 * half + 1] = -INFINITY;
                }
            }
        }
    }

    __device__ __forceinline__ void raiseMaximum(const float (&score)[2][score_tiles][4])
    {
        constexpr float most = 8.0f;  // weights stay under 2⁸
        float seen[2][2];
        bool passed = false;
#pragma unroll
        for (int m = 0; m < 2; ++m) {
#pragma unroll
            for (int half = 0; half < 2; ++half) {
                float x = fmaxf(score[m][0][2 * half], score[m][0][2 * half + 1]);
#pragma unroll
                for (int n = 1; n < score_tiles; ++n)
                    x = fmaxf(x, fmaxf(score[m][n][2 * half], score[m][n][2 * half + 1]));
                seen[m][half] = quadMaximum(x);
                // Of two infinities this is not a number, which is not greater.
                passed |= (seen[m][half] - maximum_[m][half]) * scale_ > most;
            }
        }
        if (!__any_sync(~0u, passed))
            return;
#pragma unroll
        for (int m = 0; m < 2; ++m) {
#pragma unroll
            for (int half = 0; half < 2; ++half) {
                const float next = fmaxf(maximum_[m][half], seen[m][half]);
                const float factor = maximum_[m][half] == -INFINITY
                                         ? 0.0f
                                         : cuco_tensor::exp2Approximate((maximum_[m][half] - next) * scale_);
                maximum_[m][half] = next;
                sum_[m][half] *= factor;
#pragma unroll
                for (int n = 0; n < out_tiles; ++n) {
                    out_[m][n][2 * half] *= factor;
                    out_[m][n][2 * half + 1] *= factor;
                }
            }
        }
    }

    /// Scores become weights; what they sum to, this lane's part of it, is added in float.
    __device__ __forceinline__ void exponentiate(float (&score)[2][score_tiles][4])
    {
#pragma unroll
        for (int m = 0; m < 2; ++m) {
#pragma unroll
            for (int half = 0; half < 2; ++half) {
                const float shift = maximum_[m][half] == -INFINITY ? 0.0f : -maximum_[m][half] * scale_;
#pragma unroll
                for (int n = 0; n < score_tiles; ++n) {
#pragma unroll
                    for (int e = 2 * half; e < 2 * half + 2; ++e) {
                        score[m][n][e] = cuco_tensor::exp2Approximate(fmaf(score[m][n][e], scale_, shift));
                        sum_[m][half] += score[m][n][e];
                    }
                }
            }
        }
    }

    __device__ __forceinline__ void multiplyByValues(const float (&weight)[2][score_tiles][4], SharedAddress values)
    {
        const Place place;
        const int chunk = place.rowsFirstChunk();
        values += place.rowsFirst();
#pragma unroll
        for (int k = 0; k < key_rows / 16; ++k) {
            uint32_t p[2][4];
#pragma unroll
            for (int m = 0; m < 2; ++m) {
#pragma unroll
                for (int i = 0; i < 4; ++i)
                    p[m][i] = cuco_tensor::packBf16(weight[m][2 * k + i / 2][i % 2 * 2],
                                                    weight[m][2 * k + i / 2][i % 2 * 2 + 1]);
            }
#pragma unroll
            for (int n = 0; n < out_tiles; n += 2) {
                uint32_t b[4];
                cuco_tensor::loadMatricesTransposed(b, values + k * 16 * row_bytes + (chunk ^ n * 16));
#pragma unroll
                for (int m = 0; m < 2; ++m) {
                    cuco_tensor::multiplyAdd(out_[m][n], p[m], b[0], b[1]);
                    cuco_tensor::multiplyAdd(out_[m][n + 1], p[m], b[2], b[3]);
                }
            }
        }
    }

    /// Through the warp's own queries in shared memory, which nobody else reads, so that whole rows are stored.
    __device__ void finish(const Queries& queries)
    {
        const Place place;
#pragma unroll
        for (int m = 0; m < 2; ++m) {
#pragma unroll
            for (int half = 0; half < 2; ++half) {
                const float sum = quadSum(sum_[m][half]), factor = sum > 0.0f ? 1.0f / sum : 0.0f;
                const int row = place.first_row + m * 16 + half * 8 + place.group;
#pragma unroll
                for (int n = 0; n < out_tiles; ++n) {
                    *reinterpret_cast<uint32_t*>(shared_ + placeOf(row, n) + place.pair * 2) =
                        cuco_tensor::packBf16(out_[m][n][2 * half] * factor, out_[m][n][2 * half + 1] * factor);
                }
            }
        }
        __syncwarp();
        const int chunk = place.lane % row_chunks;
#pragma unroll
        for (int i = 0; i < warp_rows * row_chunks / 32; ++i) {
            const int row = place.first_row + (i * 32 + place.lane) / row_chunks;
            if (row < queries.rows)
                *reinterpret_cast<uint4*>(queries.out + int64_t(row) * queries.stride + chunk * 8) =
                    *reinterpret_cast<const uint4*>(shared_ + placeOf(row, chunk));
        }
    }

    const int position_;
    const float scale_;
    char* const shared_;
    const SharedAddress base_;
    cuco_tensor::AsyncCopies copies_;
    float out_[2][out_tiles][4], maximum_[2][2], sum_[2][2];
};

}  // namespace ring
