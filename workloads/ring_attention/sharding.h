// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Which rows of the sequence a rank holds, and which of them whom concerns. The same in every source of the workload.

#include "candidate.h"

#include <cuda_bf16.h>
#include <cuda_runtime.h>

namespace ring {

/// Rows [first, first + count) of the sequence, which a rank holds as its rows from `local` on.
struct Piece {
    int first, count, local;
};

/// The shape, in the manifest's order.
struct Problem {
    int sequence = 0, heads_q = 1, heads_kv = 1, head_dim = 64;
    bool causal = false, zigzag = false;
    int rank = 0, ranks = 1;

    Problem() = default;
    explicit Problem(const cuco_context& context)
        : sequence(int(context.shape[0])),
          heads_q(int(context.shape[1])),
          heads_kv(int(context.shape[2])),
          head_dim(int(context.shape[3])),
          causal(context.shape[4] != 0),
          zigzag(context.shape[5] != 0),
          rank(context.rank),
          ranks(context.ranks)
    {
    }

    /// Half 0 or 1 of what a rank holds. By zigzag chunk r and chunk 2 · ranks - 1 - r, otherwise all in half 0.
    __host__ __device__ Piece piece(int of_rank, int half) const
    {
        const int chunks = zigzag ? 2 * ranks : ranks, each = sequence / chunks, longer = sequence % chunks;
        if (!zigzag && half == 1)
            return {sequence, 0, rows(of_rank)};
        const int chunk = half == 0 ? of_rank : chunks - 1 - of_rank;
        Piece piece;
        piece.first = chunk * each + (chunk < longer ? chunk : longer);
        piece.count = each + (chunk < longer ? 1 : 0);
        piece.local = half == 0 ? 0 : each + (of_rank < longer ? 1 : 0);
        return piece;
    }

    __host__ __device__ int rows(int of_rank) const
    {
        const int chunks = zigzag ? 2 * ranks : ranks, each = sequence / chunks, longer = sequence % chunks;
        const int first_half = each + (of_rank < longer ? 1 : 0);
        return zigzag ? first_half + each + (chunks - 1 - of_rank < longer ? 1 : 0) : first_half;
    }

    /// The rows of all ranks before this one: where a rank's rows begin when all are laid side by side.
    __host__ __device__ int rowsBefore(int of_rank) const
    {
        int before = 0;
        for (int r = 0; r < of_rank; ++r)
            before += rows(r);
        return before;
    }

    /// Behind the last position that a rank's queries have.
    __host__ __device__ int endOfQueries(int of_rank) const
    {
        const Piece low = piece(of_rank, 0), high = piece(of_rank, 1);
        return high.count > 0 ? high.first + high.count : low.first + low.count;
    }

    /// Whether any query of `reader` looks at this half of what `owner` holds.
    __host__ __device__ bool concerns(int owner, int half, int reader) const
    {
        const Piece keys = piece(owner, half);
        return keys.count > 0 && rows(reader) > 0 && (!causal || keys.first < endOfQueries(reader));
    }

    /// Elements of a row of K or V, all heads of a position side by side; of Q and O likewise.
    __host__ __device__ int64_t rowOfKeys() const { return int64_t(heads_kv) * head_dim; }
    __host__ __device__ int64_t rowOfQueries() const { return int64_t(heads_q) * head_dim; }
    __host__ __device__ size_t keyBytes(int64_t count) const
    {
        return size_t(count * rowOfKeys()) * sizeof(__nv_bfloat16);
    }
};

/// All ranks' K side by side in the order of ranks, then all V: how a rank keeps what it is sent.
struct Gathered {
    char* base = nullptr;

    static size_t bytes(const Problem& p) { return 2 * p.keyBytes(p.sequence); }
    /// 0: K, 1: V. From the region's begin to row `local` of what `owner` holds.
    static __host__ __device__ size_t offset(const Problem& p, int which, int owner, int local)
    {
        return p.keyBytes(int64_t(which) * p.sequence + p.rowsBefore(owner) + local);
    }
    __host__ __device__ const __nv_bfloat16* rows(const Problem& p, int which, int owner) const
    {
        return reinterpret_cast<const __nv_bfloat16*>(base + offset(p, which, owner, 0));
    }
};

}  // namespace ring
