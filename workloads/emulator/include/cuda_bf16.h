// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cuco_emu/small_float.h"
#include "cuda_runtime.h"

using __nv_bfloat16 = cuco_emu::Small<cuco_emu::Bf16Format>;
using __nv_bfloat162 = cuco_emu::SmallPair<cuco_emu::Bf16Format>;
using nv_bfloat16 = __nv_bfloat16;
using nv_bfloat162 = __nv_bfloat162;
struct __nv_bfloat16_raw {
    unsigned short x;
};

inline __nv_bfloat16 __float2bfloat16(float x)
{
    return x;
}
inline __nv_bfloat16 __float2bfloat16_rn(float x)
{
    return x;
}
inline __nv_bfloat16 __float2bfloat16_rz(float x)
{
    return __nv_bfloat16::raw(static_cast<uint16_t>(cuco_emu::float_bits(x) >> 16));
}
inline __nv_bfloat16 __double2bfloat16(double x)
{
    return static_cast<float>(x);
}
inline __nv_bfloat16 __int2bfloat16_rn(int x)
{
    return static_cast<float>(x);
}
inline float __bfloat162float(__nv_bfloat16 x)
{
    return x;
}
inline __nv_bfloat162 __floats2bfloat162_rn(float x, float y)
{
    return {x, y};
}
inline __nv_bfloat162 __float2bfloat162_rn(float x)
{
    return {x, x};
}
inline __nv_bfloat162 __float22bfloat162_rn(float2 v)
{
    return {v.x, v.y};
}
inline float2 __bfloat1622float2(__nv_bfloat162 v)
{
    return {float(v.x), float(v.y)};
}
inline __nv_bfloat162 __halves2bfloat162(__nv_bfloat16 x, __nv_bfloat16 y)
{
    return {x, y};
}
inline __nv_bfloat162 make_bfloat162(__nv_bfloat16 x, __nv_bfloat16 y)
{
    return {x, y};
}
inline __nv_bfloat162 __bfloat162bfloat162(__nv_bfloat16 x)
{
    return {x, x};
}
inline __nv_bfloat16 __low2bfloat16(__nv_bfloat162 v)
{
    return v.x;
}
inline __nv_bfloat16 __high2bfloat16(__nv_bfloat162 v)
{
    return v.y;
}
inline unsigned short __bfloat16_as_ushort(__nv_bfloat16 x)
{
    return x.bits;
}
inline short __bfloat16_as_short(__nv_bfloat16 x)
{
    return static_cast<short>(x.bits);
}
inline __nv_bfloat16 __ushort_as_bfloat16(unsigned short x)
{
    return __nv_bfloat16::raw(x);
}
