// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/race_variable.h"

#include "runtime/machine.h"
#include "runtime/memory.h"
#include "runtime/race_memory.h"
#include "runtime/race_shadow.h"

#include <unordered_map>

namespace cuco_emu {
namespace {

/// What an atomic or volatile variable carries to whom loads it.
struct RaceVariable {
    std::array<ClockRef, 3> carried;                        ///< by reach
    std::uint32_t task = 0, block = 0, warp = 0, lane = 0;  ///< who wrote last
    int rank = -1;
};
std::unordered_map<std::uintptr_t, RaceVariable> race_variables;

int reach_between(const RaceVariable& variable, const RaceActor& actor)
{
    if (variable.task == actor.task && variable.block == actor.block)
        return within_block;
    const bool on_device = actor.task >= race_hosts && variable.task >= race_hosts;
    return on_device && variable.rank == actor.rank ? within_device : everywhere;
}

bool acquires(int order)
{
    return order != __ATOMIC_RELAXED && order != __ATOMIC_RELEASE;
}
bool releases(int order)
{
    return order == __ATOMIC_RELEASE || order == __ATOMIC_ACQ_REL || order == __ATOMIC_SEQ_CST;
}

void see(RaceActor& actor, const ClockRef& clock, int from)
{
    if (!clock)
        return;
    const auto& old = actor.fences ? actor.fences->seen[static_cast<std::size_t>(from)] : nullptr;
    auto seen = join(old, clock);
    if (actor.fences && seen == old)
        return;
    auto fences = actor.fences ? std::make_shared<RaceFences>(*actor.fences) : std::make_shared<RaceFences>();
    fences->seen[static_cast<std::size_t>(from)] = std::move(seen);
    actor.fences = std::move(fences);
}

void load_from(const RaceVariable& variable, RaceActor& actor, int order, int scope)
{
    const int from = reach_between(variable, actor);
    if (scope < from)
        return;
    const auto& carried = variable.carried[static_cast<std::size_t>(from)];
    if (acquires(order))
        actor.known = join(actor.known, carried);
    else
        see(actor, carried, from);
}

/// What a relaxed store publishes: what the last fence before it did, or the launch's beginning.
ClockRef published_before(const RaceActor& actor, int reach)
{
    if (actor.fences && actor.fences->released[static_cast<std::size_t>(reach)])
        return actor.fences->released[static_cast<std::size_t>(reach)];
    return current_thread ? current_thread->warp->block->kernel->race->begin : nullptr;
}

void store_to(RaceVariable& variable, RaceActor& actor, bool update, int order, int scope)
{
    const bool same_thread = variable.task == actor.task && variable.block == actor.block &&
                             variable.warp == actor.warp && variable.lane == actor.lane;
    const ClockRef all = releases(order) ? published(actor) : nullptr;
    for (int reach = within_block; reach <= everywhere; ++reach) {
        auto& carried = variable.carried[static_cast<std::size_t>(reach)];
        const ClockRef mine = scope < reach ? nullptr : all ? all : published_before(actor, reach);
        carried = update || same_thread ? join(carried, mine) : mine;
    }
    variable.task = actor.task;
    variable.block = actor.block;
    variable.warp = actor.warp;
    variable.lane = actor.lane;
    variable.rank = actor.rank;
}

}  // namespace

ClockRef published(RaceActor& actor)
{
    auto clock = join(actor.known, {{task_node(actor.task), actor.grid_known},
                                    {block_node(actor.task, actor.block), actor.block_known},
                                    {warp_node(actor.task, actor.block, actor.warp), actor.warp_known},
                                    {lane_node(actor.task, actor.block, actor.warp, actor.lane), actor.time + 1}});
    ++actor.time;
    return clock;
}

void forget_race_variables()
{
    race_variables.clear();
}

void race_strong(const volatile void* address, std::size_t bytes, int how, const void* site)
{
    RaceActor* actor = running_actor();
    const unsigned slot = slot_of(address);
    if (!actor || (slot >= stack_slot && slot < slots) || (!current_thread && slot >= shadowed_slots))
        return;
    const auto at = reinterpret_cast<std::uintptr_t>(address);
    const auto kind = static_cast<RaceAccess>(how >> 8 & 3);
    // Host code runs on processors that keep the order of stores and of loads.
    const int order = current_thread ? how & 15 : __ATOMIC_SEQ_CST, scope = current_thread ? how >> 4 & 3 : everywhere;
    RaceVariable& variable = race_variables[at];
    if (slot == shared_slot && (variable.task != actor->task || variable.block != actor->block))
        variable = {};
    if (kind != RaceAccess::store)
        load_from(variable, *actor, order, scope);
    const bool write = kind != RaceAccess::load;
    check_range_for_races(at, bytes, {write, true, (how & cuco_emu_volatile) != 0, site}, *actor);
    if (write)
        store_to(variable, *actor, kind == RaceAccess::update, order, scope);
}

void race_fence(int scope, int order)
{
    RaceActor* actor = running_actor();
    if (!actor || !current_thread || order == __ATOMIC_RELAXED)
        return;
    auto fences = actor->fences ? std::make_shared<RaceFences>(*actor->fences) : std::make_shared<RaceFences>();
    for (int reach = within_block; acquires(order) && reach <= scope; ++reach) {
        auto& seen = fences->seen[static_cast<std::size_t>(reach)];
        actor->known = join(actor->known, seen);
        seen = nullptr;
    }
    const ClockRef all = releases(order) ? published(*actor) : nullptr;
    for (int reach = within_block; all && reach <= scope; ++reach)
        fences->released[static_cast<std::size_t>(reach)] = all;
    actor->fences = std::move(fences);
}

void race_new_memory(const void* address, std::size_t bytes)
{
    const auto begin = reinterpret_cast<std::uintptr_t>(address);
    forget_races_in(begin, bytes);
    std::erase_if(race_variables, [&](const auto& variable) { return variable.first - begin < bytes; });
}

void race_arrive(ClockRef& carried, int order)
{
    RaceActor& actor = *current_thread->race;
    carried = join(carried, releases(order) ? published(actor) : published_before(actor, everywhere));
}

void race_wait(const ClockRef& carried, int order)
{
    RaceActor& actor = *current_thread->race;
    if (acquires(order))
        actor.known = join(actor.known, carried);
    else
        see(actor, carried, everywhere);
}

ClockRef race_before_transfer(const ClockRef& released)
{
    const auto& fences = current_thread->race->fences;
    return fences ? join({released, fences->seen[within_block], fences->seen[within_device], fences->seen[everywhere]})
                  : released;
}

void race_in_transfer(const RaceTransfer& transfer, const void* address, std::size_t bytes, bool write, bool value)
{
    RaceActor actor;
    actor.task = transfer.task;
    actor.rank = static_cast<std::int16_t>(transfer.rank);
    actor.known = transfer.known;
    actor.time = write ? 2 : 1;
    const auto at = reinterpret_cast<std::uintptr_t>(address);
    check_range_for_races(at, bytes, {write, value, value, transfer.site}, actor);
    if (value)
        store_to(race_variables[at], actor, false, __ATOMIC_RELEASE, everywhere);
}

}  // namespace cuco_emu
