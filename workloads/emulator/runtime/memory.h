// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace cuco_emu {

/// One reserved range of addresses, cut into slots of 4 GiB whose number says what an address is.
inline constexpr unsigned slot_shift = 32;
inline constexpr unsigned max_ranks = 16;
inline constexpr unsigned pinned_slot = 16;     ///< page-locked and managed host memory
inline constexpr unsigned shadowed_slots = 17;  ///< device memory of each rank and pinned memory
inline constexpr unsigned shared_slot = 17;     ///< shared memory of resident blocks
inline constexpr unsigned parameter_slot = 18;  ///< kernel arguments
inline constexpr unsigned host_stack_slot = 19;
inline constexpr unsigned stack_slot = 20;  ///< stacks of CUDA threads, this slot and those after
inline constexpr unsigned slots = 24;

/// Shadow byte of each 8 bytes: the number of accessible bytes at its start, and flags.
inline constexpr std::uint8_t shadow_count = 0x0f;
inline constexpr std::uint8_t shadow_read_only = 0x40;
inline constexpr std::uint8_t shadow_watched = 0x80;

extern std::uintptr_t arena_base;
extern std::uint8_t* shadow;

inline unsigned slot_of(const volatile void* address)
{
    const auto offset = reinterpret_cast<std::uintptr_t>(address) - arena_base;
    const auto slot = offset >> slot_shift;
    return slot < slots ? static_cast<unsigned>(slot) : slots;
}

inline bool is_shadowed(const volatile void* address)
{
    return slot_of(address) < shadowed_slots;
}

inline std::uint8_t& shadow_of(const volatile void* address)
{
    return shadow[(reinterpret_cast<std::uintptr_t>(address) - arena_base) >> 3];
}

/// Reserves the arena. False with a sentence in `error`.
bool reserve_arena(std::string* error);

/// Memory of a rank's device (slot = rank) or pinned memory, filled with 0xff; null when none is left.
void* allocate(unsigned slot, std::size_t bytes, std::size_t align);
/// False when `address` is not the begin of an allocation of that slot.
bool release(void* address);

struct Allocation {
    std::uintptr_t begin = 0;
    std::size_t bytes = 0;
};
/// The live allocation that holds `address`, or one with bytes == 0.
Allocation allocation_at(const volatile void* address);

/// Whole range inside one live allocation and accessible as wanted?
bool range_accessible(const void* begin, std::size_t bytes, bool write);
void set_range_access(const void* begin, std::size_t bytes, bool readable, bool writable, const std::string& name);

/// The memory that holds an address: its name, its rank (-1: no one rank's) and the address's offset in it.
struct MemoryPlace {
    std::string name;
    int rank = -1;
    std::size_t byte = 0;
};
MemoryPlace place_of(const volatile void* address);

/// Where an address lies, in words: "12 bytes past the end of a 4096-byte allocation of rank 2".
std::string describe_address(const volatile void* address);

/// Raw pieces of the unshadowed slots, page-aligned and writable; never returned. Below a piece `guard` bytes
/// stay inaccessible.
void* commit(unsigned slot, std::size_t bytes, std::size_t guard = 0);

}  // namespace cuco_emu
