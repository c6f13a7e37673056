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
CUCO_TENSOR_UNOBSERVED inline void shareRows(void** lanes, const void* loads)
{
    for (int i = 0; i < *static_cast<const int*>(loads); ++i) {
        char* all[32];
        for (int lane = 0; lane < 32; ++lane)
            all[lane] = lanes[lane] ? static_cast<const Rows*>(lanes[lane])[i].mine : nullptr;
        for (int reader = 0; reader < 32; ++reader)
            if (lanes[reader])
                __builtin_memcpy(static_cast<Rows*>(lanes[reader])[i].all, all, sizeof all);
    }
}

/// What a lane gets of four matrices.
CUCO_TENSOR_UNOBSERVED inline void takeMatrices(uint32_t* to, const Rows& rows, bool transposed)
{
    const int lane = cuco_emu_lane(), g = lane / 4, t = lane % 4;
    for (int i = 0; i < 4; ++i) {
        uint16_t low, high;
        if (transposed) {
            const char *first = rows.all[8 * i + 2 * t] + 2 * g, *second = rows.all[8 * i + 2 * t + 1] + 2 * g;
            __builtin_memcpy(&low, first, 2);
            __builtin_memcpy(&high, second, 2);
        } else {
            const char* pair = rows.all[8 * i + g] + 4 * t;
            __builtin_memcpy(&low, pair, 2);
            __builtin_memcpy(&high, pair + 2, 2);
        }
        to[i] = uint32_t(low) | uint32_t(high) << 16;
    }
}

/// `count` loads at one meeting of the warp. Each lane reads the row that it names.
template <int count>
CUCO_TENSOR_UNOBSERVED inline void load(uint32_t (*to)[4], const SharedAddress* rows, bool transposed)
{
    Rows meeting[count];
    for (int i = 0; i < count; ++i) {
        cuco_emu_account_read(rows[i], 16, __builtin_return_address(0));
        meeting[i].mine = rows[i];
    }
    const int loads = count;
    cuco_emu_collect(~0u, meeting, shareRows, &loads);
    for (int i = 0; i < count; ++i)
        takeMatrices(to[i], meeting[i], transposed);
}

}  // namespace emulated

inline int threadAnew()
{
    return int(threadIdx.x);
}

inline void loadMatrices(uint32_t (&to)[4], SharedAddress row)
{
    emulated::load<1>(&to, &row, false);
}
template <int count>
inline void loadMatrices(uint32_t (&to)[count][4], const SharedAddress (&rows)[count])
{
    emulated::load<count>(to, rows, false);
}

inline void loadMatricesTransposed(uint32_t (&to)[4], SharedAddress row)
{
    emulated::load<1>(&to, &row, true);
}

inline void multiplyAdd(float (&c)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1)
{
    const uint32_t b[2] = {b0, b1};
    cuco_emu_multiply_fragments(c, a, b, 1);
}
template <int count>
inline void multiplyAdd(float (&c)[count][4], const uint32_t (&a)[4], const uint32_t (&b)[count / 2][4])
{
    static_assert(count % 2 == 0);
    cuco_emu_multiply_fragments(&c[0][0], a, &b[0][0], count);
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
