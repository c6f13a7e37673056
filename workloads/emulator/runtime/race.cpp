// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/race.h"

#include "runtime/loader.h"
#include "runtime/memory.h"
#include "runtime/race_report.h"
#include "runtime/race_shadow.h"
#include "runtime/streams.h"

#include <algorithm>
#include <unordered_map>

namespace cuco_emu {

bool race_checking = false;

namespace {

enum Reach { within_block, within_device, everywhere };

/// What an atomic or volatile variable carries to whom loads it.
struct RaceVariable {
    std::array<ClockRef, 3> carried;                        ///< by reach
    std::uint32_t task = 0, block = 0, warp = 0, lane = 0;  ///< who wrote last
    int rank = -1;
};
std::unordered_map<std::uintptr_t, RaceVariable> race_variables;

constexpr std::uint32_t crowded_cell = 64;

ClockRef published(RaceActor& actor)
{
    auto clock = join(actor.known, {{task_node(actor.task), actor.grid_known},
                                    {block_node(actor.task, actor.block), actor.block_known},
                                    {warp_node(actor.task, actor.block, actor.warp), actor.warp_known},
                                    {lane_node(actor.task, actor.block, actor.warp, actor.lane), actor.time + 1}});
    ++actor.time;
    return clock;
}

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

struct MemoryUse {
    bool write, strong, is_volatile;
    const void* site;
};

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

RaceActor* running_actor()
{
    if (current_thread)
        return current_thread->race;
    return current_rank ? &current_rank->host.race : nullptr;
}

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

std::shared_ptr<const RaceFences> join_fences(const std::vector<RaceActor*>& actors, const Block* whole)
{
    const auto& first = actors.front()->fences;
    if (std::ranges::all_of(actors, [&](const RaceActor* actor) { return actor->fences == first; }))
        return first;
    auto joined = std::make_shared<RaceFences>();
    std::vector<ClockRef> clocks;
    const auto join_all = [&](auto RaceFences::*part, std::size_t reach) {
        clocks.clear();
        const RaceFences* last = nullptr;
        for (const RaceActor* actor : actors) {
            if (actor->fences && actor->fences.get() != last)
                clocks.push_back(((*actor->fences).*part)[reach]);
            last = actor->fences.get();
        }
        const auto all = join(clocks);
        return whole ? compress(all, block_node(actors.front()->task, actors.front()->block), whole->threads.size())
                     : all;
    };
    for (std::size_t reach = 0; reach < 3; ++reach) {
        joined->released[reach] = join_all(&RaceFences::released, reach);
        joined->seen[reach] = join_all(&RaceFences::seen, reach);
    }
    return joined;
}

ClockRef join_known(const std::vector<RaceActor*>& actors)
{
    std::vector<ClockRef> clocks;
    for (const RaceActor* actor : actors)
        if (clocks.empty() || clocks.back() != actor->known)
            clocks.push_back(actor->known);
    return clocks.size() == 1 ? clocks.front() : join(clocks);
}

std::vector<RaceActor*> actors_of(const std::vector<Thread*>& threads)
{
    std::vector<RaceActor*> actors;
    actors.reserve(threads.size());
    for (const Thread* thread : threads)
        actors.push_back(thread->race);
    return actors;
}

/// Threads that meet without being a whole warp or block: what each of them did becomes known one by one.
void meet_in_part(const std::vector<RaceActor*>& actors)
{
    std::vector<RaceClock::Item> items;
    RaceTime latest = 0;
    for (const RaceActor* actor : actors) {
        latest = std::max(latest, actor->time);
        items.push_back({warp_node(actor->task, actor->block, actor->warp), actor->warp_known});
        items.push_back({lane_node(actor->task, actor->block, actor->warp, actor->lane), actor->time + 1});
    }
    const auto known = join(join_known(actors), std::move(items));
    const auto fences = join_fences(actors, nullptr);
    for (RaceActor* actor : actors) {
        actor->known = known;
        actor->fences = fences;
        actor->time = latest + 1;
    }
}

/// All hosts have met with `known`: when that is everything that was ever started, nothing before it can race.
void forget_what_is_known(const ClockRef& known)
{
    const std::uint32_t end = next_race_task();
    for (std::uint32_t task = race_floor; task < end; ++task)
        if (!known || !known->covers({task, 0, race_for_ever - 1, 0, 0}))
            return;
    forget_all_races();
    race_variables.clear();
    forget_race_tasks();
    race_floor = end;
}

}  // namespace

void race_plain(const volatile void* address, std::size_t bytes, bool write, const void* site)
{
    if (RaceActor* actor = running_actor())
        check_range_for_races(reinterpret_cast<std::uintptr_t>(address), bytes, {write, false, false, site}, *actor);
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

void race_new_memory(const void* address, std::size_t bytes)
{
    const auto begin = reinterpret_cast<std::uintptr_t>(address);
    forget_races_in(begin, bytes);
    std::erase_if(race_variables, [&](const auto& variable) { return variable.first - begin < bytes; });
}

void race_begin_kernel(Kernel& kernel, const Command& command)
{
    kernel.race = std::make_shared<RaceKernel>();
    kernel.race->task = command.race.task;
    kernel.race->begin = kernel.race->end = command.race.begin;
    RaceTask& task = race_task(command.race.task);
    task.kernel = true;
    task.name = kernel.name;
    task.block = kernel.block;
    task.grid = kernel.grid;
}

void race_begin_block(Block& block)
{
    block.race.assign(block.threads.size(), RaceActor{});
    for (std::size_t i = 0; i < block.threads.size(); ++i) {
        RaceActor& actor = block.race[i];
        actor.task = block.kernel->race->task;
        actor.block = static_cast<std::uint32_t>(block.number);
        actor.warp = static_cast<std::uint8_t>(i / 32);
        actor.lane = static_cast<std::uint8_t>(i % 32);
        actor.rank = static_cast<std::int16_t>(block.kernel->rank->index);
        actor.known = block.kernel->race->begin;
        block.threads[i].race = &actor;
    }
}

void race_meet_in_warp(Warp& warp, std::uint32_t lanes)
{
    if ((lanes & (lanes - 1)) == 0)
        return;
    std::vector<RaceActor*> actors;
    for (std::uint32_t rest = lanes; rest != 0; rest &= rest - 1)
        actors.push_back(warp.threads[__builtin_ctz(rest)].race);
    if (lanes != warp.live)
        return meet_in_part(actors);
    RaceTime latest = 0;
    for (int lane = 0; lane < warp.lanes; ++lane)
        latest = std::max(latest, warp.threads[lane].race->time);
    const auto known = join_known(actors);
    const auto fences = join_fences(actors, nullptr);
    for (RaceActor* actor : actors) {
        if (actor->known != known)
            actor->known = known;
        if (actor->fences != fences)
            actor->fences = fences;
        actor->time = actor->warp_known = latest + 1;
    }
}

void race_meet_in_block(Block& block, const std::vector<Thread*>& threads, bool all)
{
    const auto actors = actors_of(threads);
    if (!all)
        return meet_in_part(actors);
    RaceTime latest = 0;
    for (const RaceActor& actor : block.race)
        latest = std::max(latest, actor.time);
    const auto known = join_known(actors);
    const auto fences = join_fences(actors, &block);
    for (RaceActor* actor : actors) {
        if (actor->known != known)
            actor->known = known;
        if (actor->fences != fences)
            actor->fences = fences;
        actor->time = actor->block_known = latest + 1;
    }
}

/// As with __threadfence() before and after it.
void race_meet_in_grid(Kernel& kernel, const std::vector<Thread*>& threads)
{
    const auto actors = actors_of(threads);
    RaceTime latest = 0;
    for (const Block* block : kernel.resident)
        for (const RaceActor& actor : block->race)
            latest = std::max(latest, actor.time);
    auto known = join_known(actors);
    auto fences = std::make_shared<RaceFences>();
    if (const auto joined = join_fences(actors, nullptr)) {
        *fences = *joined;
        known = join({known, joined->seen[within_block], joined->seen[within_device]});
        fences->seen[within_block] = fences->seen[within_device] = nullptr;
    }
    fences->released[within_block] = fences->released[within_device] =
        join(known, {{task_node(actors.front()->task), latest + 1}});
    for (RaceActor* actor : actors) {
        actor->known = known;
        actor->fences = fences;
        actor->time = actor->grid_known = latest + 1;
    }
}

/// A kernel's end is a fence of the widest scope.
void race_end_thread(Thread& thread)
{
    RaceKernel& kernel = *thread.warp->block->kernel->race;
    const RaceActor& actor = *thread.race;
    if (actor.known != kernel.begin && actor.known.get() != kernel.last_joined) {
        kernel.end = join(kernel.end, actor.known);
        kernel.last_joined = actor.known.get();
    }
    if (actor.fences)
        for (const auto& seen : actor.fences->seen)
            kernel.end = join(kernel.end, seen);
}

void race_end_kernel(const Kernel& kernel, Command& command)
{
    command.race.learnt = join(command.race.learnt, kernel.race->end);
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

void race_enqueue(Command& command, const Stream& stream)
{
    command.race.before = stream.race_waits;
    if (current_rank && !current_warp)
        command.race.before = join(command.race.before, published(current_rank->host.race));
}

void race_begin(Command& command)
{
    const Stream& stream = *command.stream;
    Rank& rank = *stream.rank;
    command.race.task = new_race_task(rank.index, command.name, command.race.site);
    std::vector<ClockRef> earlier{command.race.before, command.race.learnt, stream.race_end};
    if (stream.legacy) {
        earlier.push_back(rank.thread_stream.race_end);
        for (const auto& other : rank.streams)
            if ((other->flags & cudaStreamNonBlocking) == 0)
                earlier.push_back(other->race_end);
    } else if ((stream.flags & cudaStreamNonBlocking) == 0) {
        earlier.push_back(rank.legacy_stream.race_end);
    }
    command.race.begin = join(earlier);
}

void race_end(Command& command)
{
    command.race.end =
        join(join(command.race.begin, command.race.learnt), {{task_node(command.race.task), race_for_ever}});
    command.stream->race_end = command.race.end;
}

void race_after(Command& command, const Command* earlier)
{
    if (earlier)
        command.race.learnt = join(command.race.learnt, earlier->race.end);
}

void race_stream_waits(Stream& stream, const Command* earlier)
{
    if (earlier)
        stream.race_waits = join(stream.race_waits, earlier->race.end);
}

void race_host_waits(Rank& rank, const Command* ended)
{
    if (ended)
        rank.host.race.known = join(rank.host.race.known, ended->race.end);
}

void race_host_waits(Rank& rank, const Stream& drained)
{
    rank.host.race.known = join({rank.host.race.known, drained.race_end, drained.race_waits});
}

void race_hosts_meet(const std::vector<Rank*>& ranks)
{
    std::vector<ClockRef> all;
    for (Rank* rank : ranks)
        all.push_back(published(rank->host.race));
    const auto known = join(all);
    for (Rank* rank : ranks)
        rank->host.race.known = known;
    if (ranks.size() == machine().ranks.size())
        forget_what_is_known(known);
}

}  // namespace cuco_emu
