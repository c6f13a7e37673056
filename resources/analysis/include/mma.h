// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "cuda_bf16.h"
#include "cuda_fp16.h"

#pragma clang force_cuda_host_device begin
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
template <class Use, int m, int n, int k, class T, class Layout = void>
struct fragment {
    using element_type = T;
    static constexpr int num_elements = 16, num_storage_elements = 16;
    T x[16];
};
template <class F, class T>
void load_matrix_sync(F& part, const T* from, unsigned stride);
template <class F, class T>
void load_matrix_sync(F& part, const T* from, unsigned stride, layout_t layout);
template <class T, class F>
void store_matrix_sync(T* to, const F& part, unsigned stride, layout_t layout);
template <class F, class V>
void fill_fragment(F& part, const V& value);
template <class D, class A, class B, class C>
void mma_sync(D& d, const A& a, const B& b, const C& c);
float __float_to_tf32(float);
}  // namespace wmma
}  // namespace nvcuda
#pragma clang force_cuda_host_device end
