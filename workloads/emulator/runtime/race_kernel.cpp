// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/machine.h"
#include "runtime/race.h"
#include "runtime/race_report.h"
#include "runtime/race_variable.h"
#include "runtime/streams.h"

#include <algorithm>

namespace cuco_emu {
namespace {

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

}  // namespace

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

}  // namespace cuco_emu
