// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Attention of a tile of queries over keys that may come in several pieces, in one kernel or in several.
//
// The method is FlashAttention-2's (Dao, arXiv 2307.08691): a thread block keeps a tile of queries of one head and
// walks over tiles of keys; each warp holds two slices of 16 rows, with scores and unnormalised output in registers.
// Shared memory is two stages of a tile of K and of V; while one is worked on, the next arrives by asynchronous copies.
// All lies there in the panels of warpgroup.cuh, so that neither copies nor matrix loads meet in a bank.
//
// Products are a warp's (mma.sync), or on Hopper a warpgroup's (wgmma), which go on during the softmax of the other
// slice. Both have the same blocks, shared memory and registers, so that a launch need not know which it gets.

#include "keys.cuh"
#include "softmax.cuh"
#include "warpgroup.cuh"

namespace ring {

template <int head_dim, bool causal, int key_rows_ = 64, int warps = 4>
struct Attention {
    static constexpr int key_rows = key_rows_, warp_rows = 32, query_rows = warps * warp_rows, threads = warps * 32;
    static constexpr int row_bytes = head_dim * 2, row_chunks = head_dim / 8, panel_row = 128;
    static constexpr int query_panel = query_rows * panel_row, key_panel = key_rows * panel_row;
    static constexpr int query_bytes = query_rows * row_bytes, tile_bytes = key_rows * row_bytes;
    static constexpr int kept_at = query_bytes + 4 * tile_bytes;  // behind two stages of K and V
    static constexpr int shared_bytes = kept_at + 64;
    static constexpr int out_tiles = head_dim / 8, score_tiles = key_rows / 8;
    using Slice = SoftmaxRows<out_tiles, score_tiles>;
    static constexpr int carried_vectors = 2 * Slice::carried_vectors * threads;  // float4, of a tile of queries
    static_assert(head_dim % 64 == 0 && key_rows % 32 == 0 && warps % 4 == 0 && threads % row_chunks == 0);

    /// By all threads of a block of `threads`. `source.next(Keys&)` gives the next piece and true, or false after the
    /// last; it is called by all threads alike and may contain barriers of the block. `shared`: shared_bytes, aligned
    /// to 1024. `scale`: of the scores, times log2 e.
    template <class Source>
    static __device__ void run(const Queries& queries, Source& source, float scale, char* shared, Carried carried)
    {
        Attention self(queries.position, scale, shared);
        for (int m = 0; m < 2; ++m)
            self.slice_[m].start(carried.from ? carried.from + carriedAt(m) : nullptr, threads);
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
            self.waitForCopies();  // this stage is here, and the other is free
            more = walk.advance();
            if (more)
                self.fetch(walk.piece, walk.row, walk.tile().rows, stage ^ 1);
            self.copies_.commit();
            self.attend(tile, stage);
            stage ^= 1;
        }
        self.waitForCopies();  // the queries have arrived, even where there were no keys
        if (self.kept().to) {
            for (int m = 0; m < 2; ++m)
                self.slice_[m].keep(self.kept().to + carriedAt(m), threads);
        } else {
            self.finish(self.kept().queries);
        }
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
        int group = lane / 4, pair = lane % 4 * 2;

        /// Of the warp's slice m, in the tile of queries.
        __device__ int firstRow(int m) const
        {
#ifdef CUCO_WARPGROUP_PRODUCTS
            return thread / 128 * 128 + m * 64 + thread % 128 / 32 * 16;
#else
            return thread / 32 * warp_rows + m * 16;
#endif
        }

        // What a lane adds to a tile's begin for a load of Q or V (matrices 0 and 1 are rows 0 to 15, 2 and 3 the 8
        // columns to the right) or K (0 and 1 are 16 columns, 2 and 3 the 8 rows below), and its chunk within the row.
        __device__ int rowsFirst() const
        {
            return lane % 16 * panel_row;
        }
        __device__ int rowsFirstChunk() const
        {
            return (lane / 16 ^ lane % 8) * 16;
        }
        __device__ int columnsFirst() const
        {
            return (lane % 8 + lane / 16 * 8) * panel_row;
        }
        __device__ int columnsFirstChunk() const
        {
            return (lane / 8 % 2 ^ lane % 8) * 16;
        }
    };

    static __device__ int carriedAt(int m)
    {
        return m * Slice::carried_vectors * threads + int(threadIdx.x);
    }

    /// Where a chunk of a row lies in a tile whose panels are `panel` bytes.
    static __device__ int placeOf(int row, int chunk, int panel)
    {
        return chunk / 8 * panel + row * panel_row + (chunk % 8 ^ row % 8) * 16;
    }

    template <int rows>
    __device__ void fetchRows(const __nv_bfloat16* from, int stride, int valid, SharedAddress to)
    {
        constexpr int step = threads / row_chunks;  // a multiple of 8: the place in a row stays
        static_assert(step % 8 == 0 && rows % step == 0);
        const int thread = cuco_tensor::threadAnew(), row = thread / row_chunks, chunk = thread % row_chunks;
        const __nv_bfloat16* source = from + int64_t(row) * stride + chunk * 8;
        const SharedAddress target = to + placeOf(row, chunk, rows * panel_row);
#pragma unroll
        for (int i = 0; i < rows / step; ++i)
            copies_.copy16(target + i * step * panel_row, source + int64_t(i * step) * stride, row + i * step < valid);
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

    __device__ void waitForCopies()
    {
        copies_.template wait<0>();
#ifdef CUCO_WARPGROUP_PRODUCTS
        cuco_warpgroup::publishShared();
#endif
        __syncthreads();
    }

    __device__ __forceinline__ void mask(float (&score)[score_tiles][4], const Tile& tile, int m) const
    {
        const int first_position = position_ + Place().firstRow(m);
        if (tile.rows < key_rows || (causal && tile.position + key_rows - 1 > first_position))
            Slice::mask(score, tile.rows, causal ? first_position - tile.position : key_rows);
    }

#ifdef CUCO_WARPGROUP_PRODUCTS

    __device__ __forceinline__ void attend(const Tile& tile, int stage)
    {
        // Slices of the warpgroup's four warps are 64 rows of queries; the first ones may be before the tile's keys.
        if (causal && tile.position > position_ + warpgroup() * 128 + 63)
            attendSlices<1>(tile, stage);
        else
            attendSlices<0>(tile, stage);
    }

    static __device__ __forceinline__ int warpgroup()
    {
        return warps == 4 ? 0 : __shfl_sync(~0u, int(threadIdx.x) / 128, 0);
    }

    /// While the scores of one slice become weights, the tensor cores multiply for the other.
    template <int first>
    __device__ __forceinline__ void attendSlices(const Tile& tile, int stage)
    {
        const SharedAddress keys = base_ + query_bytes + stage * 2 * tile_bytes;
        float score[2][score_tiles][4];
        uint32_t weight[2][key_rows / 16][4];
#pragma unroll
        for (int m = first; m < 2; ++m) {
            cuco_warpgroup::hold(score[m]);
            cuco_warpgroup::begin();
            multiplyByKeys(score[m], m, keys);
            cuco_warpgroup::commit();
        }
#pragma unroll
        for (int m = first; m < 2; ++m) {
            cuco_warpgroup::wait<1 - first>();  // one group is open behind this slice's scores
            cuco_warpgroup::hold(score[m]);
            mask(score[m], tile, m);
            Slice::template weigh<1>(slice_ + m, score + m, scale_);
#pragma unroll
            for (int k = 0; k < key_rows / 16; ++k)
                Slice::pack(weight[m][k], score[m], k);
            cuco_warpgroup::hold(weight[m]);
            cuco_warpgroup::hold(slice_[m].out);
            cuco_warpgroup::begin();
            multiplyByValues(weight[m], m, keys + tile_bytes);
            cuco_warpgroup::commit();
        }
        cuco_warpgroup::wait<0>();
#pragma unroll
        for (int m = first; m < 2; ++m) {
            cuco_warpgroup::hold(weight[m]);
            cuco_warpgroup::hold(slice_[m].out);
        }
    }

    __device__ __forceinline__ void multiplyByKeys(float (&score)[score_tiles][4], int m, SharedAddress keys) const
    {
        constexpr int together = key_rows % 64 == 0 ? 64 : 32;  // keys in a product
        const cuco_warpgroup::Matrix q(base_ + (warpgroup() * 128 + m * 64) * panel_row, 0), k(keys, 0);
#pragma unroll
        for (int key = 0; key < key_rows; key += together) {
            auto& part = reinterpret_cast<float(&)[together / 8][4]>(score[key / 8]);
            cuco_warpgroup::multiplyRows<false>(part, q.from(0), k.from(key * panel_row));
#pragma unroll
            for (int i = 1; i < head_dim / 16; ++i) {
                const int column = i % 4 * 32;
                cuco_warpgroup::multiplyRows<true>(part, q.from(i / 4 * query_panel + column),
                                                   k.from(i / 4 * key_panel + key * panel_row + column));
            }
        }
    }

    __device__ __forceinline__ void multiplyByValues(const uint32_t (&weight)[key_rows / 16][4], int m,
                                                     SharedAddress values)
    {
        const cuco_warpgroup::Matrix v(values, key_panel);
#pragma unroll
        for (int k = 0; k < key_rows / 16; ++k)
            cuco_warpgroup::multiplyAdd(slice_[m].out, weight[k], v.from(k * 16 * panel_row));
    }

#else

    __device__ __forceinline__ void attend(const Tile& tile, int stage)
    {
        if (causal && tile.position > position_ + Place().firstRow(1) + 15)
            return;  // none of the warp's rows looks so far
        const SharedAddress keys = base_ + query_bytes + stage * 2 * tile_bytes;
        float score[2][score_tiles][4];
        multiplyByKeys(score, keys);
#pragma unroll
        for (int m = 0; m < 2; ++m)
            mask(score[m], tile, m);
        Slice::template weigh<2>(slice_, score, scale_);
        multiplyByValues(score, keys + tile_bytes);
    }

    __device__ __forceinline__ void multiplyByKeys(float (&score)[2][score_tiles][4], SharedAddress keys) const
    {
#pragma unroll
        for (int m = 0; m < 2; ++m) {
#pragma unroll
            for (int n = 0; n < score_tiles; ++n)
                score[m][n][0] = score[m][n][1] = score[m][n][2] = score[m][n][3] = 0.0f;
        }
        const Place place;
        const SharedAddress queries = base_ + place.firstRow(0) * panel_row + place.rowsFirst();
        const int query_chunk = place.rowsFirstChunk(), key_chunk = place.columnsFirstChunk();
        keys += place.columnsFirst();
#pragma unroll
        for (int k = 0; k < head_dim / 16; ++k) {
            const SharedAddress q_at = queries + (query_chunk ^ k % 4 * 32) + k / 4 * query_panel;
            const SharedAddress k_at = keys + (key_chunk ^ k % 4 * 32) + k / 4 * key_panel;
            uint32_t q[2][4];
            cuco_tensor::loadMatrices(q[0], q_at);
            cuco_tensor::loadMatrices(q[1], q_at + 16 * panel_row);
#pragma unroll
            for (int n = 0; n < score_tiles; n += 2) {
                uint32_t b[4];
                cuco_tensor::loadMatrices(b, k_at + n * 8 * panel_row);
#pragma unroll
                for (int m = 0; m < 2; ++m) {
                    cuco_tensor::multiplyAdd(score[m][n], q[m], b[0], b[1]);
                    cuco_tensor::multiplyAdd(score[m][n + 1], q[m], b[2], b[3]);
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
            Slice::pack(p[0], weight[0], k);
            Slice::pack(p[1], weight[1], k);
#pragma unroll
            for (int n = 0; n < out_tiles; n += 2) {
                uint32_t b[4];
                cuco_tensor::loadMatricesTransposed(
                    b, values + k * 16 * panel_row + (chunk ^ n % 8 * 16) + n / 8 * key_panel);
#pragma unroll
                for (int m = 0; m < 2; ++m) {
                    cuco_tensor::multiplyAdd(slice_[m].out[n], p[m], b[0], b[1]);
                    cuco_tensor::multiplyAdd(slice_[m].out[n + 1], p[m], b[2], b[3]);
                }
            }
        }
    }

#endif

    /// Through the warp's own queries in shared memory, which nobody else reads any more, so that whole rows are
    /// stored.
    __device__ void finish(const Queries& queries)
    {
        const Place place;
#pragma unroll
        for (int m = 0; m < 2; ++m) {
#pragma unroll
            for (int half = 0; half < 2; ++half) {
                const float factor = slice_[m].normalisation(half);
                const int row = place.firstRow(m) + half * 8 + place.group;
#pragma unroll
                for (int n = 0; n < out_tiles; ++n) {
                    *reinterpret_cast<uint32_t*>(shared_ + placeOf(row, n, query_panel) + place.pair * 2) =
                        cuco_tensor::packBf16(slice_[m].out[n][2 * half] * factor,
                                              slice_[m].out[n][2 * half + 1] * factor);
                }
            }
        }
        __syncwarp();
        const int chunk = place.lane % row_chunks;
#pragma unroll
        for (int m = 0; m < 2; ++m) {
#pragma unroll
            for (int i = 0; i < 16 * row_chunks / 32; ++i) {
                const int row = place.firstRow(m) + (i * 32 + place.lane) / row_chunks;
                if (row < queries.rows)
                    *reinterpret_cast<uint4*>(queries.out + int64_t(row) * queries.stride + chunk * 8) =
                        *reinterpret_cast<const uint4*>(shared_ + placeOf(row, chunk, query_panel));
            }
        }
    }

    const int position_;
    const float scale_;
    char* const shared_;
    const SharedAddress base_;
    cuco_tensor::AsyncCopies copies_;
    Slice slice_[2];
};

}  // namespace ring
