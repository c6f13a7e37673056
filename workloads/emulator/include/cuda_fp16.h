// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cuco_emu/small_float.h"
#include "cuda_runtime.h"

using __half = cuco_emu::Small<cuco_emu::HalfFormat>;
using __half2 = cuco_emu::SmallPair<cuco_emu::HalfFormat>;
using half = __half;
using half2 = __half2;
struct __half_raw {
    unsigned short x;
};

inline __half __float2half(float x)
{
    return x;
}
inline __half __float2half_rn(float x)
{
    return x;
}
inline __half __double2half(double x)
{
    return static_cast<float>(x);
}
inline __half __int2half_rn(int x)
{
    return static_cast<float>(x);
}
inline float __half2float(__half x)
{
    return x;
}
inline __half2 __floats2half2_rn(float x, float y)
{
    return {x, y};
}
inline __half2 __float2half2_rn(float x)
{
    return {x, x};
}
inline __half2 __float22half2_rn(float2 v)
{
    return {v.x, v.y};
}
inline float2 __half22float2(__half2 v)
{
    return {float(v.x), float(v.y)};
}
inline __half2 __halves2half2(__half x, __half y)
{
    return {x, y};
}
inline __half2 make_half2(__half x, __half y)
{
    return {x, y};
}
inline __half2 __half2half2(__half x)
{
    return {x, x};
}
inline __half __low2half(__half2 v)
{
    return v.x;
}
inline __half __high2half(__half2 v)
{
    return v.y;
}
inline unsigned short __half_as_ushort(__half x)
{
    return x.bits;
}
inline short __half_as_short(__half x)
{
    return static_cast<short>(x.bits);
}
inline __half __ushort_as_half(unsigned short x)
{
    return __half::raw(x);
}
