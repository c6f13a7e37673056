// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// tensor_core.cuh on the emulated node. A warp's product is computed by the lane that comes last; copies land in shared
// memory when they are waited for and no sooner, so that a missing wait shows.

#include <cuda_runtime.h>

namespace cuco_tensor {

using SharedAddress = char*;

inline SharedAddress sharedAddress(const void* pointer)
{
    return static_cast<char*>(const_cast<void*>(pointer));
}

namespace emulated {

#define CUCO_TENSOR_UNOBSERVED __attribute__((noinline, no_sanitize("thread"), optimize("O3")))

struct Rows {
    char* mine;
    char* all[32];
};

/// Every lane learns the addresses that all lanes brought.
CUCO_TENSOR_UNOBSERVED inline void shareRows(void** lanes, const void*)
{
    for (int reader = 0; reader < 32; ++reader) {
        auto* to = static_cast<Rows*>(lanes[reader]);
        for (int lane = 0; to && lane < 32; ++lane)
            to->all[lane] = lanes[lane] ? static_cast<const Rows*>(lanes[lane])->mine : nullptr;
    }
}

/// What a lane reads of four matrices, counted as its reads.
CUCO_TENSOR_UNOBSERVED inline void readMatrices(uint32_t* to, const Rows& rows, bool transposed)
{
    const void* site = __builtin_return_address(0);
    const int lane = cuco_emu_lane(), g = lane / 4, t = lane % 4;
    for (int i = 0; i < 4; ++i) {
        uint16_t low, high;
        if (transposed) {
            const char *first = rows.all[8 * i + 2 * t] + 2 * g, *second = rows.all[8 * i + 2 * t + 1] + 2 * g;
            cuco_emu_account_read(first, 2, site);
            cuco_emu_account_read(second, 2, site);
            __builtin_memcpy(&low, first, 2);
            __builtin_memcpy(&high, second, 2);
        } else {
            const char* pair = rows.all[8 * i + g] + 4 * t;
            cuco_emu_account_read(pair, 4, site);
            __builtin_memcpy(&low, pair, 2);
            __builtin_memcpy(&high, pair + 2, 2);
        }
        to[i] = uint32_t(low) | uint32_t(high) << 16;
    }
}

struct Operands {
    float* c;
    const uint32_t* a;
    uint32_t b[2];
};

/// c += A · B from the lanes' fragments.
CUCO_TENSOR_UNOBSERVED inline void multiplyFragments(void** lanes, const void*)
{
    float a[16][16], b[16][8], c[16][8];
    for (int lane = 0; lane < 32; ++lane) {
        const auto& operands = *static_cast<const Operands*>(lanes[lane]);
        const int g = lane / 4, t = lane % 4;
        for (int half = 0; half < 2; ++half) {
            for (int i = 0; i < 4; ++i) {
                const uint32_t bits = half ? operands.a[i] & 0xffff0000u : operands.a[i] << 16;
                __builtin_memcpy(&a[g + i % 2 * 8][2 * t + i / 2 * 8 + half], &bits, 4);
            }
            for (int i = 0; i < 2; ++i) {
                const uint32_t bits = half ? operands.b[i] & 0xffff0000u : operands.b[i] << 16;
                __builtin_memcpy(&b[2 * t + 8 * i + half][g], &bits, 4);
                c[g + 8 * i][2 * t + half] = operands.c[2 * i + half];
            }
        }
    }
    for (int row = 0; row < 16; ++row)
        for (int k = 0; k < 16; ++k)
            for (int column = 0; column < 8; ++column)
                c[row][column] += a[row][k] * b[k][column];
    for (int lane = 0; lane < 32; ++lane) {
        const auto& operands = *static_cast<const Operands*>(lanes[lane]);
        for (int i = 0; i < 4; ++i)
            operands.c[i] = c[lane / 4 + i / 2 * 8][2 * (lane % 4) + i % 2];
    }
    cuco_emu_account_flops(2.0 * 16 * 8 * 16);
}

CUCO_TENSOR_UNOBSERVED inline void load(uint32_t* to, SharedAddress row, bool transposed)
{
    Rows rows;
    rows.mine = row;
    cuco_emu_collect(~0u, &rows, shareRows, nullptr);
    readMatrices(to, rows, transposed);
}

}  // namespace emulated

inline int threadAnew()
{
    return int(threadIdx.x);
}

inline void loadMatrices(uint32_t (&to)[4], SharedAddress row)
{
    emulated::load(to, row, false);
}

inline void loadMatricesTransposed(uint32_t (&to)[4], SharedAddress row)
{
    emulated::load(to, row, true);
}

inline void multiplyAdd(float (&c)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1)
{
    emulated::Operands operands{c, a, {b0, b1}};
    cuco_emu_collect(~0u, &operands, emulated::multiplyFragments, nullptr);
}

inline uint32_t packBf16(float low, float high)
{
    const __nv_bfloat16 parts[2] = {__float2bfloat16(low), __float2bfloat16(high)};
    uint32_t packed;
    __builtin_memcpy(&packed, parts, 4);
    return packed;
}

inline float exp2Approximate(float x)
{
    const float y = exp2f(x);
    return y < 1.17549435e-38f ? 0.0f : y;
}

class AsyncCopies {
public:
    AsyncCopies() = default;
    AsyncCopies(const AsyncCopies&) = delete;
    AsyncCopies& operator=(const AsyncCopies&) = delete;

    void copy16(SharedAddress to, const void* from, bool valid)
    {
        if (used_ == most)
            __trap();
        Copy& copy = copies_[used_++];
        copy.to = to;
        copy.value = valid ? *static_cast<const uint4*>(from) : make_uint4(0, 0, 0, 0);
    }
    void commit()
    {
        if (groups_ == most_groups)
            __trap();
        group_end_[groups_++] = used_;
    }
    template <int open>
    void wait()
    {
        if (groups_ <= open)
            return;
        const int arrived = groups_ - open, end = group_end_[arrived - 1];
        for (int i = 0; i < end; ++i)
            *reinterpret_cast<uint4*>(copies_[i].to) = copies_[i].value;
        for (int i = end; i < used_; ++i)
            copies_[i - end] = copies_[i];
        used_ -= end;
        for (int i = arrived; i < groups_; ++i)
            group_end_[i - arrived] = group_end_[i] - end;
        groups_ -= arrived;
    }

private:
    struct Copy {
        SharedAddress to;
        uint4 value;
    };
    static constexpr int most = 192, most_groups = 8;
    Copy copies_[most];
    int group_end_[most_groups] = {};
    int used_ = 0, groups_ = 0;
};

}  // namespace cuco_tensor
