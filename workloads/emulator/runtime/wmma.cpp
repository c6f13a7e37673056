// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: Apache-2.0
#include "mma.h"

#include "runtime/fast.h"
#include "runtime/machine.h"

/// Warp-wide matrix products: the last lane to come computes for all, from the parts that each lane holds.
namespace cuco_emu {
namespace {

constexpr int largest = 32 * 16;

template <class Convert>
void gather(float* out, void* const* lanes, int per_lane, std::size_t bytes, const void* cuco_emu_mma_operands::*part,
            Convert convert)
{
    for (int lane = 0; lane < 32; ++lane) {
        const auto* operands = static_cast<const cuco_emu_mma_operands*>(lanes[lane]);
        const auto* from = operands ? static_cast<const char*>(operands->*part) : nullptr;
        for (int i = 0; i < per_lane; ++i)
            out[lane * per_lane + i] = from ? convert(from + static_cast<std::size_t>(i) * bytes) : 0.0f;
    }
}

void gather_input(float* out, void* const* lanes, int per_lane, int type, const void* cuco_emu_mma_operands::*part)
{
    if (type == 0)
        gather(out, lanes, per_lane, 2, part,
               [](const char* p) { return Bf16Format::to_float(*reinterpret_cast<const std::uint16_t*>(p)); });
    else if (type == 1)
        gather(out, lanes, per_lane, 2, part,
               [](const char* p) { return HalfFormat::to_float(*reinterpret_cast<const std::uint16_t*>(p)); });
    else
        gather(out, lanes, per_lane, 4, part, [](const char* p) { return *reinterpret_cast<const float*>(p); });
}

void transpose(float* matrix, int rows, int columns)
{
    float copy[largest];
    for (int i = 0; i < rows * columns; ++i)
        copy[i] = matrix[i];
    for (int row = 0; row < rows; ++row)
        for (int column = 0; column < columns; ++column)
            matrix[row * columns + column] = copy[column * rows + row];
}

/// c[m][n] += a[m][k] * b[k][n]
CUCO_EMU_FAST void multiply_tile(const float* __restrict a, const float* __restrict b, float* __restrict c, int m,
                                 int n, int k)
{
    for (int i = 0; i < m; ++i)
        for (int p = 0; p < k; ++p) {
            const float value = a[i * k + p];
            for (int j = 0; j < n; ++j)
                c[i * n + j] += value * b[p * n + j];
        }
}

void multiply(void** lanes, const void* argument)
{
    const auto& shape = *static_cast<const cuco_emu_mma_shape*>(argument);
    const int m = shape.m, n = shape.n, k = shape.k;
    float a[largest], b[largest], c[32 * 32];
    gather_input(a, lanes, m * k / 32, shape.input, &cuco_emu_mma_operands::a);
    gather_input(b, lanes, k * n / 32, shape.input, &cuco_emu_mma_operands::b);
    gather_input(c, lanes, m * n / 32, shape.accumulator == 0 ? 2 : 1, &cuco_emu_mma_operands::c);
    if (shape.a_column_major)
        transpose(a, m, k);
    if (shape.b_column_major)
        transpose(b, k, n);
    multiply_tile(a, b, c, m, n, k);
    const int per_lane = m * n / 32;
    for (int lane = 0; lane < 32; ++lane) {
        const auto* operands = static_cast<const cuco_emu_mma_operands*>(lanes[lane]);
        for (int i = 0; operands && i < per_lane; ++i) {
            const float value = c[lane * per_lane + i];
            if (shape.accumulator == 0)
                static_cast<float*>(operands->d)[i] = value;
            else
                static_cast<std::uint16_t*>(operands->d)[i] = HalfFormat::from_float(value);
        }
    }
    current_warp->cost.flops += 2.0 * m * n * k;
}

}  // namespace
}  // namespace cuco_emu

void cuco_emu_mma(const cuco_emu_mma_shape* shape, const cuco_emu_mma_operands* operands)
{
    cuco_emu_collect(~0u, const_cast<cuco_emu_mma_operands*>(operands), cuco_emu::multiply, shape);
}
