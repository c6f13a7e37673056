// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/memory.h"

#include "runtime/loader.h"
#include "runtime/race.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <vector>

namespace cuco_emu {

std::uintptr_t arena_base = 0;
std::uint8_t* shadow = nullptr;

namespace {

constexpr std::size_t slot_bytes = std::size_t{1} << slot_shift;
constexpr std::size_t guard_bytes = 512;
constexpr std::size_t page = 4096;

struct Named {
    std::size_t bytes;
    std::string name;
};

struct Heap {
    std::map<std::uintptr_t, std::size_t> used, free;
    std::map<std::uintptr_t, Named> names;
    std::uintptr_t committed = 0;
};

Heap heaps[shadowed_slots];
std::uintptr_t committed_end[slots];

std::size_t rounded(std::size_t value, std::size_t to)
{
    return (value + to - 1) / to * to;
}
std::uintptr_t slot_begin(unsigned slot)
{
    return arena_base + (std::uintptr_t{slot} << slot_shift);
}

bool make_writable(std::uintptr_t begin, std::uintptr_t end)
{
    return mprotect(reinterpret_cast<void*>(begin), end - begin, PROT_READ | PROT_WRITE) == 0;
}

/// Memory and its shadow up to `end` can be written afterwards.
bool commit_heap(unsigned slot, std::uintptr_t end)
{
    Heap& heap = heaps[slot];
    if (end <= heap.committed)
        return true;
    constexpr std::size_t step = std::size_t{8} << 20;
    const auto wanted = slot_begin(slot) + rounded(end - slot_begin(slot), step);
    const auto shadow_at = [](std::uintptr_t address) {
        return reinterpret_cast<std::uintptr_t>(shadow) + ((address - arena_base) >> 3);
    };
    if (wanted > slot_begin(slot) + slot_bytes || !make_writable(heap.committed, wanted) ||
        !make_writable(shadow_at(heap.committed), shadow_at(wanted)))
        return false;
    heap.committed = wanted;
    return true;
}

void paint(std::uintptr_t begin, std::size_t bytes, std::uint8_t flags)
{
    auto* first = &shadow[(begin - arena_base) >> 3];
    std::memset(first, 8 | flags, bytes / 8);
    if (bytes % 8 != 0)
        first[bytes / 8] = static_cast<std::uint8_t>((bytes % 8) | flags);
}

}  // namespace

bool reserve_arena(std::string* error)
{
    const auto reserve = [](std::uintptr_t hint, std::size_t bytes, int protection) -> void* {
        void* at =
            mmap(reinterpret_cast<void*>(hint), bytes, protection, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        return at == MAP_FAILED ? nullptr : at;
    };
    // A hint, not a demand: the same addresses in every run, unless they are taken.
    void* base = reserve(std::uintptr_t{0x1000} << slot_shift, (slots + 1) * slot_bytes, PROT_NONE);
    // Private read-only pages count towards no commit limit; only the parts in use are made writable.
    void* shadow_base = reserve(0, shadowed_slots * (slot_bytes >> 3), PROT_READ);
    if (!base || !shadow_base) {
        *error = "The emulator could not reserve its address space; remove the limit on virtual memory (ulimit -v).";
        return false;
    }
    arena_base = rounded(reinterpret_cast<std::uintptr_t>(base), slot_bytes);
    shadow = static_cast<std::uint8_t*>(shadow_base);
    for (unsigned slot = 0; slot < slots; ++slot)
        committed_end[slot] = slot_begin(slot);
    for (unsigned slot = 0; slot < shadowed_slots; ++slot) {
        // Each rank starts elsewhere: equal offsets on all ranks must come from windows, not from luck.
        const auto begin = slot_begin(slot) + (slot + 1) * 3 * page;
        heaps[slot].committed = slot_begin(slot);
        heaps[slot].free[begin] = slot_begin(slot) + slot_bytes - begin;
    }
    return true;
}

void* allocate(unsigned slot, std::size_t bytes, std::size_t align)
{
    Heap& heap = heaps[slot];
    const std::size_t wanted = std::max<std::size_t>(bytes, 1);
    if (wanted > slot_bytes)
        return nullptr;
    for (auto range = heap.free.begin(); range != heap.free.end(); ++range) {
        const auto begin = rounded(range->first + guard_bytes, align);
        const auto end = begin + rounded(wanted, 256) + guard_bytes;
        const auto range_end = range->first + range->second;
        if (end > range_end)
            continue;
        if (!commit_heap(slot, end))
            return nullptr;
        const auto range_begin = range->first;
        heap.free.erase(range);
        if (begin - guard_bytes > range_begin)
            heap.free[range_begin] = begin - guard_bytes - range_begin;
        if (range_end > end)
            heap.free[end] = range_end - end;
        heap.used[begin] = wanted;
        std::memset(reinterpret_cast<void*>(begin), 0xff, wanted);
        paint(begin, wanted, 0);
        if (race_checking)
            race_new_memory(reinterpret_cast<void*>(begin), wanted);
        return reinterpret_cast<void*>(begin);
    }
    return nullptr;
}

bool release(void* address)
{
    const unsigned slot = slot_of(address);
    if (slot >= shadowed_slots)
        return false;
    Heap& heap = heaps[slot];
    const auto begin = reinterpret_cast<std::uintptr_t>(address);
    const auto found = heap.used.find(begin);
    if (found == heap.used.end())
        return false;
    const auto bytes = found->second;
    std::memset(&shadow_of(address), 0, rounded(bytes, 8) / 8);
    heap.used.erase(found);
    heap.names.erase(heap.names.lower_bound(begin), heap.names.lower_bound(begin + bytes));
    const auto free_begin = begin - guard_bytes;
    const auto free_end = begin + rounded(bytes, 256) + guard_bytes;
    auto range = heap.free.emplace(free_begin, free_end - free_begin).first;
    if (const auto next = std::next(range); next != heap.free.end() && next->first == free_end) {
        range->second += next->second;
        heap.free.erase(next);
    }
    if (range != heap.free.begin()) {
        const auto previous = std::prev(range);
        if (previous->first + previous->second == range->first) {
            previous->second += range->second;
            heap.free.erase(range);
        }
    }
    return true;
}

Allocation allocation_at(const volatile void* address)
{
    const unsigned slot = slot_of(address);
    if (slot >= shadowed_slots)
        return {};
    const auto& used = heaps[slot].used;
    const auto at = reinterpret_cast<std::uintptr_t>(address);
    auto after = used.upper_bound(at);
    if (after == used.begin())
        return {};
    --after;
    return at < after->first + after->second ? Allocation{after->first, after->second} : Allocation{};
}

bool range_accessible(const void* begin, std::size_t bytes, bool write)
{
    if (bytes == 0)
        return true;
    const auto allocation = allocation_at(begin);
    const auto first = reinterpret_cast<std::uintptr_t>(begin);
    if (allocation.bytes == 0 || first + bytes > allocation.begin + allocation.bytes)
        return false;
    for (auto at = first & ~std::uintptr_t{7}; at < first + bytes; at += 8) {
        const auto state = shadow[(at - arena_base) >> 3];
        const auto needed = std::min<std::uintptr_t>(8, first + bytes - at);
        if ((state & shadow_count) < needed || (write && (state & shadow_read_only) != 0))
            return false;
    }
    return true;
}

void set_range_access(const void* begin, std::size_t bytes, bool readable, bool writable, const std::string& name)
{
    const auto allocation = allocation_at(begin);
    if (allocation.bytes == 0)
        return;
    const auto first = reinterpret_cast<std::uintptr_t>(begin);
    const auto size = std::min(bytes, allocation.begin + allocation.bytes - first);
    Heap& heap = heaps[slot_of(begin)];
    if (readable)
        paint(first, size, writable ? 0 : shadow_read_only);
    else
        std::memset(&shadow_of(begin), 0, rounded(size, 8) / 8);
    heap.names.insert_or_assign(first, Named{size, name});
}

MemoryPlace place_of(const volatile void* address)
{
    const unsigned slot = slot_of(address);
    if (slot == shared_slot)
        return {"shared memory", -1, 0};
    if (slot >= shadowed_slots) {
        const Module* module = module_at(const_cast<const void*>(address));
        return {"a variable of the candidate", module ? module->rank : -1, 0};
    }
    const auto at = reinterpret_cast<std::uintptr_t>(address);
    const int rank = slot == pinned_slot ? -1 : static_cast<int>(slot);
    const Heap& heap = heaps[slot];
    if (auto name = heap.names.upper_bound(at); name != heap.names.begin()) {
        --name;
        if (at < name->first + name->second.bytes && !name->second.name.empty())
            return {name->second.name, rank, at - name->first};
    }
    const Allocation allocation = allocation_at(address);
    return {
        slot == pinned_slot ? "pinned host memory" : "an allocation of " + std::to_string(allocation.bytes) + " bytes",
        rank, at - allocation.begin};
}

std::string describe_address(const volatile void* address)
{
    const unsigned slot = slot_of(address);
    if (slot == shared_slot)
        return "shared memory";
    if (slot == parameter_slot)
        return "kernel arguments";
    if (slot >= stack_slot && slot < slots)
        return "local memory of a CUDA thread";
    if (slot >= shadowed_slots)
        return slot == host_stack_slot ? "the host's stack" : "pageable host memory";
    const std::string owner = slot == pinned_slot ? "in pinned host memory" : "on rank " + std::to_string(slot);
    const Heap& heap = heaps[slot];
    const auto at = reinterpret_cast<std::uintptr_t>(address);
    auto name = heap.names.upper_bound(at);
    if (name != heap.names.begin()) {
        --name;
        if (at < name->first + name->second.bytes && !name->second.name.empty())
            return "byte " + std::to_string(at - name->first) + " of " + name->second.name + " " + owner;
    }
    auto after = heap.used.upper_bound(at);
    if (after != heap.used.begin()) {
        const auto before = std::prev(after);
        const auto end = before->first + before->second;
        const auto size = std::to_string(before->second);
        if (at < end)
            return "byte " + std::to_string(at - before->first) + " of a " + size + "-byte allocation " + owner;
        if (at - end < (1u << 20))
            return std::to_string(at - end) + " bytes past the end of a " + size + "-byte allocation " + owner;
    }
    if (after != heap.used.end() && after->first - at < (1u << 20))
        return std::to_string(after->first - at) + " bytes before a " + std::to_string(after->second) +
               "-byte allocation " + owner;
    return "no live allocation " + owner;
}

void* commit(unsigned slot, std::size_t bytes, std::size_t guard)
{
    const auto begin = committed_end[slot] + rounded(guard, page);
    const auto end = begin + rounded(bytes, page);
    const auto limit = slot == stack_slot ? slot_begin(slots) : slot_begin(slot) + slot_bytes;
    if (end > limit || !make_writable(begin, end))
        return nullptr;
    committed_end[slot] = end;
    return reinterpret_cast<void*>(begin);
}

}  // namespace cuco_emu
