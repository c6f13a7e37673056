// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/hooks.h"

#include "runtime/failure.h"
#include "runtime/host.h"
#include "runtime/kernel.h"
#include "runtime/loader.h"
#include "runtime/poll.h"
#include "runtime/warp.h"

#include <cstring>

/// What the compiler calls before each access of the candidate (-fsanitize=thread), and what we make of it.
namespace cuco_emu {
namespace {

#define CUCO_EMU_LIKELY(condition) __builtin_expect(!!(condition), 1)

[[noreturn]] __attribute__((noinline, cold)) void out_of_bounds(const volatile void* address, std::size_t bytes,
                                                                bool write, const void* site)
{
    std::string where = describe_address(address);
    if (current_warp && slot_of(address) == shared_slot) {
        const Kernel& kernel = *current_warp->block->kernel;
        where = "an address outside the shared memory of its block, which has " +
                std::to_string(kernel.layout->static_bytes) + " static and " + std::to_string(kernel.dynamic_bytes) +
                " dynamic bytes";
    }
    const std::string what =
        std::string(write ? "writes " : "reads ") + std::to_string(bytes) + " bytes at " + where + ".";
    if (current_warp)
        fail_in_kernel("out_of_bounds", "Kernel " + current_warp->block->kernel->name + " " + what, *current_thread,
                       site);
    fail_in_host("out_of_bounds", "Host code " + what, site);
}

/// Watched, read-only, partial or inaccessible.
__attribute__((noinline, cold)) void look_closer(const volatile void* address, std::size_t bytes, bool write,
                                                 const void* site)
{
    const auto begin = reinterpret_cast<std::uintptr_t>(address);
    bool watched = false;
    for (auto at = begin & ~std::uintptr_t{7}; at < begin + bytes; at += 8) {
        const std::uint8_t state = shadow[(at - arena_base) >> 3];
        const auto needed = begin + bytes - at < 8 ? begin + bytes - at : 8;
        if ((state & shadow_count) < needed || (write && (state & shadow_read_only) != 0))
            out_of_bounds(address, bytes, write, site);
        watched = watched || (state & shadow_watched) != 0;
    }
    if (watched && write)
        wrote(address, bytes, current_rank);
}

inline void check_shadow(const volatile void* address, std::size_t bytes, bool write, const void* site)
{
    const auto begin = reinterpret_cast<std::uintptr_t>(address);
    const std::uint8_t state = shadow[(begin - arena_base) >> 3];
    const auto needed = (begin & 7) + bytes;
    const bool plain = needed <= 8 && state >= needed && state <= 8;
    const bool plain_pair = bytes == 16 && (begin & 7) == 0 && state == 8 && (&shadow_of(address))[1] == 8;
    if (!CUCO_EMU_LIKELY(plain || plain_pair))
        look_closer(address, bytes, write, site);
}

/// A candidate's host code may store to its own variables and to memory of the heap.
__attribute__((noinline)) void check_host_write(const volatile void* address, unsigned slot, const void* site)
{
    const Host& host = current_rank->host;
    const auto* at = static_cast<const char*>(const_cast<const void*>(address));
    const bool harness_frame = slot == host_stack_slot && at >= host.frame && at != host.result;
    if (harness_frame || is_program_data(reinterpret_cast<std::uintptr_t>(at)))
        fail_in_host("tampering",
                     harness_frame ? "Host code stores to variables of the function that called it."
                                   : "Host code stores to variables of the harness.",
                     site);
}

bool is_own_module(std::uintptr_t address)
{
    const Module& newest = current_rank->module;
    if (address - newest.begin < newest.end - newest.begin)
        return true;
    const Module* module = module_at(reinterpret_cast<void*>(address));
    return module && module->rank == current_rank->index;
}

__attribute__((noinline)) void observe_elsewhere(const volatile void* address, std::size_t bytes, bool write,
                                                 bool plain, const void* site)
{
    Warp& warp = *current_warp;
    const unsigned slot = slot_of(address);
    const auto begin = reinterpret_cast<std::uintptr_t>(address);
    if (slot >= stack_slot && slot < slots)
        fail_in_kernel(
            "crash", begin < current_stack ? stack_overflow_message : "The kernel uses another thread's local memory.",
            *current_thread, site);
    ++warp.cost.accesses;
    if (slot == parameter_slot)
        return;
    if (is_own_module(begin)) {
        (write ? warp.cost.write_bytes : warp.cost.read_bytes) += bytes;
        if (write)
            note_write(address, bytes, current_rank);
        if (plain && race_checking)
            race_plain(address, bytes, write, site);
        return;
    }
    if (!is_library_data(begin))
        out_of_bounds(address, bytes, write, site);
}

}  // namespace

/// Atomic and volatile accesses are not `plain`: the race checker hears of them from cuco_emu_visible_end.
template <bool plain = true>
inline __attribute__((always_inline)) void observe_inline(const volatile void* address, std::size_t bytes, bool write,
                                                          const void* site)
{
    if (reinterpret_cast<std::uintptr_t>(address) - current_stack < thread_stack_bytes)
        return;  // its own variables are taken to be registers
    Warp* warp = current_warp;
    const unsigned slot = slot_of(address);
    if (!CUCO_EMU_LIKELY(warp)) {
        if (slot < max_ranks)
            out_of_bounds(address, bytes, write, site);
        if (slot == pinned_slot) {
            check_shadow(address, bytes, write, site);
            if (plain && race_checking)
                race_plain(address, bytes, write, site);
        } else if (write && current_rank && current_rank->host.in_candidate)
            check_host_write(address, slot, site);
        return;
    }
    Cost& cost = warp->cost;
    if (CUCO_EMU_LIKELY(slot < shadowed_slots)) {
        check_shadow(address, bytes, write, site);
        ++cost.accesses;
        if (write)
            cost.burst_left = 0;
        else
            cost.read(bytes);
        if (CUCO_EMU_LIKELY(slot == static_cast<unsigned>(current_rank->index))) {
            (write ? cost.write_bytes : cost.read_bytes) += bytes;
        } else if (slot == pinned_slot) {
            cost.pinned_bytes += bytes;
        } else {
            (write ? cost.peer_write : cost.peer_read)[slot] += bytes;
            cost.peer = true;
        }
    } else if (slot == shared_slot) {
        Block& block = *warp->block;
        const auto offset = static_cast<std::size_t>(static_cast<const volatile char*>(address) - block.shared);
        const bool inside =
            offset + bytes <= block.kernel->layout->static_bytes ||
            (offset >= static_shared_limit && offset - static_shared_limit + bytes <= block.kernel->dynamic_bytes);
        if (!CUCO_EMU_LIKELY(inside))
            out_of_bounds(address, bytes, write, site);
        ++cost.accesses;
        cost.shared_bytes += bytes;
        if (write && block.shared_pollers != 0)
            note_write(address, bytes, current_rank);
    } else {
        return observe_elsewhere(address, bytes, write, plain, site);
    }
    if (plain && !CUCO_EMU_LIKELY(!race_checking))
        race_plain(address, bytes, write, site);
}

void observe_range(const void* address, std::size_t bytes, bool write, const void* site)
{
    if (bytes == 0)
        return;
    observe_inline(address, bytes, write, site);
    if (current_warp) {  // of 16 bytes, as a loop would make
        current_warp->cost.accesses += (bytes - 1) / 16;
    }
}

void observe(const volatile void* address, std::size_t bytes, bool write, const void* site)
{
    observe_inline<false>(address, bytes, write, site);
}

void host_looks(const volatile void* address, const void* site)
{
    if (slot_of(address) >= shadowed_slots || !current_rank)
        return;
    observe_inline<false>(address, 1, false, site);
    host_sleep(from_us(machine().model.host_call_us));
}

namespace {

constexpr int volatile_read = cuco_emu_volatile | cuco_emu_load | cuco_emu_everywhere | __ATOMIC_RELAXED;
constexpr int volatile_write = cuco_emu_volatile | cuco_emu_store | cuco_emu_everywhere | __ATOMIC_RELAXED;

inline void observe_volatile(const volatile void* address, unsigned bytes, bool write, const void* site)
{
    if (current_warp && slot_of(address) >= stack_slot && slot_of(address) < slots)
        return;  // a thread's own variable, which nobody else can see
    if (!current_warp) {
        if (write)
            observe_inline<false>(address, bytes, true, site);
        else
            host_looks(address, site);
        if (race_checking)
            race_strong(address, bytes, write ? volatile_write : volatile_read, site);
        return;
    }
    cuco_emu_visible_begin(address, bytes, write ? 0 : 1, site);
    cuco_emu_visible_end(address, bytes, write ? 1 : 0, write ? volatile_write : volatile_read, site);
}

}  // namespace
}  // namespace cuco_emu

using namespace cuco_emu;

extern "C" {

void __tsan_init() {}
void __tsan_func_entry(void*) {}
void __tsan_func_exit(void*) {}
void __tsan_vptr_update(void**, void*) {}
void __tsan_vptr_read(void**) {}

#define CUCO_EMU_HOOK(bytes)                                     \
    void __tsan_read##bytes(void* p)                             \
    {                                                            \
        observe_inline(p, bytes, false, CUCO_EMU_CALL_SITE());   \
    }                                                            \
    void __tsan_write##bytes(void* p)                            \
    {                                                            \
        observe_inline(p, bytes, true, CUCO_EMU_CALL_SITE());    \
    }                                                            \
    void __tsan_volatile_read##bytes(void* p)                    \
    {                                                            \
        observe_volatile(p, bytes, false, CUCO_EMU_CALL_SITE()); \
    }                                                            \
    void __tsan_volatile_write##bytes(void* p)                   \
    {                                                            \
        observe_volatile(p, bytes, true, CUCO_EMU_CALL_SITE());  \
    }
#define CUCO_EMU_UNALIGNED_HOOK(bytes)                           \
    void __tsan_unaligned_read##bytes(void* p)                   \
    {                                                            \
        observe_inline(p, bytes, false, CUCO_EMU_CALL_SITE());   \
    }                                                            \
    void __tsan_unaligned_write##bytes(void* p)                  \
    {                                                            \
        observe_inline(p, bytes, true, CUCO_EMU_CALL_SITE());    \
    }                                                            \
    void __tsan_unaligned_volatile_read##bytes(void* p)          \
    {                                                            \
        observe_volatile(p, bytes, false, CUCO_EMU_CALL_SITE()); \
    }                                                            \
    void __tsan_unaligned_volatile_write##bytes(void* p)         \
    {                                                            \
        observe_volatile(p, bytes, true, CUCO_EMU_CALL_SITE());  \
    }
CUCO_EMU_HOOK(1)
CUCO_EMU_HOOK(2)
CUCO_EMU_HOOK(4)
CUCO_EMU_HOOK(8)
CUCO_EMU_HOOK(16)
CUCO_EMU_UNALIGNED_HOOK(2)
CUCO_EMU_UNALIGNED_HOOK(4)
CUCO_EMU_UNALIGNED_HOOK(8)
CUCO_EMU_UNALIGNED_HOOK(16)

void __tsan_read_range(void* p, unsigned long bytes)
{
    observe_inline(p, bytes, false, CUCO_EMU_CALL_SITE());
}
void __tsan_write_range(void* p, unsigned long bytes)
{
    observe_inline(p, bytes, true, CUCO_EMU_CALL_SITE());
}

void __tsan_atomic_thread_fence(int order)
{
    cuco_emu_fence(2, order);
}
void __tsan_atomic_signal_fence(int) {}

#define CUCO_EMU_FETCH(bits, type, name, expression)                                                    \
    type __tsan_atomic##bits##_fetch_##name(volatile type* p, type v, int order)                        \
    {                                                                                                   \
        cuco_emu_visible_begin(p, sizeof(type), 1, CUCO_EMU_CALL_SITE());                               \
        const type old = *p;                                                                            \
        *p = static_cast<type>(expression);                                                             \
        cuco_emu_visible_end(p, sizeof(type), *p != old, cuco_emu_update | cuco_emu_everywhere | order, \
                             CUCO_EMU_CALL_SITE());                                                     \
        return old;                                                                                     \
    }
#define CUCO_EMU_EXCHANGE(bits, type, name)                                                                         \
    int __tsan_atomic##bits##_compare_exchange_##name(volatile type* p, type* expected, type desired, int order,    \
                                                      int failed_order)                                             \
    {                                                                                                               \
        cuco_emu_visible_begin(p, sizeof(type), 1, CUCO_EMU_CALL_SITE());                                           \
        const type old = *p;                                                                                        \
        const bool swap = old == *expected;                                                                         \
        if (swap)                                                                                                   \
            *p = desired;                                                                                           \
        *expected = old;                                                                                            \
        cuco_emu_visible_end(p, sizeof(type), swap&& desired != old,                                                \
                             cuco_emu_everywhere | (swap ? cuco_emu_update | order : cuco_emu_load | failed_order), \
                             CUCO_EMU_CALL_SITE());                                                                 \
        return swap;                                                                                                \
    }
#define CUCO_EMU_ATOMICS(bits, type)                                                                                  \
    type __tsan_atomic##bits##_load(const volatile type* p, int order)                                                \
    {                                                                                                                 \
        cuco_emu_visible_begin(p, sizeof(type), 1, CUCO_EMU_CALL_SITE());                                             \
        const type value = *p;                                                                                        \
        cuco_emu_visible_end(p, sizeof(type), 0, cuco_emu_load | cuco_emu_everywhere | order, CUCO_EMU_CALL_SITE());  \
        return value;                                                                                                 \
    }                                                                                                                 \
    void __tsan_atomic##bits##_store(volatile type* p, type v, int order)                                             \
    {                                                                                                                 \
        cuco_emu_visible_begin(p, sizeof(type), 0, CUCO_EMU_CALL_SITE());                                             \
        *p = v;                                                                                                       \
        cuco_emu_visible_end(p, sizeof(type), 1, cuco_emu_store | cuco_emu_everywhere | order, CUCO_EMU_CALL_SITE()); \
    }                                                                                                                 \
    type __tsan_atomic##bits##_exchange(volatile type* p, type v, int order)                                          \
    {                                                                                                                 \
        cuco_emu_visible_begin(p, sizeof(type), 1, CUCO_EMU_CALL_SITE());                                             \
        const type old = *p;                                                                                          \
        *p = v;                                                                                                       \
        cuco_emu_visible_end(p, sizeof(type), v != old, cuco_emu_update | cuco_emu_everywhere | order,                \
                             CUCO_EMU_CALL_SITE());                                                                   \
        return old;                                                                                                   \
    }                                                                                                                 \
    CUCO_EMU_FETCH(bits, type, add, old + v)                                                                          \
    CUCO_EMU_FETCH(bits, type, sub, old - v)                                                                          \
    CUCO_EMU_FETCH(bits, type, and, old& v)                                                                           \
    CUCO_EMU_FETCH(bits, type, or, old | v)                                                                           \
    CUCO_EMU_FETCH(bits, type, xor, old ^ v)                                                                          \
    CUCO_EMU_FETCH(bits, type, nand, ~(old & v))                                                                      \
    CUCO_EMU_EXCHANGE(bits, type, strong)                                                                             \
    CUCO_EMU_EXCHANGE(bits, type, weak)                                                                               \
    type __tsan_atomic##bits##_compare_exchange_val(volatile type* p, type expected, type desired, int order,         \
                                                    int failed_order)                                                 \
    {                                                                                                                 \
        __tsan_atomic##bits##_compare_exchange_strong(p, &expected, desired, order, failed_order);                    \
        return expected;                                                                                              \
    }
CUCO_EMU_ATOMICS(8, unsigned char)
CUCO_EMU_ATOMICS(16, unsigned short)
CUCO_EMU_ATOMICS(32, unsigned)
CUCO_EMU_ATOMICS(64, unsigned long)

void cuco_emu_account_read(const void* address, std::size_t bytes, const void* site)
{
    observe_inline(address, bytes, false, site);
}
void cuco_emu_account_write(void* address, std::size_t bytes, const void* site)
{
    observe_inline(address, bytes, true, site);
}

// The compiler announces no access of these; candidates are linked with --wrap for them.
void* __wrap_memcpy(void* to, const void* from, std::size_t bytes)
{
    observe_range(from, bytes, false, CUCO_EMU_CALL_SITE());
    observe_range(to, bytes, true, CUCO_EMU_CALL_SITE());
    return std::memcpy(to, from, bytes);
}
void* __wrap_memmove(void* to, const void* from, std::size_t bytes)
{
    observe_range(from, bytes, false, CUCO_EMU_CALL_SITE());
    observe_range(to, bytes, true, CUCO_EMU_CALL_SITE());
    return std::memmove(to, from, bytes);
}
void* __wrap_memset(void* to, int value, std::size_t bytes)
{
    observe_range(to, bytes, true, CUCO_EMU_CALL_SITE());
    return std::memset(to, value, bytes);
}

void cuco_emu_account_flops(double flops)
{
    if (current_warp)
        current_warp->cost.flops += flops;
}

void cuco_emu_fence(int scope, int order)
{
    if (!current_warp)
        return;
    if (race_checking)
        race_fence(scope, order);
    Cost& cost = current_warp->cost;
    const Model& model = machine().model;
    const double us = scope == 0 ? 0 : cost.peer ? model.peer_latency_us : model.poll_local_us;
    if (scope > 0 && cost.accesses > 0 && cost.latency < from_us(us))
        cost.latency = from_us(us);
}

}  // extern "C"
