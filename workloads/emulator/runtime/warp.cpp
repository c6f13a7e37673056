// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/warp.h"

#include "runtime/failure.h"
#include "runtime/fiber.h"
#include "runtime/kernel.h"
#include "runtime/system_calls.h"
#include "runtime/trace.h"

#include <algorithm>

namespace cuco_emu {

uint3 thread_index, block_index, block_extent, grid_extent;
thread_local std::uintptr_t current_stack = no_stack;

namespace {

constexpr std::uint64_t canary = 0x5ca1ab1e0ddba11d;

std::vector<char*> free_stacks;

char* take_stack()
{
    if (free_stacks.empty()) {
        constexpr std::size_t count = 64;
        auto* piece = static_cast<char*>(commit(stack_slot, count * thread_stack_bytes));
        if (!piece)
            fail({"environment", -1, "The emulator has no memory left for the stacks of CUDA threads.", "", 0});
        for (std::size_t i = count; i-- > 0;) {
            *reinterpret_cast<std::uint64_t*>(piece + i * thread_stack_bytes) = canary;
            free_stacks.push_back(piece + i * thread_stack_bytes);
        }
    }
    char* stack = free_stacks.back();
    free_stacks.pop_back();
    return stack;
}

bool is_intact(const Thread& thread)
{
    return *reinterpret_cast<const std::uint64_t*>(thread.stack) == canary;
}

void thread_main(void* self)
{
    auto& thread = *static_cast<Thread*>(self);
    const Kernel& kernel = *thread.warp->block->kernel;
    kernel.run(kernel.parameters);
    wait_in(Wait::exit);
}

void resume(Warp& warp, int lane)
{
    Thread& thread = warp.threads[lane];
    thread.wait = Wait::none;
    current_thread = &thread;
    current_stack = reinterpret_cast<std::uintptr_t>(thread.stack);
    thread_index = thread.index;
    const std::uint64_t before = warp.cost.bursts;
    warp.cost.burst_left = 0;
    watched_system_calls = 1;
    switch_fiber(&scheduler_stack, thread.stack_pointer);
    watched_system_calls = 0;
    current_stack = no_stack;
    warp.cost.longest_run = std::max(warp.cost.longest_run, warp.cost.bursts - before);
}

/// Lanes that called __activemask at the same place form one group, once no lane of the warp can run on.
bool answer_active_mask(Warp& warp)
{
    if (warp.in_active_mask == 0)
        return false;
    const Thread& first = warp.threads[__builtin_ctz(warp.in_active_mask)];
    unsigned group = 0;
    for (unsigned rest = warp.in_active_mask; rest != 0; rest &= rest - 1) {
        const int lane = __builtin_ctz(rest);
        if (warp.threads[lane].call_site == first.call_site)
            group |= 1u << lane;
    }
    for (unsigned rest = group; rest != 0; rest &= rest - 1)
        warp.threads[__builtin_ctz(rest)].value = group;
    warp.in_active_mask &= ~group;
    warp.ready |= group;
    return true;
}

void describe_costs(Warp& warp)
{
    const Model& model = machine().model;
    const Cost& cost = warp.cost;
    Rank& rank = *warp.block->kernel->rank;
    Sm& sm = *warp.block->sm;
    Work& work = warp.work;
    const double share = model.sm_count;

    const double instructions = static_cast<double>(cost.accesses) * model.instructions_per_access / 32;
    const Time issue =
        static_cast<Time>(instructions * machine().byte_scale / model.warp_instructions_per_ns * share * 1000);
    work.need(sm.issue, issue);
    work.at_least(static_cast<Time>(static_cast<double>(issue) * model.issue_warps_per_sm));
    if (cost.flops > 0 || cost.group_flops > 0) {
        const Time tensor = flops_time(cost.flops * share, model.wmma_tflops) +
                            flops_time(cost.group_flops * share, model.wgmma_tflops);
        work.need(sm.tensor, tensor);
        work.at_least(static_cast<Time>(static_cast<double>(tensor) * model.wmma_warps_per_sm));
    }
    const auto bytes = [](std::uint64_t count) { return static_cast<double>(count); };
    work.need(sm.shared, bytes_time(bytes(cost.shared_bytes) * share, model.shared_gbps));
    const double own = bytes(cost.read_bytes + cost.write_bytes);
    work.need(rank.hbm, bytes_time(own, model.hbm_gbps));
    work.need(sm.global, bytes_time(own, model.hbm_sm_gbps));
    work.need(rank.host_link, bytes_time(bytes(cost.pinned_bytes), model.host_link_gbps));
    Time latency = cost.latency;
    if (cost.read_bytes > 0)
        latency = std::max(latency, from_us(model.global_latency_us));
    double stored = 0, loaded = 0;
    if (cost.peer) {
        for (auto& peer : machine().ranks) {
            const double to = bytes(cost.peer_write[peer->index]), from = bytes(cost.peer_read[peer->index]);
            const Time out = bytes_time(to, model.link_store_gbps), in = bytes_time(from, model.link_load_gbps);
            work.need(rank.egress, out);
            work.need(peer->ingress, out);
            work.need(peer->egress, in);
            work.need(rank.ingress, in);
            work.need(peer->hbm, bytes_time(to + from, model.hbm_gbps));
            stored += to;
            loaded += from;
        }
        work.need(sm.link, bytes_time(stored, model.link_store_sm_gbps));
        work.need(sm.link, bytes_time(loaded, model.link_load_sm_gbps));
        if (loaded > 0)
            latency = std::max(latency, from_us(model.peer_latency_us));
        warp.block->kernel->peer_bytes += static_cast<std::uint64_t>(stored + loaded);
    }
    const double bursts = bytes(cost.longest_run) * machine().byte_scale * model.sm_count / model.real_sm_count;
    work.at_least(static_cast<Time>(bursts * static_cast<double>(from_us(model.lane_burst_us))));
    work.add_latency(latency);
}

void commit(Warp& warp);

void charged(void* self)
{
    auto& warp = *static_cast<Warp*>(self);
    warp.charging = false;
    --warp.block->events;
    note_segment(*warp.block->kernel, warp.charge_begin, warp.puts, warp.computes);
    commit(warp);
}

void settle(Warp& warp)
{
    if (warp.charging || warp.pending == 0)
        return;
    if (warp.cost.empty()) {
        commit(warp);
        return;
    }
    if (!machine().timeless)
        describe_costs(warp);
    warp.puts = warp.cost.peer;
    warp.computes = warp.cost.flops > 0 || warp.cost.group_flops > 0 || warp.cost.shared_bytes > 0;
    warp.block->kernel->computes |= warp.computes;
    const auto total = warp.cost.total_accesses + warp.cost.accesses;
    warp.cost = Cost{};
    warp.cost.total_accesses = total;
    warp.charging = true;
    warp.charge_begin = now();
    ++warp.block->events;
    warp.work.start(now(), charged, &warp);
}

void end_thread(Thread& thread)
{
    Warp& warp = *thread.warp;
    Block& block = *warp.block;
    if (!is_intact(thread))
        fail_in_kernel("crash", stack_overflow_message, thread);
    thread.wait = Wait::done;
    if (race_checking)
        race_end_thread(thread);
    warp.live &= ~(1u << thread.lane);
    --block.live;
    for (std::size_t id = 0; id < block.barriers.size(); ++id)
        if (block.barriers[id].waiting > 0)
            complete_barrier(block, static_cast<int>(id));
    meet_without_ended(warp);
    thread_ended(*block.kernel);
}

/// The warp has paid; what its lanes were about to do happens now, in the order of lanes.
void commit(Warp& warp)
{
    Block& block = *warp.block;
    const unsigned pending = warp.pending;
    warp.pending = 0;
    for (unsigned rest = pending; rest != 0; rest &= rest - 1) {
        Thread& thread = warp.threads[__builtin_ctz(rest)];
        switch (thread.wait) {
            case Wait::barrier_arrive:
                arrive_at_barrier(thread);
                break;
            case Wait::grid_arrive:
                arrive_at_grid_barrier(thread);
                break;
            case Wait::exit:
                end_thread(thread);
                break;
            default:
                warp.ready |= 1u << thread.lane;
                break;
        }
    }
    if (warp.ready != 0)
        run_warp(warp);
    else if (block.live == 0)
        finish_block(block);
}

void woken(void* self)
{
    auto& warp = *static_cast<Warp*>(self);
    Block& block = *warp.block;
    --block.events;
    warp.ready |= warp.waking;
    warp.waking = 0;
    if (warp.ready != 0 && !warp.charging)
        run_warp(warp);
    else if (block.live == 0)
        finish_block(block);
}

}  // namespace

void prepare_threads(Block& block)
{
    const Kernel& kernel = *block.kernel;
    const unsigned count = kernel.block.x * kernel.block.y * kernel.block.z;
    block.threads.assign(count, Thread{});
    block.warps.resize((count + 31) / 32);
    for (std::size_t w = 0; w < block.warps.size(); ++w) {
        Warp& warp = block.warps[w];
        warp.block = &block;
        warp.threads = &block.threads[w * 32];
        warp.lanes = static_cast<int>(std::min<std::size_t>(32, count - w * 32));
        warp.live = warp.lanes == 32 ? ~0u : (1u << warp.lanes) - 1;
        warp.ready = warp.waking = warp.pending = warp.in_exchange = warp.in_active_mask = 0;
        warp.cost = Cost{};
        warp.charging = false;
        warp.wait_begin = -1;
        warp.products.reset();
    }
    for (unsigned i = 0; i < count; ++i) {
        Thread& thread = block.threads[i];
        thread.warp = &block.warps[i / 32];
        thread.lane = static_cast<std::uint8_t>(i % 32);
        thread.index = {i % kernel.block.x, i / kernel.block.x % kernel.block.y, i / (kernel.block.x * kernel.block.y)};
        thread.stack = take_stack();
        // Staggered, because equal offsets in equally aligned stacks share one set of the cache.
        char* top = thread.stack + thread_stack_bytes - (i % 64) * 128;
        thread.stack_pointer = prepare_fiber(top, thread_main, &thread);
    }
    block.live = static_cast<int>(count);
    block.barriers = {};
    if (race_checking)
        race_begin_block(block);
}

const Thread* overflowed_thread()
{
    for (const auto& rank : machine().ranks)
        for (const Kernel* kernel : rank->kernels)
            for (const Block* block : kernel->resident)
                for (const Thread& thread : block->threads)
                    if (!is_intact(thread))
                        return &thread;
    return nullptr;
}

void release_threads(Block& block)
{
    for (auto thread = block.threads.rbegin(); thread != block.threads.rend(); ++thread)
        free_stacks.push_back(thread->stack);
    block.threads.clear();
}

void run_warp(Warp& warp)
{
    Block& block = *warp.block;
    Kernel& kernel = *block.kernel;
    current_warp = &warp;
    current_rank = kernel.rank;
    block_index = block.index;
    block_extent = kernel.block;
    grid_extent = kernel.grid;
    if (warp.wait_begin >= 0) {
        note_wait(kernel, warp.wait_begin);
        warp.wait_begin = -1;
    }
    do {
        while (warp.ready != 0) {
            const int lane = __builtin_ctz(warp.ready);
            warp.ready &= warp.ready - 1;
            resume(warp, lane);
        }
    } while (answer_active_mask(warp));
    current_warp = nullptr;
    current_thread = nullptr;
    current_rank = nullptr;
    settle(warp);
}

void wake(Warp& warp, unsigned lanes, Time when)
{
    warp.waking |= lanes;
    ++warp.block->events;
    at(when, woken, &warp);
}

void wait_in(Wait reason)
{
    Thread& thread = *current_thread;
    thread.wait = reason;
    switch (reason) {
        case Wait::visible:
        case Wait::barrier_arrive:
        case Wait::grid_arrive:
        case Wait::exit:
            thread.warp->pending |= 1u << thread.lane;
            break;
        case Wait::poll:
        case Wait::lsa:
        case Wait::gin:
            thread.warp->wait_begin = now();
            break;
        default:
            break;
    }
    switch_fiber(&thread.stack_pointer, scheduler_stack);
}

void settle_costs()
{
    if (!current_warp->cost.empty())
        wait_in(Wait::visible);
}

}  // namespace cuco_emu
