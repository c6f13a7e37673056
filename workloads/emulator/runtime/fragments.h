// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cuco_emu/small_float.h"

#include "runtime/machine.h"

/// Fragments of matrices in a warp's lanes, as workloads/harness/tensor_core.cuh describes them.
namespace cuco_emu {

inline constexpr int fragment_rows = 16, fragment_depth = 16, most_fragment_columns = 128;

/// A lane's four registers of A, 16 × 16, to their places in rows of `stride`.
inline void spread_a(const std::uint32_t* registers, int lane, float* a, int stride)
{
    for (int i = 0; i < 4; ++i) {
        float* to = a + (lane / 4 + i % 2 * 8) * stride + lane % 4 * 2 + i / 2 * 8;
        to[0] = Bf16Format::to_float(static_cast<std::uint16_t>(registers[i]));
        to[1] = Bf16Format::to_float(static_cast<std::uint16_t>(registers[i] >> 16));
    }
}

/// Between a lane's part of C, 16 rows in tiles of eight columns, and c[row][column].
template <bool to_lane>
inline void exchange_c(float* own, int lane, float* c, int columns)
{
    float* upper = c + lane / 4 * columns + lane % 4 * 2;
    for (int tile = 0; tile < columns / 8; ++tile)
        for (int i = 0; i < 4; ++i) {
            float& there = upper[i / 2 * 8 * columns + tile * 8 + i % 2];
            (to_lane ? own[4 * tile + i] : there) = to_lane ? there : own[4 * tile + i];
        }
}

/// c[16][columns] += a[16][16] * b[16][columns]
void multiply_rows(const float* a, const float* b, float* c, int columns);

}  // namespace cuco_emu
