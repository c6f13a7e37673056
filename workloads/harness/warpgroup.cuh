// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Matrix products of a warpgroup, four warps whose first one's number is a multiple of four, on Hopper (wgmma). They
// take operands from shared memory and go on while the warps do something else. Device code for sm_90a and the emulated
// node have them; CUCO_WARPGROUP_PRODUCTS is defined there and nowhere else. A source that defines
// CUCO_WARP_PRODUCTS_ONLY does without them everywhere.
//
// A matrix in shared memory lies in panels of 64 columns: a row is 128 bytes in its panel, and its chunk of 16 bytes c
// lies at c xor the row's number modulo 8. Panels begin at multiples of 1024 bytes.
//
// Warp w of the warpgroup has rows 16 w … 16 w + 15 of A and C in its registers, as the fragments A and C of
// tensor_core.cuh.

#include "tensor_core.cuh"

#ifdef CUCO_WARP_PRODUCTS_ONLY
#elif !defined(__NVCC__)
#define CUCO_WARPGROUP_PRODUCTS
#include "warpgroup_emulated.cuh"
#elif defined(__CUDA_ARCH_FEAT_SM90_ALL)
#define CUCO_WARPGROUP_PRODUCTS

namespace cuco_warpgroup {

/// A matrix in shared memory, as the instructions want it described. Bytes are added within a panel.
class Matrix {
public:
    /// `panel_bytes`: from one panel to the next. Without effect where a product does not go beyond a panel.
    __device__ __forceinline__ Matrix(cuco_tensor::SharedAddress begin, uint32_t panel_bytes)
        : descriptor_(uint64_t(begin >> 4) | uint64_t(panel_bytes >> 4) << 16 | rows_together | swizzle)
    {
    }
    __device__ __forceinline__ uint64_t from(uint32_t byte) const { return descriptor_ + (byte >> 4); }

private:
    static constexpr uint64_t rows_together = uint64_t(8 * 128 >> 4) << 32, swizzle = uint64_t(1) << 62;
    uint64_t descriptor_;
};

/// What the thread has stored or copied to shared memory is seen by products behind the next barrier.
__device__ __forceinline__ void publishShared()
{
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

/// Before the first product, and before one whose registers were written since.
__device__ __forceinline__ void begin()
{
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
}

/// Closes a group of products.
__device__ __forceinline__ void commit()
{
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}

/// Until all groups but the `open` last ones are done.
template <int open>
__device__ __forceinline__ void wait()
{
    asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(open) : "memory");
}

/// The compiler leaves these registers alone from before here to after here: around begin and wait.
template <int n>
__device__ __forceinline__ void hold(float (&c)[n][4])
{
#pragma unroll
    for (int i = 0; i < n; ++i)
        asm volatile("" : "+f"(c[i][0]), "+f"(c[i][1]), "+f"(c[i][2]), "+f"(c[i][3])::"memory");
}
template <int n>
__device__ __forceinline__ void hold(uint32_t (&a)[n][4])
{
#pragma unroll
    for (int i = 0; i < n; ++i)
        asm volatile("" : "+r"(a[i][0]), "+r"(a[i][1]), "+r"(a[i][2]), "+r"(a[i][3])::"memory");
}

#define CUCO_TILE(c, i) "+f"((c)[i][0]), "+f"((c)[i][1]), "+f"((c)[i][2]), "+f"((c)[i][3])
#define CUCO_TILES4(c, i) CUCO_TILE(c, i), CUCO_TILE(c, i + 1), CUCO_TILE(c, i + 2), CUCO_TILE(c, i + 3)
#define CUCO_NAMES16 "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15"
#define CUCO_NAMES32 CUCO_NAMES16 ", %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31"
#define CUCO_NAMES64                                                                                       \
    CUCO_NAMES32                                                                                           \
    ", %32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, %48, %49, %50, %51" \
    ", %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63"

/// c (+)= A · B of 64 × 16 and 16 × 8n: A's rows and B's columns are rows in shared memory. Unless `add`, c begins
/// anew.
template <bool add>
__device__ __forceinline__ void multiplyRows(float (&c)[4][4], uint64_t a, uint64_t b)
{
    asm volatile(
        "{.reg .pred p; setp.ne.b32 p, %18, 0; "
        "wgmma.mma_async.sync.aligned.m64n32k16.f32.bf16.bf16 {" CUCO_NAMES16 "}, %16, %17, p, 1, 1, 0, 0;}"
        : CUCO_TILES4(c, 0)
        : "l"(a), "l"(b), "n"(int(add)));
}
template <bool add>
__device__ __forceinline__ void multiplyRows(float (&c)[8][4], uint64_t a, uint64_t b)
{
    asm volatile(
        "{.reg .pred p; setp.ne.b32 p, %34, 0; "
        "wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16 {" CUCO_NAMES32 "}, %32, %33, p, 1, 1, 0, 0;}"
        : CUCO_TILES4(c, 0), CUCO_TILES4(c, 4)
        : "l"(a), "l"(b), "n"(int(add)));
}

/// c += A · B of 64 × 16 and 16 × 8n: A is in registers, B's rows are rows in shared memory.
__device__ __forceinline__ void multiplyAdd(float (&c)[8][4], const uint32_t (&a)[4], uint64_t b)
{
    asm volatile("wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16 {" CUCO_NAMES32
                 "}, {%32, %33, %34, %35}, %36, 1, 1, 1, 1;"
                 : CUCO_TILES4(c, 0), CUCO_TILES4(c, 4)
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b));
}
__device__ __forceinline__ void multiplyAdd(float (&c)[16][4], const uint32_t (&a)[4], uint64_t b)
{
    asm volatile("wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16 {" CUCO_NAMES64
                 "}, {%64, %65, %66, %67}, %68, 1, 1, 1, 1;"
                 : CUCO_TILES4(c, 0), CUCO_TILES4(c, 4), CUCO_TILES4(c, 8), CUCO_TILES4(c, 12)
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b));
}

#undef CUCO_TILE
#undef CUCO_TILES4
#undef CUCO_NAMES16
#undef CUCO_NAMES32
#undef CUCO_NAMES64

}  // namespace cuco_warpgroup

#endif
