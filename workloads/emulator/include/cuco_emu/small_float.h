// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cuco_emu/types.h"

#include <math.h>

namespace cuco_emu {

inline uint32_t float_bits(float value)
{
    return __builtin_bit_cast(uint32_t, value);
}
inline float bits_float(uint32_t bits)
{
    return __builtin_bit_cast(float, bits);
}

struct Bf16Format {
    static uint16_t from_float(float value)
    {
        const uint32_t bits = float_bits(value);
        if ((bits & 0x7fffffffu) > 0x7f800000u)
            return 0x7fff;
        return static_cast<uint16_t>((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16);
    }
    static float to_float(uint16_t bits) { return bits_float(static_cast<uint32_t>(bits) << 16); }
};

struct HalfFormat {
    static uint16_t from_float(float value)
    {
        const uint32_t bits = float_bits(value);
        const uint32_t sign = (bits >> 16) & 0x8000u, magnitude = bits & 0x7fffffffu;
        if (magnitude > 0x7f800000u)
            return 0x7fff;
        if (magnitude >= 0x477ff000u)  // rounds to more than the largest half
            return static_cast<uint16_t>(sign | 0x7c00u);
        if (magnitude < 0x38800000u) {  // subnormal: adding 0.5 leaves the rounded value in the low bits
            const float shifted = bits_float(magnitude) + 0.5f;
            return static_cast<uint16_t>(sign | (float_bits(shifted) - 0x3f000000u));
        }
        const uint32_t rounded = magnitude + 0xfffu + ((magnitude >> 13) & 1u);
        return static_cast<uint16_t>(sign | ((rounded - 0x38000000u) >> 13));
    }
    static float to_float(uint16_t bits)
    {
        const uint32_t sign = static_cast<uint32_t>(bits & 0x8000u) << 16;
        const uint32_t exponent = (bits >> 10) & 0x1fu, mantissa = bits & 0x3ffu;
        if (exponent == 0x1f)
            return bits_float(sign | 0x7f800000u | (mantissa << 13));
        if (exponent != 0)
            return bits_float(sign | ((exponent + 112) << 23) | (mantissa << 13));
        const float value = static_cast<float>(mantissa) * 0x1p-24f;
        return sign ? -value : value;
    }
};

/// A 16-bit floating-point number. Arithmetic rounds once, from float, to nearest even.
template <class Format>
struct __attribute__((aligned(2))) Small {
    uint16_t bits;

    Small() = default;
    template <class T>
    requires requires(T value) { static_cast<float>(value); }
    Small(T value) : bits(Format::from_float(static_cast<float>(value))) {}
    operator float() const { return Format::to_float(bits); }
    static Small raw(uint16_t value)
    {
        Small result;
        result.bits = value;
        return result;
    }
};

template <class F>
inline Small<F> operator+(Small<F> a, Small<F> b)
{
    return float(a) + float(b);
}
template <class F>
inline Small<F> operator-(Small<F> a, Small<F> b)
{
    return float(a) - float(b);
}
template <class F>
inline Small<F> operator*(Small<F> a, Small<F> b)
{
    return float(a) * float(b);
}
template <class F>
inline Small<F> operator/(Small<F> a, Small<F> b)
{
    return float(a) / float(b);
}
template <class F>
inline Small<F> operator-(Small<F> a)
{
    return Small<F>::raw(static_cast<uint16_t>(a.bits ^ 0x8000u));
}
template <class F, class T>
inline Small<F>& operator+=(Small<F>& a, const T& b)
{
    return a = float(a) + float(b);
}
template <class F, class T>
inline Small<F>& operator-=(Small<F>& a, const T& b)
{
    return a = float(a) - float(b);
}
template <class F, class T>
inline Small<F>& operator*=(Small<F>& a, const T& b)
{
    return a = float(a) * float(b);
}
template <class F, class T>
inline Small<F>& operator/=(Small<F>& a, const T& b)
{
    return a = float(a) / float(b);
}
template <class F>
inline bool operator==(Small<F> a, Small<F> b)
{
    return float(a) == float(b);
}
template <class F>
inline bool operator!=(Small<F> a, Small<F> b)
{
    return float(a) != float(b);
}
template <class F>
inline bool operator<(Small<F> a, Small<F> b)
{
    return float(a) < float(b);
}
template <class F>
inline bool operator>(Small<F> a, Small<F> b)
{
    return float(a) > float(b);
}
template <class F>
inline bool operator<=(Small<F> a, Small<F> b)
{
    return float(a) <= float(b);
}
template <class F>
inline bool operator>=(Small<F> a, Small<F> b)
{
    return float(a) >= float(b);
}

template <class F>
struct __attribute__((aligned(4))) SmallPair {
    Small<F> x, y;
};
template <class F>
inline SmallPair<F> operator+(SmallPair<F> a, SmallPair<F> b)
{
    return {a.x + b.x, a.y + b.y};
}
template <class F>
inline SmallPair<F> operator-(SmallPair<F> a, SmallPair<F> b)
{
    return {a.x - b.x, a.y - b.y};
}
template <class F>
inline SmallPair<F> operator*(SmallPair<F> a, SmallPair<F> b)
{
    return {a.x * b.x, a.y * b.y};
}

}  // namespace cuco_emu

#define CUCO_EMU_SMALL \
    template <class F> \
    inline cuco_emu::Small<F>
#define CUCO_EMU_PAIR  \
    template <class F> \
    inline cuco_emu::SmallPair<F>
#define CUCO_EMU_TEST  \
    template <class F> \
    inline bool

CUCO_EMU_SMALL __hadd(cuco_emu::Small<F> a, cuco_emu::Small<F> b)
{
    return a + b;
}
CUCO_EMU_SMALL __hsub(cuco_emu::Small<F> a, cuco_emu::Small<F> b)
{
    return a - b;
}
CUCO_EMU_SMALL __hmul(cuco_emu::Small<F> a, cuco_emu::Small<F> b)
{
    return a * b;
}
CUCO_EMU_SMALL __hdiv(cuco_emu::Small<F> a, cuco_emu::Small<F> b)
{
    return a / b;
}
CUCO_EMU_SMALL __hneg(cuco_emu::Small<F> a)
{
    return -a;
}
CUCO_EMU_SMALL __habs(cuco_emu::Small<F> a)
{
    return cuco_emu::Small<F>::raw(static_cast<uint16_t>(a.bits & 0x7fffu));
}
CUCO_EMU_SMALL __hfma(cuco_emu::Small<F> a, cuco_emu::Small<F> b, cuco_emu::Small<F> c)
{
    return fma(double(float(a)), double(float(b)), double(float(c)));
}
CUCO_EMU_SMALL __hmax(cuco_emu::Small<F> a, cuco_emu::Small<F> b)
{
    return fmaxf(a, b);
}
CUCO_EMU_SMALL __hmin(cuco_emu::Small<F> a, cuco_emu::Small<F> b)
{
    return fminf(a, b);
}
CUCO_EMU_SMALL hexp(cuco_emu::Small<F> a)
{
    return expf(a);
}
CUCO_EMU_SMALL hlog(cuco_emu::Small<F> a)
{
    return logf(a);
}
CUCO_EMU_SMALL hsqrt(cuco_emu::Small<F> a)
{
    return sqrtf(a);
}
CUCO_EMU_SMALL hrsqrt(cuco_emu::Small<F> a)
{
    return 1.0f / sqrtf(a);
}
CUCO_EMU_SMALL hrcp(cuco_emu::Small<F> a)
{
    return 1.0f / float(a);
}
CUCO_EMU_SMALL htanh(cuco_emu::Small<F> a)
{
    return tanhf(a);
}
CUCO_EMU_TEST __heq(cuco_emu::Small<F> a, cuco_emu::Small<F> b)
{
    return a == b;
}
CUCO_EMU_TEST __hne(cuco_emu::Small<F> a, cuco_emu::Small<F> b)
{
    return a != b;
}
CUCO_EMU_TEST __hlt(cuco_emu::Small<F> a, cuco_emu::Small<F> b)
{
    return a < b;
}
CUCO_EMU_TEST __hle(cuco_emu::Small<F> a, cuco_emu::Small<F> b)
{
    return a <= b;
}
CUCO_EMU_TEST __hgt(cuco_emu::Small<F> a, cuco_emu::Small<F> b)
{
    return a > b;
}
CUCO_EMU_TEST __hge(cuco_emu::Small<F> a, cuco_emu::Small<F> b)
{
    return a >= b;
}
CUCO_EMU_TEST __hisnan(cuco_emu::Small<F> a)
{
    return __builtin_isnan(float(a));
}
CUCO_EMU_TEST __hisinf(cuco_emu::Small<F> a)
{
    return __builtin_isinf(float(a));
}
CUCO_EMU_PAIR __hadd2(cuco_emu::SmallPair<F> a, cuco_emu::SmallPair<F> b)
{
    return a + b;
}
CUCO_EMU_PAIR __hsub2(cuco_emu::SmallPair<F> a, cuco_emu::SmallPair<F> b)
{
    return a - b;
}
CUCO_EMU_PAIR __hmul2(cuco_emu::SmallPair<F> a, cuco_emu::SmallPair<F> b)
{
    return a * b;
}
CUCO_EMU_PAIR __hfma2(cuco_emu::SmallPair<F> a, cuco_emu::SmallPair<F> b, cuco_emu::SmallPair<F> c)
{
    return {__hfma(a.x, b.x, c.x), __hfma(a.y, b.y, c.y)};
}
CUCO_EMU_PAIR __hmax2(cuco_emu::SmallPair<F> a, cuco_emu::SmallPair<F> b)
{
    return {__hmax(a.x, b.x), __hmax(a.y, b.y)};
}
CUCO_EMU_PAIR __hmin2(cuco_emu::SmallPair<F> a, cuco_emu::SmallPair<F> b)
{
    return {__hmin(a.x, b.x), __hmin(a.y, b.y)};
}
template <class F>
inline float __low2float(cuco_emu::SmallPair<F> a)
{
    return a.x;
}
template <class F>
inline float __high2float(cuco_emu::SmallPair<F> a)
{
    return a.y;
}

#undef CUCO_EMU_SMALL
#undef CUCO_EMU_PAIR
#undef CUCO_EMU_TEST
