// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// A rank's queries in tiles, and the keys that a tile goes through.

#include "attention.cuh"

namespace ring {

/// Inputs and output of a rank.
struct Shards {
    const __nv_bfloat16 *q, *k, *v;
    __nv_bfloat16* out;

    explicit Shards(const cuco_io& io)
        : q(static_cast<const __nv_bfloat16*>(io.inputs[0])),
          k(static_cast<const __nv_bfloat16*>(io.inputs[1])),
          v(static_cast<const __nv_bfloat16*>(io.inputs[2])),
          out(static_cast<__nv_bfloat16*>(io.outputs[0]))
    {
    }
};

/// One head's tile of queries each. Under a causal mask later tiles, which look at more keys, come first, so that what
/// is left at the end is small.
template <class Attention>
struct Items {
    static __host__ __device__ int tilesOf(const Piece& piece)
    {
        return (piece.count + Attention::query_rows - 1) / Attention::query_rows;
    }
    static __host__ __device__ int tiles(const Problem& p)
    {
        return tilesOf(p.piece(p.rank, 0)) + tilesOf(p.piece(p.rank, 1));
    }
    static __host__ __device__ int count(const Problem& p) { return tiles(p) * p.heads_q; }

    /// `by_head`: a head's tiles follow each other, otherwise the heads of a tile.
    static __device__ Queries queries(const Problem& p, const Shards& shards, int item, bool by_head, int* head)
    {
        const int all = tiles(p);
        *head = by_head ? item / all : item % p.heads_q;
        int tile = all - 1 - (by_head ? item % all : item / p.heads_q);
        Piece piece = p.piece(p.rank, 0);
        if (tile >= tilesOf(piece)) {
            tile -= tilesOf(piece);
            piece = p.piece(p.rank, 1);
        }
        const int row = tile * Attention::query_rows, left = piece.count - row;
        const int64_t at = (piece.local + row) * p.rowOfQueries() + int64_t(*head) * p.head_dim;
        return {shards.q + at, shards.out + at, int(p.rowOfQueries()),
                left < Attention::query_rows ? left : Attention::query_rows, piece.first + row};
    }
};

/// What a tile of queries needs of `steps` ranks' keys from step `first_step` on, for one head. Step s is what the rank
/// s places before this one in the ring holds. `where(owner, 0 or 1)` says where that rank's K or V begins; before the
/// first rows of an owner's half are used, `arrival(owner, half)` waits for them.
template <class Where, class Arrival>
struct InRingOrder {
    const Problem& p;
    const Queries& queries;
    int head, first_step, steps;
    Where where;
    Arrival arrival;
    int taken = 0;  // halves

    __device__ bool next(Keys& keys)
    {
        while (taken < 2 * steps) {
            const int owner = (p.rank + p.ranks - first_step - taken / 2) % p.ranks, half = taken % 2;
            ++taken;
            const Piece piece = p.piece(owner, half);
            if (piece.count == 0 || (p.causal && piece.first >= queries.position + queries.rows))
                continue;
            arrival(owner, half);
            const int64_t at = piece.local * p.rowOfKeys() + int64_t(head / (p.heads_q / p.heads_kv)) * p.head_dim;
            keys = {where(owner, 0) + at, where(owner, 1) + at, int(p.rowOfKeys()), piece.count, piece.first};
            return true;
        }
        return false;
    }
};

template <class Where, class Arrival>
__device__ InRingOrder<Where, Arrival> inRingOrder(const Problem& p, const Queries& queries, int head, int first_step,
                                                   int steps, Where where, Arrival arrival)
{
    return {p, queries, head, first_step, steps, where, arrival};
}

/// This rank's own keys from its inputs, the others' from where they were gathered.
struct OwnAndGathered {
    const Problem& p;
    const Shards& shards;
    Gathered gathered;

    __device__ const __nv_bfloat16* operator()(int owner, int which) const
    {
        if (owner == p.rank)
            return which == 0 ? shards.k : shards.v;
        return gathered.rows(p, which, owner);
    }
};

struct AlreadyHere {
    __device__ void operator()(int, int) const {}
};

/// Of the scores, with the base changed from e to 2.
inline float scoreScale(const Problem& p)
{
    return 1.44269504f / sqrtf(float(p.head_dim));
}

template <class A>
struct Choice {
    using Attention = A;
};

/// call(Choice<…>()) with the instance for this problem; it returns a code of candidate.h.
template <int key_rows = 64, class Call>
int withAttention(const Problem& p, Call call)
{
    if (p.head_dim == 128)
        return p.causal ? call(Choice<Attention<128, true, key_rows>>())
                        : call(Choice<Attention<128, false, key_rows>>());
    if (p.head_dim == 64)
        return p.causal ? call(Choice<Attention<64, true, key_rows>>())
                        : call(Choice<Attention<64, false, key_rows>>());
    return cudaErrorInvalidValue;
}

}  // namespace ring
