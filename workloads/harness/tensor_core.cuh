// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Tensor cores below nvcuda::wmma: a warp's matrix products with known fragments, so that a result can be the next
// product's operand without leaving the registers, and asynchronous copies into shared memory. sm_80 or newer; on the
// emulated node the same functions are plain C++.
//
// Fragments, for lane = 4 g + t (g = 0 … 7, t = 0 … 3), each register two bf16, the lower half first:
//
//     A  16 × 16 (row, k)   a[0] (g, 2t…2t+1)   a[1] (g+8, 2t…)   a[2] (g, 2t+8…)   a[3] (g+8, 2t+8…)
//     B  16 × 8  (k, col)   b0   (2t…2t+1, g)   b1   (2t+8…2t+9, g)
//     C  16 × 8  (row, col) c[0], c[1] (g, 2t…2t+1)      c[2], c[3] (g+8, 2t…2t+1), float
//
// A's registers are C's of two neighbouring products, packed: a[0], a[1] from the left one, a[2], a[3] from the right.

#include <cuda_bf16.h>
#include <cuda_runtime.h>
#include <stdint.h>

#ifndef __NVCC__
#include "tensor_core_emulated.cuh"
#else

namespace cuco_tensor {

/// Where something lies in shared memory; offsets are added in bytes.
using SharedAddress = uint32_t;

__device__ __forceinline__ SharedAddress sharedAddress(const void* pointer)
{
    return uint32_t(__cvta_generic_to_shared(pointer));
}

/// threadIdx.x, read anew: what follows from it is computed where it is needed and does not stay in registers
/// meanwhile.
__device__ __forceinline__ int threadAnew()
{
    int thread;
    asm volatile("mov.u32 %0, %%tid.x;" : "=r"(thread));
    return thread;
}

/// Four matrices of 8 × 8 bf16. Lane l says where row l % 8 of matrix l / 8 begins, at 16 bytes; to[i] becomes elements
/// (g, 2t…2t+1) of matrix i.
__device__ __forceinline__ void loadMatrices(uint32_t (&to)[4], SharedAddress row)
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
                 : "r"(row)
                 : "memory");
}

/// Several loads at once. On the emulated node they cost little more than one.
template <int count>
__device__ __forceinline__ void loadMatrices(uint32_t (&to)[count][4], const SharedAddress (&rows)[count])
{
#pragma unroll
    for (int i = 0; i < count; ++i)
        loadMatrices(to[i], rows[i]);
}

/// The same of each matrix's transpose: to[i] becomes elements (2t, g) and (2t+1, g) of matrix i as it lies in memory.
__device__ __forceinline__ void loadMatricesTransposed(uint32_t (&to)[4], SharedAddress row)
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
                 : "r"(row)
                 : "memory");
}

/// c += A · B in bf16 with float accumulation, by the whole warp.
__device__ __forceinline__ void multiplyAdd(float (&c)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1)
{
    asm volatile(
        "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
        "{%0, %1, %2, %3};"
        : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

/// Several products at once with the same A: c[2 i] and c[2 i + 1] get those with the 16 columns that b[i] was loaded
/// from. On the emulated node they cost little more than one.
template <int count>
__device__ __forceinline__ void multiplyAdd(float (&c)[count][4], const uint32_t (&a)[4],
                                            const uint32_t (&b)[count / 2][4])
{
#pragma unroll
    for (int i = 0; i < count; ++i)
        multiplyAdd(c[i], a, b[i / 2][i % 2 * 2], b[i / 2][i % 2 * 2 + 1]);
}

/// Two numbers rounded to bf16 in one register, `low` in its lower half.
__device__ __forceinline__ uint32_t packBf16(float low, float high)
{
    uint32_t packed;
    asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(packed) : "f"(high), "f"(low));
    return packed;
}

/// 2 to the power of x within 2⁻²² of it, subnormal results as zero; 0 for minus infinity.
__device__ __forceinline__ float exp2Approximate(float x)
{
    float y;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
}

/// A thread's copies from global into shared memory that go on while it does something else. They are seen by the
/// thread itself after wait, by others after a barrier behind it.
class AsyncCopies {
public:
    /// 16 bytes, aligned to 16 on both sides. Unless `valid`, zeros; `from` is not read then.
    __device__ __forceinline__ void copy16(SharedAddress to, const void* from, bool valid)
    {
        const uint32_t bytes = valid ? 16 : 0;
        asm volatile("cp.async.cg.shared.global.L2::128B [%0], [%1], 16, %2;" ::"r"(to), "l"(from), "r"(bytes)
                     : "memory");
    }
    /// Closes a group of copies.
    __device__ __forceinline__ void commit() { asm volatile("cp.async.commit_group;" ::: "memory"); }
    /// Until all groups but the `open` last ones have arrived.
    template <int open>
    __device__ __forceinline__ void wait()
    {
        asm volatile("cp.async.wait_group %0;" ::"n"(open) : "memory");
    }
};

}  // namespace cuco_tensor

#endif
