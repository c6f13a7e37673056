// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#define CUCO_VECTOR(base, name)                                   \
    struct name##1                                                \
    {                                                             \
        base x;                                                   \
    };                                                            \
    struct name##2                                                \
    {                                                             \
        base x, y;                                                \
    };                                                            \
    struct name##3                                                \
    {                                                             \
        base x, y, z;                                             \
    };                                                            \
    struct name##4                                                \
    {                                                             \
        base x, y, z, w;                                          \
    };                                                            \
    inline name##1 make_##name##1(base x)                         \
    {                                                             \
        return {x};                                               \
    }                                                             \
    inline name##2 make_##name##2(base x, base y)                 \
    {                                                             \
        return {x, y};                                            \
    }                                                             \
    inline name##3 make_##name##3(base x, base y, base z)         \
    {                                                             \
        return {x, y, z};                                         \
    }                                                             \
    inline name##4 make_##name##4(base x, base y, base z, base w) \
    {                                                             \
        return {x, y, z, w};                                      \
    }
CUCO_VECTOR(signed char, char)
CUCO_VECTOR(unsigned char, uchar)
CUCO_VECTOR(short, short)
CUCO_VECTOR(unsigned short, ushort)
CUCO_VECTOR(int, int)
CUCO_VECTOR(unsigned, uint)
CUCO_VECTOR(long, long)
CUCO_VECTOR(unsigned long, ulong)
CUCO_VECTOR(long long, longlong)
CUCO_VECTOR(unsigned long long, ulonglong)
CUCO_VECTOR(float, float)
CUCO_VECTOR(double, double)
#undef CUCO_VECTOR

struct dim3 {
    unsigned x, y, z;
    constexpr dim3(unsigned vx = 1, unsigned vy = 1, unsigned vz = 1) : x(vx), y(vy), z(vz) {}
    constexpr dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {}
    constexpr operator uint3() const { return {x, y, z}; }
};
extern const uint3 threadIdx, blockIdx;
extern const dim3 blockDim, gridDim;
inline constexpr int warpSize = 32;
