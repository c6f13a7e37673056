// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// warpgroup.cuh on the emulated node. A warp computes its 16 rows of a product when it is waited for and no sooner, so
// that a missing wait shows; until then registers are neither read nor written.

#include "tensor_core.cuh"

namespace cuco_warpgroup {

/// Where a product finds a matrix in shared memory.
struct Operand {
    const char* begin;
    unsigned panel_bytes;
};

class Matrix {
public:
    Matrix(cuco_tensor::SharedAddress begin, uint32_t panel_bytes) : operand_{begin, panel_bytes} {}
    Operand from(uint32_t byte) const { return {operand_.begin + byte, operand_.panel_bytes}; }

private:
    Operand operand_;
};

inline void publishShared() {}
inline void begin() {}

inline void commit()
{
    cuco_emu_close_products();
}

template <int open>
inline void wait()
{
    cuco_emu_wait_for_products(open);
}

template <int n>
inline void hold(float (&)[n][4])
{
}
template <int n>
inline void hold(uint32_t (&)[n][4])
{
}

template <bool add, int tiles>
inline void multiplyRows(float (&c)[tiles][4], Operand a, Operand b)
{
    static_assert(tiles == 4 || tiles == 8);
    const cuco_emu_product product = {&c[0][0], nullptr, a.begin, b.begin, b.panel_bytes, 8 * tiles, add, 0};
    cuco_emu_begin_product(&product);
}

template <int tiles>
inline void multiplyAdd(float (&c)[tiles][4], const uint32_t (&a)[4], Operand b)
{
    static_assert(tiles == 8 || tiles == 16);
    const cuco_emu_product product = {&c[0][0], a, nullptr, b.begin, b.panel_bytes, 8 * tiles, 1, 1};
    cuco_emu_begin_product(&product);
}

}  // namespace cuco_warpgroup
