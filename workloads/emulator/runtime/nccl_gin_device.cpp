// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/failure.h"
#include "runtime/memory.h"
#include "runtime/nccl_gin.h"
#include "runtime/poll.h"
#include "runtime/warp.h"

#include <algorithm>

/// What kernels call of ncclGin.
namespace cuco_emu {
namespace {

std::string kernel_name()
{
    return "Kernel " + current_warp->block->kernel->name;
}

GinState& state_of(const void* object, const void* site)
{
    if (!object)
        fail_in_kernel("crash",
                       kernel_name() +
                           " uses GIN, which its device communicator does not have. All ranks are on one "
                           "host: set ginForceEnable in ncclDevCommRequirements.",
                       *current_thread, site);
    return *static_cast<GinState*>(const_cast<void*>(object));
}

const GinState::Barriers* barriers_of(const GinState& state, std::uint32_t signal)
{
    const auto found = std::ranges::find_if(state.barriers, [&](const GinState::Barriers& barriers) {
        return signal - barriers.first < static_cast<std::uint32_t>(barriers.count);
    });
    return found == state.barriers.end() ? nullptr : &*found;
}

void check_cell(const GinState& state, bool counter, std::uint32_t id, bool barrier, const void* site)
{
    const int count = counter ? state.counters : state.signals;
    const bool exists = id < static_cast<std::uint32_t>(count);
    if (exists && (counter || barrier || !barriers_of(state, id)))
        return;
    const std::string what = counter ? "GIN counter " : "GIN signal ";
    const std::string field = counter ? "ginCounterCount" : "ginSignalCount";
    fail_in_kernel("out_of_bounds",
                   kernel_name() + " uses " + what + std::to_string(id) +
                       (exists ? ", which belongs to a barrier."
                               : ", but the device communicator was created with " +
                                     std::to_string(counter ? count : state.own_signals) + " (" + field + ")."),
                   *current_thread, site);
}

char* in_window(ncclWindow_t window, int rank, std::size_t offset, std::size_t bytes, bool write, const void* site)
{
    const std::string what = kernel_name() + (write ? " puts " : " puts, as a source, ") + std::to_string(bytes) +
                             " bytes at offset " + std::to_string(offset);
    if (offset > window->bytes || bytes > window->bytes - offset)
        fail_in_kernel("out_of_bounds", what + " of a window of " + std::to_string(window->bytes) + " bytes.",
                       *current_thread, site);
    char* address = window->pointers[rank] + offset;
    if (!range_accessible(address, bytes, write))
        fail_in_kernel("out_of_bounds",
                       what + " of a window, " + describe_address(address) + ", which it may not " +
                           (write ? "write" : "read") + " as a whole.",
                       *current_thread, site);
    return address;
}

std::string ranks_in_words(const std::vector<int>& ranks)
{
    std::string text = ranks.empty() ? "none" : ranks.size() == 1 ? "rank " : "ranks ";
    for (std::size_t i = 0; i < ranks.size(); ++i)
        text += (i > 0 ? ", " : "") + std::to_string(ranks[i]);
    return text;
}

std::string of_context(const GinState& state, int context)
{
    return state.contexts > 1 ? " of context " + std::to_string(context) : "";
}

std::string describe_barrier(const GinState& state, const GinWaiter& waiter, const GinState::Barriers& barriers)
{
    const GinCell& cell = *waiter.cell;
    const auto rounds = waiter.least / static_cast<std::uint64_t>(waiter.team - 1);
    std::vector<int> arrived, missing;
    for (int rank = 0; rank < state.ranks; ++rank)
        (rank == cell.rank || cell.times[static_cast<std::size_t>(rank)] >= rounds ? arrived : missing).push_back(rank);
    return "in GIN barrier " + std::to_string(cell.id - barriers.first) + of_context(state, cell.context) +
           (waiter.team == state.ranks
                ? " (arrived: " + ranks_in_words(arrived) + "; missing: " + ranks_in_words(missing) + ")"
                : " of a team of " + std::to_string(waiter.team));
}

}  // namespace

std::string describe_gin_wait(const Thread& thread)
{
    const auto& state = *static_cast<const GinState*>(thread.gin_state);
    const auto waiter = std::ranges::find(state.waiters, &thread, &GinWaiter::thread);
    if (waiter == state.waiters.end())
        return "for the network adapter";
    if (!waiter->cell)
        return "in flush for what was put to rank " + std::to_string(waiter->queue->to);
    const GinCell& cell = *waiter->cell;
    if (const auto* barriers = barriers_of(state, cell.id); barriers && !cell.counter && waiter->team > 1)
        return describe_barrier(state, *waiter, *barriers);
    std::string text = std::string("for GIN ") + (cell.counter ? "counter " : "signal ") + std::to_string(cell.id) +
                       of_context(state, cell.context) + " to reach " + std::to_string(waiter->least) + "; it is at " +
                       std::to_string(*cell.value);
    if (cell.counter)
        return text;
    std::vector<int> seen, silent;
    for (int rank = 0; rank < state.ranks; ++rank)
        (cell.times[static_cast<std::size_t>(rank)] > 0 ? seen : silent).push_back(rank);
    if (seen.empty())
        return text + " (no rank has signalled it)";
    return text + " (signalled by " + ranks_in_words(seen) +
           (silent.empty() ? "" : ", not by " + ranks_in_words(silent)) + ")";
}

}  // namespace cuco_emu

using namespace cuco_emu;

int cuco_emu_gin_context(const void* object, int index)
{
    if (!object)
        return 0;
    if (index < 0 || index >= NCCL_GIN_MAX_CONTEXTS)
        fail_in_kernel("out_of_bounds",
                       kernel_name() + " uses GIN context " + std::to_string(index) + "; contexts are 0 to " +
                           std::to_string(NCCL_GIN_MAX_CONTEXTS - 1) + " at most.",
                       *current_thread, CUCO_EMU_CALL_SITE());
    return index % static_cast<const GinState*>(object)->contexts;
}

void cuco_emu_gin_check_signal(const void* object, std::uint32_t signal)
{
    check_cell(state_of(object, CUCO_EMU_CALL_SITE()), false, signal, false, CUCO_EMU_CALL_SITE());
}

void cuco_emu_gin_check_barrier(ncclGinBarrierHandle handle, std::uint32_t index)
{
    if (index >= static_cast<std::uint32_t>(handle.nBarriers))
        fail_in_kernel("out_of_bounds",
                       kernel_name() + " uses GIN barrier " + std::to_string(index) +
                           ", but the device communicator was created with " + std::to_string(handle.nBarriers) + ".",
                       *current_thread, CUCO_EMU_CALL_SITE());
}

std::uint32_t cuco_emu_gin_epoch(const void* object, int self, int context, std::uint32_t signal)
{
    return state_of(object, CUCO_EMU_CALL_SITE()).cell(self, context, false, signal).epoch;
}

void cuco_emu_gin_set_epoch(void* object, int self, int context, std::uint32_t signal, std::uint32_t epoch)
{
    state_of(object, CUCO_EMU_CALL_SITE()).cell(self, context, false, signal).epoch = epoch;
}

void cuco_emu_gin_issue(void* object, int self, const cuco_emu_gin_operation* operation)
{
    const void* site = CUCO_EMU_CALL_SITE();
    GinState& state = state_of(object, site);
    Thread& thread = *current_thread;
    const int peer = operation->peer;
    if (peer < 0 || peer >= state.ranks)
        fail_in_kernel(
            "out_of_bounds",
            kernel_name() + " puts to rank " + std::to_string(peer) + " of " + std::to_string(state.ranks) + ".",
            thread, site);
    if (operation->signals != 0)
        check_cell(state, false, operation->signal, operation->barrier != 0, site);
    if (operation->counts != 0)
        check_cell(state, true, operation->counter, false, site);
    settle_costs();
    auto transfer = std::make_shared<GinTransfer>();
    transfer->state = state.shared_from_this();
    transfer->queue = &state.queue(operation->context, self, peer);
    transfer->operation = *operation;
    if (operation->bytes > 0) {
        transfer->to = in_window(operation->to, peer, operation->to_offset, operation->bytes, true, site);
        if (operation->from)
            transfer->from = in_window(operation->from, self, operation->from_offset, operation->bytes, false, site);
    }
    transfer->issuer = describe_thread(thread);
    transfer->race.rank = thread.warp->block->kernel->rank->index;
    transfer->race.site = site;
    if (race_checking) {
        race_arrive(transfer->released, operation->released != 0 ? __ATOMIC_RELAXED : __ATOMIC_RELEASE);
        transfer->race.known = race_before_transfer(transfer->released);
    }
    if (operation->signals != 0)
        ++state.cell(peer, operation->context, false, operation->signal).under_way;
    if (operation->counts != 0)
        ++state.cell(self, operation->context, true, operation->counter).under_way;
    thread.warp->block->kernel->peer_bytes += operation->bytes;
    thread.warp->cost.latency = std::max(thread.warp->cost.latency, from_us(machine().model.gin_issue_us));
    thread.quiet = false;
    gin_issue(transfer);
}

void cuco_emu_gin_flush(void* object, int self, int context, int peer, int order)
{
    GinState& state = state_of(object, CUCO_EMU_CALL_SITE());
    Thread& thread = *current_thread;
    thread.call_site = CUCO_EMU_CALL_SITE();
    settle_costs();
    GinQueue& queue = state.queue(context, self, peer);
    gin_consume(queue);
    if (queue.arrived < queue.issued || queue.completed > now()) {
        if (queue.arrived < queue.issued)
            state.waiters.push_back({&thread, nullptr, &queue, queue.issued, 0, 0});
        else
            wake(thread, queue.completed);
        thread.gin_state = &state;
        wait_in(Wait::gin);
    }
    if (race_checking)
        race_wait(queue.consumed, order);
}

std::uint64_t cuco_emu_gin_wait(void* object, int self, int context, int counter, std::uint32_t id, std::uint64_t least,
                                int bits, int order, int team)
{
    GinState& state = state_of(object, CUCO_EMU_CALL_SITE());
    Thread& thread = *current_thread;
    thread.call_site = CUCO_EMU_CALL_SITE();
    check_cell(state, counter != 0, id, team > 0, thread.call_site);
    settle_costs();
    GinCell& cell = state.cell(self, context, counter != 0, id);
    if (!gin_reached(*cell.value, least, bits)) {
        state.waiters.push_back({&thread, &cell, nullptr, least, bits, team});
        thread.gin_state = &state;
        wait_in(Wait::gin);
    }
    thread.warp->cost.latency = std::max(thread.warp->cost.latency, from_us(machine().model.poll_local_us));
    if (race_checking)
        race_wait(cell.carried, order);
    return *cell.value;
}

std::uint64_t cuco_emu_gin_read(void* object, int self, int context, int counter, std::uint32_t id, int order)
{
    const void* site = CUCO_EMU_CALL_SITE();
    GinState& state = state_of(object, site);
    Thread& thread = *current_thread;
    check_cell(state, counter != 0, id, false, site);
    settle_costs();
    GinCell& cell = state.cell(self, context, counter != 0, id);
    poll(cell.value, sizeof *cell.value, site);
    thread.warp->cost.latency = std::max(thread.warp->cost.latency, from_us(machine().model.poll_local_us));
    if (race_checking)
        race_wait(cell.carried, order);
    return *cell.value;
}

void cuco_emu_gin_reset(void* object, int self, int context, int counter, std::uint32_t id)
{
    const void* site = CUCO_EMU_CALL_SITE();
    GinState& state = state_of(object, site);
    check_cell(state, counter != 0, id, false, site);
    settle_costs();
    GinCell& cell = state.cell(self, context, counter != 0, id);
    if (cell.under_way > 0)
        fail_in_kernel("crash",
                       kernel_name() + " resets GIN " + (counter != 0 ? "counter " : "signal ") + std::to_string(id) +
                           " while " + std::to_string(cell.under_way) + " more to it " +
                           (cell.under_way == 1 ? "is" : "are") + " under way.",
                       *current_thread, site);
    *cell.value = 0;
    cell.operation = 0;
    std::ranges::fill(cell.times, 0);
    cell.carried = nullptr;
    current_thread->quiet = false;
    note_write(cell.value, sizeof *cell.value, current_rank);
}
