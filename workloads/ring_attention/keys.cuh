// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// What a thread block of the attention is given, and its way through the keys.

#include "sharding.h"

namespace ring {

/// A tile of one head's queries. Rows are `stride` elements apart.
struct Queries {
    const __nv_bfloat16* q;
    __nv_bfloat16* out;
    int stride;
    int rows;      ///< at most the tile's; 0: nothing to do
    int position;  ///< of the first row in the sequence
};

/// Keys and values of one head at consecutive positions. Rows are `stride`
/// elements apart.
struct Keys {
    const __nv_bfloat16 *k, *v;
    int stride, rows, position;
};

/// What is left of a tile when a kernel ends before the last keys, for the next
/// one. In the order of the threads' registers, so that only the same instance
/// of Attention can read it. Null: begins with nothing, ends with the output.
struct Carried {
    const float4* from = nullptr;
    float4* to = nullptr;
};

/// Keys in the tile that a thread block works on. `position` is the first one's.
struct Tile {
    int rows, position;
};

/// Over the tiles of all pieces that any of the queries may look at.
template <class Source, bool causal, int key_rows>
struct Walk {
    Source& source;
    const int last_query;
    Keys piece{};
    int row = 0, rows = 0;

    /// Goes to the next tile; source.next waits until its piece is there.
    __device__ bool advance()
    {
        row += key_rows;
        while (row >= rows) {
            if (!source.next(piece))
                return false;
            row = 0;
            rows = piece.rows;
            if (causal) {
                const int visible = last_query - piece.position + 1;
                rows = visible < rows ? visible : rows;
            }
        }
        return true;
    }
    __device__ Tile tile() const { return {rows - row < key_rows ? rows - row : key_rows, piece.position + row}; }
};

}  // namespace ring
