// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cuco_emu/types.h"

#include <math.h>

/// Integer and floating-point intrinsics. Fast variants are computed exactly.

inline int __popc(unsigned x)
{
    return __builtin_popcount(x);
}
inline int __popcll(unsigned long long x)
{
    return __builtin_popcountll(x);
}
inline int __clz(int x)
{
    return x ? __builtin_clz(static_cast<unsigned>(x)) : 32;
}
inline int __clzll(long long x)
{
    return x ? __builtin_clzll(static_cast<unsigned long long>(x)) : 64;
}
inline int __ffs(int x)
{
    return __builtin_ffs(x);
}
inline int __ffsll(long long x)
{
    return __builtin_ffsll(x);
}
inline unsigned __brev(unsigned x)
{
    unsigned result = 0;
    for (int i = 0; i < 32; ++i)
        result |= ((x >> i) & 1u) << (31 - i);
    return result;
}
inline unsigned __fns(unsigned mask, unsigned base, int offset)
{
    int left = offset;
    if (offset == 0)
        return (mask >> base) & 1u ? base : ~0u;
    if (offset > 0) {
        for (unsigned i = base; i < 32; ++i)
            if (((mask >> i) & 1u) && --left == 0)
                return i;
    } else {
        for (int i = static_cast<int>(base); i >= 0; --i)
            if (((mask >> i) & 1u) && ++left == 0)
                return static_cast<unsigned>(i);
    }
    return ~0u;
}
inline unsigned __byte_perm(unsigned x, unsigned y, unsigned selector)
{
    const uint64_t bytes = (static_cast<uint64_t>(y) << 32) | x;
    unsigned result = 0;
    for (int i = 0; i < 4; ++i)
        result |= static_cast<unsigned>((bytes >> (8 * ((selector >> (4 * i)) & 7))) & 0xff) << (8 * i);
    return result;
}
inline unsigned __funnelshift_l(unsigned low, unsigned high, unsigned shift)
{
    return static_cast<unsigned>((((static_cast<uint64_t>(high) << 32) | low) << (shift & 31)) >> 32);
}
inline unsigned __funnelshift_r(unsigned low, unsigned high, unsigned shift)
{
    return static_cast<unsigned>(((static_cast<uint64_t>(high) << 32) | low) >> (shift & 31));
}
inline int __mul24(int a, int b)
{
    return a * b;
}
inline unsigned __umul24(unsigned a, unsigned b)
{
    return a * b;
}
inline unsigned __umulhi(unsigned a, unsigned b)
{
    return static_cast<unsigned>((static_cast<uint64_t>(a) * b) >> 32);
}
inline int __mulhi(int a, int b)
{
    return static_cast<int>((static_cast<int64_t>(a) * b) >> 32);
}
inline unsigned long long __umul64hi(unsigned long long a, unsigned long long b)
{
    __extension__ typedef unsigned __int128 Wide;
    return static_cast<unsigned long long>((static_cast<Wide>(a) * b) >> 64);
}
inline int __dp4a(int a, int b, int c)
{
    for (int i = 0; i < 32; i += 8)
        c += static_cast<int8_t>(a >> i) * static_cast<int8_t>(b >> i);
    return c;
}

inline float __int_as_float(int x)
{
    return __builtin_bit_cast(float, x);
}
inline int __float_as_int(float x)
{
    return __builtin_bit_cast(int, x);
}
inline float __uint_as_float(unsigned x)
{
    return __builtin_bit_cast(float, x);
}
inline unsigned __float_as_uint(float x)
{
    return __builtin_bit_cast(unsigned, x);
}
inline double __longlong_as_double(long long x)
{
    return __builtin_bit_cast(double, x);
}
inline long long __double_as_longlong(double x)
{
    return __builtin_bit_cast(long long, x);
}
inline int __float2int_rn(float x)
{
    return static_cast<int>(nearbyintf(x));
}
inline int __float2int_rz(float x)
{
    return static_cast<int>(x);
}
inline int __float2int_rd(float x)
{
    return static_cast<int>(floorf(x));
}
inline int __float2int_ru(float x)
{
    return static_cast<int>(ceilf(x));
}
inline unsigned __float2uint_rn(float x)
{
    return static_cast<unsigned>(nearbyintf(x));
}
inline float __int2float_rn(int x)
{
    return static_cast<float>(x);
}
inline float __uint2float_rn(unsigned x)
{
    return static_cast<float>(x);
}
inline float __double2float_rn(double x)
{
    return static_cast<float>(x);
}

inline float __fadd_rn(float a, float b)
{
    return a + b;
}
inline float __fsub_rn(float a, float b)
{
    return a - b;
}
inline float __fmul_rn(float a, float b)
{
    return a * b;
}
inline float __fdiv_rn(float a, float b)
{
    return a / b;
}
inline float __fmaf_rn(float a, float b, float c)
{
    return fmaf(a, b, c);
}
inline float __fsqrt_rn(float x)
{
    return sqrtf(x);
}
inline float __frcp_rn(float x)
{
    return 1.0f / x;
}
inline float __fdividef(float a, float b)
{
    return a / b;
}
inline float __expf(float x)
{
    return expf(x);
}
inline float __exp10f(float x)
{
    return powf(10.0f, x);
}
inline float __logf(float x)
{
    return logf(x);
}
inline float __log2f(float x)
{
    return log2f(x);
}
inline float __log10f(float x)
{
    return log10f(x);
}
inline float __sinf(float x)
{
    return sinf(x);
}
inline float __cosf(float x)
{
    return cosf(x);
}
inline float __tanf(float x)
{
    return tanf(x);
}
inline float __powf(float x, float y)
{
    return powf(x, y);
}
inline float __saturatef(float x)
{
    return x > 0.0f ? (x < 1.0f ? x : 1.0f) : 0.0f;
}
inline float rsqrtf(float x)
{
    return 1.0f / sqrtf(x);
}
inline double rsqrt(double x)
{
    return 1.0 / sqrt(x);
}
inline float fdividef(float a, float b)
{
    return a / b;
}
inline float normcdff(float x)
{
    return 0.5f * erfcf(-x * 0.70710678118654752f);
}
inline void sincospif(float x, float* s, float* c)
{
    *s = sinf(x * 3.14159265358979323846f);
    *c = cosf(x * 3.14159265358979323846f);
}

#define CUCO_EMU_MINMAX(type)                 \
    inline constexpr type min(type a, type b) \
    {                                         \
        return b < a ? b : a;                 \
    }                                         \
    inline constexpr type max(type a, type b) \
    {                                         \
        return a < b ? b : a;                 \
    }
CUCO_EMU_MINMAX(int)
CUCO_EMU_MINMAX(unsigned)
CUCO_EMU_MINMAX(long)
CUCO_EMU_MINMAX(unsigned long)
CUCO_EMU_MINMAX(long long)
CUCO_EMU_MINMAX(unsigned long long)
#undef CUCO_EMU_MINMAX
inline float min(float a, float b)
{
    return fminf(a, b);
}
inline float max(float a, float b)
{
    return fmaxf(a, b);
}
inline double min(double a, double b)
{
    return fmin(a, b);
}
inline double max(double a, double b)
{
    return fmax(a, b);
}
#define CUCO_EMU_MIXED(a, b, result)                                \
    inline constexpr result min(a x, b y)                           \
    {                                                               \
        return min(static_cast<result>(x), static_cast<result>(y)); \
    }                                                               \
    inline constexpr result min(b x, a y)                           \
    {                                                               \
        return min(static_cast<result>(x), static_cast<result>(y)); \
    }                                                               \
    inline constexpr result max(a x, b y)                           \
    {                                                               \
        return max(static_cast<result>(x), static_cast<result>(y)); \
    }                                                               \
    inline constexpr result max(b x, a y)                           \
    {                                                               \
        return max(static_cast<result>(x), static_cast<result>(y)); \
    }
CUCO_EMU_MIXED(int, unsigned, unsigned)
CUCO_EMU_MIXED(long, unsigned long, unsigned long)
CUCO_EMU_MIXED(long long, unsigned long long, unsigned long long)
#undef CUCO_EMU_MIXED
