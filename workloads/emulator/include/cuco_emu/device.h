// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cuco_emu/abi.h"

/// Synchronisation, warp intrinsics and atomics of the device language.

inline constexpr int warpSize = 32;

__forceinline__ void __syncthreads()
{
    cuco_emu_block_barrier(0, 0, 0, 0);
}
__forceinline__ int __syncthreads_count(int predicate)
{
    return cuco_emu_block_barrier(0, 0, 1, predicate);
}
__forceinline__ int __syncthreads_and(int predicate)
{
    return cuco_emu_block_barrier(0, 0, 2, predicate);
}
__forceinline__ int __syncthreads_or(int predicate)
{
    return cuco_emu_block_barrier(0, 0, 3, predicate);
}
__forceinline__ void __barrier_sync(unsigned id)
{
    cuco_emu_block_barrier(static_cast<int>(id), 0, 0, 0);
}
__forceinline__ void __barrier_sync_count(unsigned id, unsigned threads)
{
    cuco_emu_block_barrier(static_cast<int>(id), static_cast<int>(threads), 0, 0);
}
__forceinline__ void __syncwarp(unsigned mask = ~0u)
{
    cuco_emu_exchange(cuco_emu_sync, mask, 0, 0);
}

__forceinline__ void __threadfence_block()
{
    cuco_emu_fence(0, __ATOMIC_SEQ_CST);
}
__forceinline__ void __threadfence()
{
    cuco_emu_fence(1, __ATOMIC_SEQ_CST);
}
__forceinline__ void __threadfence_system()
{
    cuco_emu_fence(2, __ATOMIC_SEQ_CST);
}

__forceinline__ void __nanosleep(unsigned nanoseconds)
{
    cuco_emu_nanosleep(nanoseconds);
}
__forceinline__ long long clock64()
{
    return cuco_emu_clock_cycles();
}
__forceinline__ unsigned long long globaltimer()
{
    return static_cast<unsigned long long>(cuco_emu_clock_ns());
}
[[noreturn]] __forceinline__ void __trap()
{
    cuco_emu_trap("__trap()");
}
__forceinline__ void __brkpt() {}

namespace cuco_emu {

template <class T>
__forceinline__ uint64_t to_word(T value)
{
    static_assert(sizeof(T) <= 8, "warp intrinsics take values of at most 8 bytes");
    uint64_t word = 0;
    __builtin_memcpy(&word, &value, sizeof(T));
    return word;
}

template <class T>
__forceinline__ T from_word(uint64_t word)
{
    T value;
    __builtin_memcpy(&value, &word, sizeof(T));
    return value;
}

template <class T>
__forceinline__ T shuffle(unsigned mask, T value, int source)
{
    return from_word<T>(cuco_emu_exchange(cuco_emu_shuffle, mask, to_word(value), source));
}

}  // namespace cuco_emu

template <class T>
__forceinline__ T __shfl_sync(unsigned mask, T value, int source, int width = 32)
{
    const int lane = cuco_emu_lane();
    return cuco_emu::shuffle(mask, value, (lane & ~(width - 1)) | (source & (width - 1)));
}
template <class T>
__forceinline__ T __shfl_up_sync(unsigned mask, T value, unsigned delta, int width = 32)
{
    const int lane = cuco_emu_lane();
    const int source = lane - static_cast<int>(delta);
    return cuco_emu::shuffle(mask, value, source < (lane & ~(width - 1)) ? lane : source);
}
template <class T>
__forceinline__ T __shfl_down_sync(unsigned mask, T value, unsigned delta, int width = 32)
{
    const int lane = cuco_emu_lane();
    const int source = lane + static_cast<int>(delta);
    return cuco_emu::shuffle(mask, value, source > (lane | (width - 1)) ? lane : source);
}
template <class T>
__forceinline__ T __shfl_xor_sync(unsigned mask, T value, int lanes, int width = 32)
{
    const int lane = cuco_emu_lane();
    const int source = lane ^ lanes;
    return cuco_emu::shuffle(mask, value, source > (lane | (width - 1)) ? lane : source);
}

__forceinline__ unsigned __ballot_sync(unsigned mask, int predicate)
{
    return static_cast<unsigned>(cuco_emu_exchange(cuco_emu_ballot, mask, predicate != 0, 0));
}
__forceinline__ int __any_sync(unsigned mask, int predicate)
{
    return __ballot_sync(mask, predicate) != 0;
}
__forceinline__ int __all_sync(unsigned mask, int predicate)
{
    return __ballot_sync(mask, !predicate) == 0;
}
__forceinline__ int __uni_sync(unsigned mask, int predicate)
{
    const unsigned votes = __ballot_sync(mask, predicate);
    return votes == 0 || __ballot_sync(mask, !predicate) == 0;
}
template <class T>
__forceinline__ unsigned __match_any_sync(unsigned mask, T value)
{
    return static_cast<unsigned>(cuco_emu_exchange(cuco_emu_match_any, mask, cuco_emu::to_word(value), 0));
}
template <class T>
__forceinline__ unsigned __match_all_sync(unsigned mask, T value, int* all)
{
    const auto same = static_cast<unsigned>(cuco_emu_exchange(cuco_emu_match_all, mask, cuco_emu::to_word(value), 0));
    *all = same != 0;
    return same;
}
__forceinline__ unsigned __activemask()
{
    return cuco_emu_active_mask();
}

namespace cuco_emu {

/// Butterfly over the lanes of `mask` in ascending order, so the result does not depend on who came first.
template <class T, class Operation>
__forceinline__ T reduce(unsigned mask, T value, Operation operation)
{
    T result{};
    bool first = true;
    for (unsigned rest = mask; rest; rest &= rest - 1) {
        const T other = shuffle(mask, value, __builtin_ctz(rest));
        result = first ? other : operation(result, other);
        first = false;
    }
    return result;
}

}  // namespace cuco_emu

template <class T>
__forceinline__ T __reduce_add_sync(unsigned mask, T value)
{
    return cuco_emu::reduce(mask, value, [](T a, T b) { return static_cast<T>(a + b); });
}
template <class T>
__forceinline__ T __reduce_min_sync(unsigned mask, T value)
{
    return cuco_emu::reduce(mask, value, [](T a, T b) { return a < b ? a : b; });
}
template <class T>
__forceinline__ T __reduce_max_sync(unsigned mask, T value)
{
    return cuco_emu::reduce(mask, value, [](T a, T b) { return a < b ? b : a; });
}
template <class T>
__forceinline__ T __reduce_and_sync(unsigned mask, T value)
{
    return cuco_emu::reduce(mask, value, [](T a, T b) { return static_cast<T>(a & b); });
}
template <class T>
__forceinline__ T __reduce_or_sync(unsigned mask, T value)
{
    return cuco_emu::reduce(mask, value, [](T a, T b) { return static_cast<T>(a | b); });
}
template <class T>
__forceinline__ T __reduce_xor_sync(unsigned mask, T value)
{
    return cuco_emu::reduce(mask, value, [](T a, T b) { return static_cast<T>(a ^ b); });
}

namespace cuco_emu {

#define CUCO_EMU_UNOBSERVED __attribute__((noinline, no_sanitize("thread")))

enum class Atomic { add, sub, exchange, minimum, maximum, bit_and, bit_or, bit_xor, increment, decrement };

template <Atomic kind, class T>
__forceinline__ T combine(T old, T value)
{
    if constexpr (kind == Atomic::add)
        return static_cast<T>(old + value);
    else if constexpr (kind == Atomic::sub)
        return static_cast<T>(old - value);
    else if constexpr (kind == Atomic::exchange)
        return value;
    else if constexpr (kind == Atomic::minimum)
        return value < old ? value : old;
    else if constexpr (kind == Atomic::maximum)
        return old < value ? value : old;
    else if constexpr (kind == Atomic::bit_and)
        return old & value;
    else if constexpr (kind == Atomic::bit_or)
        return old | value;
    else if constexpr (kind == Atomic::bit_xor)
        return old ^ value;
    else if constexpr (kind == Atomic::increment)
        return old >= value ? T(0) : T(old + 1);
    else
        return (old == 0 || old > value) ? value : T(old - 1);
}

template <Atomic kind, class T>
CUCO_EMU_UNOBSERVED T atomic_update(T* address, T value, int how)
{
    cuco_emu_visible_begin(address, sizeof(T), 1, __builtin_return_address(0));
    const T old = *address;
    const T updated = combine<kind>(old, value);
    __builtin_memcpy(static_cast<void*>(address), &updated, sizeof(T));
    cuco_emu_visible_end(address, sizeof(T), __builtin_memcmp(&old, &updated, sizeof(T)) != 0, cuco_emu_update | how,
                         __builtin_return_address(0));
    return old;
}

template <class T>
CUCO_EMU_UNOBSERVED T atomic_compare_exchange(T* address, T expected, T desired, int how, int failed_order)
{
    cuco_emu_visible_begin(address, sizeof(T), 1, __builtin_return_address(0));
    const T old = *address;
    const bool swap = __builtin_memcmp(&old, &expected, sizeof(T)) == 0;
    if (swap)
        __builtin_memcpy(static_cast<void*>(address), &desired, sizeof(T));
    const int failed_how = cuco_emu_load | (how & ~15) | failed_order;
    cuco_emu_visible_end(address, sizeof(T), swap && __builtin_memcmp(&old, &desired, sizeof(T)) != 0,
                         swap ? cuco_emu_update | how : failed_how, __builtin_return_address(0));
    return old;
}

/// How volatile accesses and those that bypass caches are ordered, which is not at all.
inline constexpr int weakly = cuco_emu_everywhere | cuco_emu_volatile | __ATOMIC_RELAXED;

template <class T>
CUCO_EMU_UNOBSERVED T visible_load(const volatile T* address, int how = weakly)
{
    cuco_emu_visible_begin(address, sizeof(T), 1, __builtin_return_address(0));
    T value;
    __builtin_memcpy(&value, const_cast<const T*>(address), sizeof(T));
    cuco_emu_visible_end(address, sizeof(T), 0, cuco_emu_load | how, __builtin_return_address(0));
    return value;
}

template <class T>
CUCO_EMU_UNOBSERVED void visible_store(volatile T* address, T value, int how = weakly)
{
    cuco_emu_visible_begin(address, sizeof(T), 0, __builtin_return_address(0));
    __builtin_memcpy(const_cast<T*>(address), &value, sizeof(T));
    cuco_emu_visible_end(address, sizeof(T), 1, cuco_emu_store | how, __builtin_return_address(0));
}

template <class T>
struct Same {
    using type = T;
};
/// Keeps an argument out of deduction: the pointer alone decides the type.
template <class T>
using Fixed = typename Same<T>::type;

}  // namespace cuco_emu

#define CUCO_EMU_ATOMIC_IN(name, kind, scope)                                                             \
    template <class T>                                                                                    \
    __forceinline__ T name(T* address, cuco_emu::Fixed<T> value)                                          \
    {                                                                                                     \
        return cuco_emu::atomic_update<cuco_emu::Atomic::kind>(address, value, scope | __ATOMIC_RELAXED); \
    }
#define CUCO_EMU_ATOMIC(name, kind)                           \
    CUCO_EMU_ATOMIC_IN(name, kind, cuco_emu_on_device)        \
    CUCO_EMU_ATOMIC_IN(name##_block, kind, cuco_emu_in_block) \
    CUCO_EMU_ATOMIC_IN(name##_system, kind, cuco_emu_everywhere)
CUCO_EMU_ATOMIC(atomicAdd, add)
CUCO_EMU_ATOMIC(atomicSub, sub)
CUCO_EMU_ATOMIC(atomicExch, exchange)
CUCO_EMU_ATOMIC(atomicMin, minimum)
CUCO_EMU_ATOMIC(atomicMax, maximum)
CUCO_EMU_ATOMIC(atomicAnd, bit_and)
CUCO_EMU_ATOMIC(atomicOr, bit_or)
CUCO_EMU_ATOMIC(atomicXor, bit_xor)
CUCO_EMU_ATOMIC(atomicInc, increment)
CUCO_EMU_ATOMIC(atomicDec, decrement)
#undef CUCO_EMU_ATOMIC
#undef CUCO_EMU_ATOMIC_IN

#define CUCO_EMU_CAS(name, scope)                                                                      \
    template <class T>                                                                                 \
    __forceinline__ T name(T* address, cuco_emu::Fixed<T> expected, cuco_emu::Fixed<T> desired)        \
    {                                                                                                  \
        return cuco_emu::atomic_compare_exchange(address, expected, desired, scope | __ATOMIC_RELAXED, \
                                                 __ATOMIC_RELAXED);                                    \
    }
CUCO_EMU_CAS(atomicCAS, cuco_emu_on_device)
CUCO_EMU_CAS(atomicCAS_block, cuco_emu_in_block)
CUCO_EMU_CAS(atomicCAS_system, cuco_emu_everywhere)
#undef CUCO_EMU_CAS

#define CUCO_EMU_LOAD(name)                  \
    template <class T>                       \
    __forceinline__ T name(const T* address) \
    {                                        \
        return *address;                     \
    }
CUCO_EMU_LOAD(__ldg)
CUCO_EMU_LOAD(__ldca)
CUCO_EMU_LOAD(__ldcg)
CUCO_EMU_LOAD(__ldcs)
CUCO_EMU_LOAD(__ldlu)
#undef CUCO_EMU_LOAD
/// Never served from a cache: a look at what others may have written since.
template <class T>
__forceinline__ T __ldcv(const T* address)
{
    return cuco_emu::visible_load(address);
}

#define CUCO_EMU_STORE(name)                                        \
    template <class T>                                              \
    __forceinline__ void name(T* address, cuco_emu::Fixed<T> value) \
    {                                                               \
        *address = value;                                           \
    }
CUCO_EMU_STORE(__stwb)
CUCO_EMU_STORE(__stcg)
CUCO_EMU_STORE(__stcs)
#undef CUCO_EMU_STORE
template <class T>
__forceinline__ void __stwt(T* address, cuco_emu::Fixed<T> value)
{
    cuco_emu::visible_store(address, value);
}
