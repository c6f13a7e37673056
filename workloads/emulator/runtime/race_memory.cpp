// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/race_memory.h"

#include "runtime/loader.h"
#include "runtime/memory.h"
#include "runtime/race_report.h"
#include "runtime/race_shadow.h"
#include "runtime/streams.h"

namespace cuco_emu {

bool race_checking = false;

namespace {

constexpr std::uint32_t crowded_cell = 64;

/// Unordered accesses of the same thread, block or warp are those after the last meeting of it.
bool covers(const RaceActor& actor, RaceEpoch epoch, bool strong_or_write)
{
    if (epoch.task == actor.task) {
        if (epoch.time < actor.grid_known)
            return true;
        if (epoch.block == actor.block) {
            if (epoch.time < actor.block_known)
                return true;
            if (epoch.lanes != 0 && epoch.warp == actor.warp) {
                epoch.lanes &= ~(1u << actor.lane);
                if (epoch.lanes == 0 || epoch.time < actor.warp_known)
                    return true;
            }
        }
    }
    if (actor.known && actor.known->covers(epoch))
        return true;
    // What was only seen, without a fence after it, does not order loads from memory that may be cached. Stores are
    // never made before the condition that they depend on is known.
    if (strong_or_write && actor.fences)
        for (const auto& seen : actor.fences->seen)
            if (seen && seen->covers(epoch))
                return true;
    return false;
}

/// The same variable changes in one order for all: who comes after an atomic access to it that came after this one
/// comes after this one too.
bool follows_through_variable(RaceCell& cell, std::uint32_t earlier, unsigned bytes, const RaceActor& actor)
{
    for (std::uint32_t i = earlier + 1; i < cell.size(); ++i)
        if (cell[i].strong && (cell[i].bytes & bytes) != 0 && covers(actor, cell[i].epoch(), true))
            return true;
    return false;
}

/// Checks the access to some bytes of a cell against those remembered, then remembers it.
void check_cell(RaceCell& cell, unsigned bytes, const MemoryUse& access, const RaceActor& actor, std::uintptr_t address)
{
    const std::uint32_t own_lane = 1u << actor.lane;
    bool remembered = false;
    for (std::uint32_t i = 0; i < cell.size();) {
        RaceEntry& entry = cell[i];
        if ((entry.bytes & bytes) == 0) {
            ++i;
            continue;
        }
        const bool same_time = entry.task == actor.task && entry.block == actor.block && entry.time == actor.time &&
                               entry.warp == actor.warp && entry.lanes != 0;
        const bool same_kind = entry.write == access.write && entry.strong == access.strong;
        if (same_time && same_kind && (entry.lanes & own_lane) != 0 && (bytes & ~entry.bytes) == 0 &&
            (entry.lanes == own_lane || !access.write)) {
            if (access.strong && i + 1 < cell.size())
                cell.move_to_end(i);
            return;
        }
        const bool conflict = (entry.write || access.write) && !(entry.strong && access.strong);
        const bool needed = conflict || access.write || access.strong || cell.size() > 4;
        const bool ordered = needed && covers(actor, entry.epoch(), access.write || access.strong);
        if (conflict && !ordered && !(entry.strong && follows_through_variable(cell, i, bytes, actor)))
            found_race(entry,
                       {actor.task, actor.block, actor.time, own_lane, reinterpret_cast<std::uintptr_t>(access.site),
                        static_cast<std::uint8_t>(bytes), actor.warp, access.write, access.strong, access.is_volatile},
                       address, actor, covers);
        // A write takes the place of all that came before it. Unordered atomic ones stay beside each other.
        const bool beside = access.strong && entry.strong && !ordered;
        if (access.write && !beside) {
            entry.bytes &= ~bytes & 0xff;
            if (entry.bytes == 0) {
                cell.remove(i);
                continue;
            }
        } else if (!access.write && !entry.write && ordered && (entry.bytes & ~bytes) == 0 &&
                   (access.strong == (entry.strong != 0))) {
            cell.remove(i);
            continue;
        } else if (!access.write && same_time && same_kind && entry.bytes == bytes) {
            entry.lanes |= own_lane;
            remembered = true;
        }
        ++i;
    }
    if (remembered)
        return;
    RaceEntry entry;
    entry.task = actor.task;
    entry.block = actor.block;
    entry.time = actor.time;
    entry.lanes = own_lane;
    entry.site = reinterpret_cast<std::uintptr_t>(access.site);
    entry.bytes = bytes;
    entry.warp = actor.warp;
    entry.write = access.write;
    entry.strong = access.strong;
    entry.is_volatile = access.is_volatile;
    cell.add(entry);
    if (cell.size() > crowded_cell)
        cell.merge_blocks();
}

}  // namespace

RaceActor* running_actor()
{
    if (current_thread)
        return current_thread->race;
    return current_rank ? &current_rank->host.race : nullptr;
}

void check_range_for_races(std::uintptr_t begin, std::size_t bytes, const MemoryUse& access, const RaceActor& actor)
{
    const unsigned slot = slot_of(reinterpret_cast<void*>(begin));
    const std::uintptr_t end = begin + bytes;
    for (auto at = begin & ~std::uintptr_t{7}; at < end; at += 8) {
        // Nobody may write there as long as candidates run.
        if (slot < shadowed_slots && !access.write && (shadow_of(reinterpret_cast<void*>(at)) & shadow_read_only) != 0)
            continue;
        unsigned mask = 0xff;
        if (at < begin)
            mask &= 0xffu << (begin - at);
        if (end - at < 8)
            mask &= 0xffu >> (8 - (end - at));
        RaceCell& cell = race_cell(at);
        if (slot == shared_slot && cell.size() > 0 && (cell[0].task != actor.task || cell[0].block != actor.block))
            cell.clear();  // of a block that was here before
        check_cell(cell, mask & 0xff, access, actor, at);
    }
}

void race_plain(const volatile void* address, std::size_t bytes, bool write, const void* site)
{
    if (RaceActor* actor = running_actor())
        check_range_for_races(reinterpret_cast<std::uintptr_t>(address), bytes, {write, false, false, site}, *actor);
}

void race_in_command(const Command& command, const void* address, std::size_t bytes, bool write)
{
    if (bytes == 0 || (slot_of(address) >= shadowed_slots && !module_at(address)))
        return;
    RaceActor actor;
    actor.task = command.race.task;
    actor.rank = static_cast<std::int16_t>(command.stream->rank->index);
    actor.known = command.race.begin;
    check_range_for_races(reinterpret_cast<std::uintptr_t>(address), bytes, {write, false, false, command.race.site},
                          actor);
}

}  // namespace cuco_emu
