// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/fragments.h"

#include "runtime/failure.h"
#include "runtime/fast.h"
#include "runtime/warp.h"

/// A warp's products of fragments (mma.sync): the last lane to come computes for all.
namespace cuco_emu {
namespace {

struct FragmentOperands {
    float* c;
    const std::uint32_t *a, *b;
    int count;
};

const FragmentOperands& fragment_operands(void* const* lanes, int lane)
{
    return *static_cast<const FragmentOperands*>(lanes[lane]);
}

void multiply_fragments(void** lanes, const void* site)
{
    const int count = fragment_operands(lanes, current_thread->lane).count, columns = 8 * count;
    float a[fragment_rows * fragment_depth], b[fragment_depth * most_fragment_columns],
        c[fragment_rows * most_fragment_columns];
    for (int lane = 0; lane < 32; ++lane) {
        if (!lanes[lane] || fragment_operands(lanes, lane).count != count)
            fail_in_kernel("crash", "Not all lanes of a warp take part in its matrix product.", *current_thread, site);
        const FragmentOperands& own = fragment_operands(lanes, lane);
        const int g = lane / 4, t = lane % 4;
        spread_a(own.a, lane, a, fragment_depth);
        for (int i = 0; i < 2 * count; ++i)
            for (int half = 0; half < 2; ++half)
                b[(2 * t + 8 * (i % 2) + half) * columns + i / 2 * 8 + g] =
                    Bf16Format::to_float(static_cast<std::uint16_t>(own.b[i] >> 16 * half));
        exchange_c<false>(own.c, lane, c, columns);
    }
    multiply_rows(a, b, c, columns);
    for (int lane = 0; lane < 32; ++lane)
        exchange_c<true>(fragment_operands(lanes, lane).c, lane, c, columns);
    current_warp->cost.flops += 2.0 * fragment_rows * fragment_depth * columns;
}

}  // namespace

CUCO_EMU_FAST void multiply_rows(const float* __restrict a, const float* __restrict b, float* __restrict c, int columns)
{
    for (int row = 0; row < fragment_rows; ++row)
        for (int k = 0; k < fragment_depth; ++k) {
            const float value = a[row * fragment_depth + k];
            for (int column = 0; column < columns; ++column)
                c[row * columns + column] += value * b[k * columns + column];
        }
}

}  // namespace cuco_emu

using namespace cuco_emu;

void cuco_emu_multiply_fragments(float* c, const std::uint32_t* a, const std::uint32_t* b, int count)
{
    const void* site = CUCO_EMU_CALL_SITE();
    if (count < 1 || count > most_fragment_columns / 8)
        fail_in_kernel("crash", "A warp multiplies by 1 to 16 fragments at once.", *current_thread, site);
    FragmentOperands operands{c, a, b, count};
    collect(~0u, &operands, multiply_fragments, site, site);
}
