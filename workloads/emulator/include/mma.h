// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cuda_bf16.h"
#include "cuda_fp16.h"

extern "C" {

/// One warp-wide product; see runtime/wmma.cpp. Elements of a fragment lie in the order of its layout, an equal
/// part on each lane.
struct cuco_emu_mma_shape {
    int m, n, k;
    int input;        ///< 0 bf16, 1 half, 2 float
    int accumulator;  ///< 0 float, 1 half
    int a_column_major, b_column_major;
};
struct cuco_emu_mma_operands {
    const void *a, *b, *c;
    void* d;
};
void cuco_emu_mma(const cuco_emu_mma_shape* shape, const cuco_emu_mma_operands* operands);
}

namespace nvcuda {
namespace wmma {

struct matrix_a {};
struct matrix_b {};
struct accumulator {};
struct row_major {};
struct col_major {};
enum layout_t { mem_row_major, mem_col_major };
namespace precision {
struct tf32 {};
}  // namespace precision

template <class T>
struct storage_element {
    using type = T;
};
template <>
struct storage_element<precision::tf32> {
    using type = float;
};

template <class Use, int m, int n, int k>
inline constexpr int rows_of = m;
template <int m, int n, int k>
inline constexpr int rows_of<matrix_b, m, n, k> = k;
template <class Use, int m, int n, int k>
inline constexpr int columns_of = n;
template <int m, int n, int k>
inline constexpr int columns_of<matrix_a, m, n, k> = k;

template <class Layout>
inline constexpr int is_column_major = 0;
template <>
inline constexpr int is_column_major<col_major> = 1;

template <class Use, int m, int n, int k, class T, class Layout = void>
struct fragment {
    using element_type = typename storage_element<T>::type;
    static constexpr int rows = rows_of<Use, m, n, k>, columns = columns_of<Use, m, n, k>;
    static constexpr int num_elements = rows * columns / 32, num_storage_elements = num_elements;
    element_type x[num_elements];
};

/// The lane's part of a fragment: `count` consecutive elements in the fragment's own order.
template <class E>
CUCO_EMU_UNOBSERVED void load_part(E* x, int count, const E* from, unsigned stride, int line, int own_column_major,
                                   int column_major)
{
    const int first = cuco_emu_lane() * count;
    const void* site = __builtin_return_address(0);
    for (int done = 0; done < count;) {
        const int major = (first + done) / line, minor = (first + done) % line;
        if (own_column_major == column_major) {
            const int run = count - done < line - minor ? count - done : line - minor;
            const E* source = from + static_cast<size_t>(major) * stride + minor;
            cuco_emu_account_read(source, static_cast<size_t>(run) * sizeof(E), site);
            __builtin_memcpy(x + done, source, static_cast<size_t>(run) * sizeof(E));
            done += run;
        } else {
            const E* source = from + static_cast<size_t>(minor) * stride + major;
            cuco_emu_account_read(source, sizeof(E), site);
            x[done++] = *source;
        }
    }
}

template <class E>
CUCO_EMU_UNOBSERVED void store_part(const E* x, int count, E* to, unsigned stride, int line, int column_major)
{
    const int first = cuco_emu_lane() * count;
    const void* site = __builtin_return_address(0);
    for (int done = 0; done < count;) {
        const int major = (first + done) / line, minor = (first + done) % line;
        if (!column_major) {
            const int run = count - done < line - minor ? count - done : line - minor;
            E* target = to + static_cast<size_t>(major) * stride + minor;
            cuco_emu_account_write(target, static_cast<size_t>(run) * sizeof(E), site);
            __builtin_memcpy(target, x + done, static_cast<size_t>(run) * sizeof(E));
            done += run;
        } else {
            E* target = to + static_cast<size_t>(minor) * stride + major;
            cuco_emu_account_write(target, sizeof(E), site);
            *target = x[done++];
        }
    }
}

template <class Use, int m, int n, int k, class T, class Layout>
inline void load_matrix_sync(fragment<Use, m, n, k, T, Layout>& part, const typename storage_element<T>::type* from,
                             unsigned stride)
{
    using Part = fragment<Use, m, n, k, T, Layout>;
    constexpr int column_major = is_column_major<Layout>;
    load_part(part.x, Part::num_elements, from, stride, column_major ? Part::rows : Part::columns, column_major,
              column_major);
}

template <int m, int n, int k, class T>
inline void load_matrix_sync(fragment<accumulator, m, n, k, T>& part, const T* from, unsigned stride, layout_t layout)
{
    using Part = fragment<accumulator, m, n, k, T>;
    load_part(part.x, Part::num_elements, from, stride, Part::columns, 0, layout == mem_col_major);
}

template <int m, int n, int k, class T>
inline void store_matrix_sync(T* to, const fragment<accumulator, m, n, k, T>& part, unsigned stride, layout_t layout)
{
    using Part = fragment<accumulator, m, n, k, T>;
    store_part(part.x, Part::num_elements, to, stride, Part::columns, layout == mem_col_major);
}

template <class Use, int m, int n, int k, class T, class Layout, class V>
inline void fill_fragment(fragment<Use, m, n, k, T, Layout>& part, const V& value)
{
    for (auto& x : part.x)
        x = value;
}

template <class T>
inline constexpr int input_number = 0;
template <>
inline constexpr int input_number<__half> = 1;
template <>
inline constexpr int input_number<precision::tf32> = 2;
template <class T>
inline constexpr int accumulator_number = 0;
template <>
inline constexpr int accumulator_number<__half> = 1;

template <int m, int n, int k, class T, class LayoutA, class LayoutB, class C>
inline void mma_sync(fragment<accumulator, m, n, k, C>& d, const fragment<matrix_a, m, n, k, T, LayoutA>& a,
                     const fragment<matrix_b, m, n, k, T, LayoutB>& b, const fragment<accumulator, m, n, k, C>& c)
{
    static constexpr cuco_emu_mma_shape shape = {
        m, n, k, input_number<T>, accumulator_number<C>, is_column_major<LayoutA>, is_column_major<LayoutB>};
    const cuco_emu_mma_operands operands = {a.x, b.x, c.x, d.x};
    cuco_emu_mma(&shape, &operands);
}

inline float __float_to_tf32(float x)
{
    return cuco_emu::bits_float((cuco_emu::float_bits(x) + 0x1000u) & ~0x1fffu);
}

}  // namespace wmma
}  // namespace nvcuda
