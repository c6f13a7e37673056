// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/failure.h"
#include "runtime/kernel.h"
#include "runtime/warp.h"

#include <algorithm>

/// Barriers of blocks and grids, and meetings of a warp's lanes.
namespace cuco_emu {
namespace {

using LaneMask = unsigned;

/// Lanes of the warp that wait in a meeting with this mask.
LaneMask waiting_with(const Warp& warp, unsigned mask)
{
    LaneMask group = 0;
    for (unsigned rest = warp.in_exchange & mask; rest != 0; rest &= rest - 1) {
        const int lane = __builtin_ctz(rest);
        if (warp.threads[lane].mask == mask)
            group |= 1u << lane;
    }
    return group;
}

std::uint64_t answer(const Warp& warp, const Thread& thread, LaneMask group, const std::uint64_t* values)
{
    switch (thread.operation) {
        case cuco_emu_shuffle: {
            const int source = thread.source & 31;
            return (group >> source) & 1u ? values[source] : values[thread.lane];
        }
        case cuco_emu_ballot: {
            LaneMask votes = 0;
            for (unsigned rest = group; rest != 0; rest &= rest - 1)
                votes |= values[__builtin_ctz(rest)] != 0 ? rest & -rest : 0;
            return votes;
        }
        case cuco_emu_match_any:
        case cuco_emu_match_all: {
            LaneMask same = 0;
            for (unsigned rest = group; rest != 0; rest &= rest - 1)
                same |= values[__builtin_ctz(rest)] == values[thread.lane] ? rest & -rest : 0;
            return thread.operation == cuco_emu_match_any || same == (thread.mask & (warp.live | group)) ? same : 0;
        }
        default:
            return 0;
    }
}

/// All of `group` have come: every lane gets its answer and may run on.
void complete_meeting(Warp& warp, LaneMask group)
{
    if (race_checking)
        race_meet_in_warp(warp, group);
    std::uint64_t values[32];
    for (unsigned rest = group; rest != 0; rest &= rest - 1)
        values[__builtin_ctz(rest)] = warp.threads[__builtin_ctz(rest)].value;
    for (unsigned rest = group; rest != 0; rest &= rest - 1) {
        Thread& thread = warp.threads[__builtin_ctz(rest)];
        thread.value = answer(warp, thread, group, values);
    }
    warp.in_exchange &= ~group;
    warp.ready |= group;
}

/// Puts the running lane into a meeting. True when it was the last: it need not wait.
bool join(Thread& thread, unsigned mask)
{
    Warp& warp = *thread.warp;
    thread.mask = mask | (1u << thread.lane);
    warp.in_exchange |= 1u << thread.lane;
    const LaneMask group = waiting_with(warp, thread.mask);
    if ((thread.mask & warp.live & ~group) != 0) {
        wait_in(Wait::exchange);
        return false;
    }
    complete_meeting(warp, group);
    warp.ready &= ~(1u << thread.lane);
    return true;
}

}  // namespace

void meet_without_ended(Warp& warp)
{
    unsigned rest = warp.in_exchange;
    while (rest != 0) {
        const unsigned mask = warp.threads[__builtin_ctz(rest)].mask;
        const LaneMask group = waiting_with(warp, mask);
        rest &= ~group;
        if ((mask & warp.live & ~group) == 0)
            complete_meeting(warp, group);
    }
}

void arrive_at_barrier(Thread& thread)
{
    Block& block = *thread.warp->block;
    NamedBarrier& barrier = block.barriers[static_cast<std::size_t>(thread.barrier)];
    thread.wait = Wait::barrier;
    barrier.count = thread.barrier_threads;
    ++barrier.waiting;
    barrier.ones += thread.predicate != 0;
    complete_barrier(block, thread.barrier);
}

/// As on the device, threads that have ended are not waited for.
void complete_barrier(Block& block, int id)
{
    NamedBarrier& barrier = block.barriers[static_cast<std::size_t>(id)];
    const int expected = barrier.count != 0 ? barrier.count : block.live;
    if (barrier.waiting == 0 || barrier.waiting < expected)
        return;
    const Time when = now() + from_us(machine().model.barrier_latency_us);
    const int ones = barrier.ones, waiting = barrier.waiting;
    barrier = NamedBarrier{};
    std::vector<Thread*> met;
    for (Warp& warp : block.warps) {
        unsigned lanes = 0;
        for (unsigned rest = warp.live; rest != 0; rest &= rest - 1) {
            Thread& thread = warp.threads[__builtin_ctz(rest)];
            if (thread.wait != Wait::barrier || thread.barrier != id)
                continue;
            thread.wait = Wait::none;
            thread.result = thread.barrier_kind == 2 ? ones == waiting : thread.barrier_kind == 3 ? ones != 0 : ones;
            lanes |= rest & -rest;
            if (race_checking)
                met.push_back(&thread);
        }
        if (lanes != 0)
            wake(warp, lanes, when);
    }
    if (!met.empty())
        race_meet_in_block(block, met, waiting == block.live);
}

namespace {

int live_threads(const Kernel& kernel)
{
    const auto block_threads = kernel.block.x * kernel.block.y * kernel.block.z;
    int live = static_cast<int>((kernel.blocks - kernel.started) * block_threads);
    for (const Block* block : kernel.resident)
        live += block->live;
    return live;
}

void complete_grid_barrier(Kernel& kernel)
{
    if (kernel.grid_waiting == 0 || kernel.grid_waiting < live_threads(kernel))
        return;
    kernel.grid_waiting = 0;
    const Time when = now() + from_us(machine().model.grid_barrier_latency_us);
    std::vector<Thread*> met;
    for (Block* block : kernel.resident) {
        for (Warp& warp : block->warps) {
            unsigned lanes = 0;
            for (unsigned rest = warp.live; rest != 0; rest &= rest - 1) {
                Thread& thread = warp.threads[__builtin_ctz(rest)];
                if (thread.wait == Wait::grid) {
                    thread.wait = Wait::none;
                    lanes |= rest & -rest;
                    if (race_checking)
                        met.push_back(&thread);
                }
            }
            if (lanes != 0)
                wake(warp, lanes, when);
        }
    }
    if (!met.empty())
        race_meet_in_grid(kernel, met);
}

}  // namespace

void arrive_at_grid_barrier(Thread& thread)
{
    Kernel& kernel = *thread.warp->block->kernel;
    thread.wait = Wait::grid;
    ++kernel.grid_waiting;
    complete_grid_barrier(kernel);
}

void thread_ended(Kernel& kernel)
{
    if (kernel.grid_waiting > 0)
        complete_grid_barrier(kernel);
}

}  // namespace cuco_emu

using namespace cuco_emu;

int cuco_emu_block_barrier(int id, int threads, int kind, int predicate)
{
    Thread& thread = *current_thread;
    if (id < 0 || id > 15)
        fail_in_kernel("crash", "A block has barriers 0 to 15; the kernel uses number " + std::to_string(id) + ".",
                       thread);
    thread.call_site = CUCO_EMU_CALL_SITE();
    thread.barrier = id;
    thread.barrier_threads = threads;
    thread.barrier_kind = kind;
    thread.predicate = predicate;
    thread.quiet = false;
    wait_in(Wait::barrier_arrive);
    return thread.result;
}

void cuco_emu_grid_barrier()
{
    Thread& thread = *current_thread;
    thread.call_site = CUCO_EMU_CALL_SITE();
    if (!thread.warp->block->kernel->cooperative)
        fail_in_kernel("crash", "grid.sync() needs a cooperative launch (cudaLaunchCooperativeKernel).", thread);
    thread.quiet = false;
    wait_in(Wait::grid_arrive);
}

std::uint64_t cuco_emu_exchange(int operation, unsigned mask, std::uint64_t value, int source)
{
    Thread& thread = *current_thread;
    thread.call_site = CUCO_EMU_CALL_SITE();
    thread.operation = operation;
    thread.value = value;
    thread.source = source;
    join(thread, mask);
    return thread.value;
}

void cuco_emu_collect(unsigned mask, void* mine, void (*work)(void**, const void*), const void* argument)
{
    collect(mask, mine, work, argument, CUCO_EMU_CALL_SITE());
}

void cuco_emu::collect(unsigned mask, void* mine, void (*work)(void**, const void*), const void* argument,
                       const void* site)
{
    Thread& thread = *current_thread;
    Warp& warp = *thread.warp;
    thread.call_site = site;
    thread.operation = cuco_emu_sync;
    thread.pointer = mine;
    const unsigned own = 1u << thread.lane;
    const LaneMask others = waiting_with(warp, mask | own);
    if (((mask | own) & warp.live & ~(others | own)) == 0) {
        void* lanes[32] = {};
        for (unsigned rest = others | own; rest != 0; rest &= rest - 1)
            lanes[__builtin_ctz(rest)] = warp.threads[__builtin_ctz(rest)].pointer;
        work(lanes, argument);
    }
    join(thread, mask);
}

unsigned cuco_emu_active_mask()
{
    Thread& thread = *current_thread;
    thread.call_site = CUCO_EMU_CALL_SITE();
    thread.warp->in_active_mask |= 1u << thread.lane;
    wait_in(Wait::active_mask);
    return static_cast<unsigned>(thread.value);
}

int cuco_emu_lane()
{
    return current_thread->lane;
}
