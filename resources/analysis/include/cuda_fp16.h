// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "cuda_runtime.h"

#pragma clang force_cuda_host_device begin
struct __half {
    unsigned short bits;
    __half() = default;
    template <class T>
    __half(T value);
    template <class T>
    __half& operator=(T value);
    operator float() const;
};
struct __half2 {
    __half x, y;
};
typedef __half half;
typedef __half2 half2;
struct __half_raw {
    unsigned short x;
};
#define CUCO_ARITHMETIC(op)             \
    __half operator op(__half, __half); \
    __half2 operator op(__half2, __half2);
CUCO_ARITHMETIC(+)
CUCO_ARITHMETIC(-)
CUCO_ARITHMETIC(*)
CUCO_ARITHMETIC(/)
#undef CUCO_ARITHMETIC
__half& operator+=(__half&, __half);
__half& operator*=(__half&, __half);
bool operator<(__half, __half);
bool operator>(__half, __half);
bool operator==(__half, __half);
__half __float2half(float);
__half __float2half_rn(float);
__half __float2half_rz(float);
__half __double2half(double);
__half __int2half_rn(int);
float __half2float(__half);
__half2 __floats2half2_rn(float, float);
__half2 __float2half2_rn(float);
__half2 __float22half2_rn(float2);
__half2 __halves2half2(__half, __half);
__half2 __half2half2(__half);
__half2 make_half2(__half, __half);
__half __low2half(__half2);
__half __high2half(__half2);
float __low2float(__half2);
float __high2float(__half2);
unsigned short __half_as_ushort(__half);
short __half_as_short(__half);
__half __ushort_as_half(unsigned short);
__half __hadd(__half, __half);
__half __hsub(__half, __half);
__half __hmul(__half, __half);
__half __hfma(__half, __half, __half);
__half __hmax(__half, __half);
__half __hmin(__half, __half);
__half2 __hadd2(__half2, __half2);
__half2 __hmul2(__half2, __half2);
__half2 __hfma2(__half2, __half2, __half2);
__half2 __hmax2(__half2, __half2);
float2 __half22float2(__half2);
typedef __half nv_half;
#pragma clang force_cuda_host_device end
