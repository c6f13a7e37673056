// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "cuda_runtime.h"

#pragma clang force_cuda_host_device begin
struct __nv_bfloat16 {
    unsigned short bits;
    __nv_bfloat16() = default;
    template <class T>
    __nv_bfloat16(T value);
    template <class T>
    __nv_bfloat16& operator=(T value);
    operator float() const;
};
struct __nv_bfloat162 {
    __nv_bfloat16 x, y;
};
typedef __nv_bfloat16 nv_bfloat16;
typedef __nv_bfloat162 nv_bfloat162;
struct __nv_bfloat16_raw {
    unsigned short x;
};
#define CUCO_ARITHMETIC(op)                                  \
    __nv_bfloat16 operator op(__nv_bfloat16, __nv_bfloat16); \
    __nv_bfloat162 operator op(__nv_bfloat162, __nv_bfloat162);
CUCO_ARITHMETIC(+)
CUCO_ARITHMETIC(-)
CUCO_ARITHMETIC(*)
CUCO_ARITHMETIC(/)
#undef CUCO_ARITHMETIC
__nv_bfloat16& operator+=(__nv_bfloat16&, __nv_bfloat16);
__nv_bfloat16& operator*=(__nv_bfloat16&, __nv_bfloat16);
bool operator<(__nv_bfloat16, __nv_bfloat16);
bool operator>(__nv_bfloat16, __nv_bfloat16);
bool operator==(__nv_bfloat16, __nv_bfloat16);
__nv_bfloat16 __float2bfloat16(float);
__nv_bfloat16 __float2bfloat16_rn(float);
__nv_bfloat16 __float2bfloat16_rz(float);
__nv_bfloat16 __double2bfloat16(double);
__nv_bfloat16 __int2bfloat16_rn(int);
float __bfloat162float(__nv_bfloat16);
__nv_bfloat162 __floats2bfloat162_rn(float, float);
__nv_bfloat162 __float2bfloat162_rn(float);
__nv_bfloat162 __float22bfloat162_rn(float2);
__nv_bfloat162 __halves2bfloat162(__nv_bfloat16, __nv_bfloat16);
__nv_bfloat162 __bfloat162bfloat162(__nv_bfloat16);
__nv_bfloat162 make_bfloat162(__nv_bfloat16, __nv_bfloat16);
__nv_bfloat16 __low2bfloat16(__nv_bfloat162);
__nv_bfloat16 __high2bfloat16(__nv_bfloat162);
float __low2float(__nv_bfloat162);
float __high2float(__nv_bfloat162);
unsigned short __bfloat16_as_ushort(__nv_bfloat16);
short __bfloat16_as_short(__nv_bfloat16);
__nv_bfloat16 __ushort_as_bfloat16(unsigned short);
__nv_bfloat16 __hadd(__nv_bfloat16, __nv_bfloat16);
__nv_bfloat16 __hsub(__nv_bfloat16, __nv_bfloat16);
__nv_bfloat16 __hmul(__nv_bfloat16, __nv_bfloat16);
__nv_bfloat16 __hfma(__nv_bfloat16, __nv_bfloat16, __nv_bfloat16);
__nv_bfloat16 __hmax(__nv_bfloat16, __nv_bfloat16);
__nv_bfloat16 __hmin(__nv_bfloat16, __nv_bfloat16);
__nv_bfloat162 __hadd2(__nv_bfloat162, __nv_bfloat162);
__nv_bfloat162 __hmul2(__nv_bfloat162, __nv_bfloat162);
__nv_bfloat162 __hfma2(__nv_bfloat162, __nv_bfloat162, __nv_bfloat162);
__nv_bfloat162 __hmax2(__nv_bfloat162, __nv_bfloat162);
float2 __bfloat1622float2(__nv_bfloat162);
#pragma clang force_cuda_host_device end
