// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/nccl_gin.h"

#include "runtime/failure.h"
#include "runtime/memory.h"
#include "runtime/poll.h"
#include "runtime/race_report.h"
#include "runtime/trace.h"
#include "runtime/warp.h"

#include <algorithm>
#include <cstring>

/// What the network adapters do with transfers, in the order of modelled time.
namespace cuco_emu {
namespace {

Rank& owner_of(const GinState& state, int rank)
{
    return *state.owners[static_cast<std::size_t>(rank)];
}

[[noreturn]] void fail_in_transfer(const GinTransfer& transfer, const char* kind, const std::string& message)
{
    fail({kind, owner_of(*transfer.state, transfer.queue->from).index, message, "in " + transfer.issuer,
          source_line(transfer.race.site)});
}

bool has_left(const GinTransfer& transfer)
{
    const auto& gone = transfer.state->gone;
    return gone[static_cast<std::size_t>(transfer.queue->from)] || gone[static_cast<std::size_t>(transfer.queue->to)];
}

/// What is known to whom learns that a source was read, or that all of a transfer is done.
ClockRef clock_of(const GinTransfer& transfer, RaceTime until)
{
    return transfer.race.task != 0 ? join(transfer.released, {{task_node(transfer.race.task), until}})
                                   : transfer.released;
}

void read_source(GinTransfer& transfer)
{
    if (transfer.consumed)
        return;
    transfer.consumed = true;
    if (!transfer.from) {
        const auto* value = reinterpret_cast<const char*>(&transfer.operation.value);
        transfer.data.assign(value, value + transfer.bytes());
        return;
    }
    if (has_left(transfer))
        return;
    if (!range_accessible(transfer.from, transfer.bytes(), false))
        fail_in_transfer(transfer, "out_of_bounds",
                         "A put reads its source, " + describe_address(transfer.from) +
                             ", after that was taken back: nobody waited for it by flush or a counter.");
    transfer.data.assign(transfer.from, transfer.from + transfer.bytes());
    if (race_checking) {
        race_in_transfer(transfer.race, transfer.from, transfer.bytes(), false, false);
        transfer.queue->consumed = join(transfer.queue->consumed, clock_of(transfer, 2));
    }
}

bool is_one_value(const GinTransfer& transfer)
{
    const auto bytes = transfer.bytes();
    return !transfer.from && (bytes & (bytes - 1)) == 0 && reinterpret_cast<std::uintptr_t>(transfer.to) % bytes == 0;
}

void settle(GinTransfer& transfer)
{
    if (transfer.settled)
        return;
    const auto keep = transfer.shared_from_this();
    read_source(transfer);
    transfer.settled = true;
    std::erase(transfer.queue->unsettled, keep);
    if (has_left(transfer))
        return;
    if (transfer.to) {
        if (!range_accessible(transfer.to, transfer.bytes(), true))
            fail_in_transfer(transfer, "out_of_bounds",
                             "A put arrives at " + describe_address(transfer.to) +
                                 " after that was taken back: its receiver did not wait for it by a signal.");
        std::memcpy(transfer.to, transfer.data.data(), transfer.bytes());
        if (race_checking)
            race_in_transfer(transfer.race, transfer.to, transfer.bytes(), true, is_one_value(transfer));
        note_write(transfer.to, transfer.bytes(), nullptr);
    }
    if (race_checking && transfer.race.task != 0)
        transfer.queue->settled = join(transfer.queue->settled, clock_of(transfer, race_for_ever));
}

void wake_waiters(GinState& state, const GinCell& cell)
{
    note_write(cell.value, sizeof *cell.value, nullptr);
    std::erase_if(state.waiters, [&](const GinWaiter& waiter) {
        const bool met = waiter.cell == &cell && gin_reached(*cell.value, waiter.least, waiter.bits);
        if (met)
            wake(*waiter.thread, now());
        return met;
    });
}

void count(GinTransfer& transfer)
{
    GinState& state = *transfer.state;
    GinCell& cell = state.cell(transfer.queue->from, transfer.queue->context, true, transfer.operation.counter);
    --cell.under_way;
    if (has_left(transfer))
        return;
    ++*cell.value;
    if (race_checking)
        cell.carried = join(cell.carried, clock_of(transfer, 2));
    wake_waiters(state, cell);
}

/// All of the queue up to this transfer has settled.
void signal(GinTransfer& transfer)
{
    GinState& state = *transfer.state;
    const GinQueue& queue = *transfer.queue;
    GinCell& cell = state.cell(queue.to, queue.context, false, transfer.operation.signal);
    --cell.under_way;
    if (has_left(transfer))
        return;
    if (cell.operation != 0 && cell.operation != transfer.operation.signals)
        fail_in_transfer(transfer, "crash",
                         "GIN signal " + std::to_string(cell.id) + " of rank " + std::to_string(queue.to) +
                             " gets SignalInc and SignalAdd without a resetSignal between them.");
    cell.operation = transfer.operation.signals;
    *cell.value += transfer.operation.amount;
    ++cell.times[static_cast<std::size_t>(queue.from)];
    if (race_checking)
        cell.carried = join({cell.carried, transfer.released, queue.settled});
    wake_waiters(state, cell);
}

void arrive(GinTransfer& transfer)
{
    const auto keep = transfer.shared_from_this();
    GinState& state = *transfer.state;
    GinQueue& queue = *transfer.queue;
    const Model& model = machine().model;
    transfer.arrived = true;
    ++queue.arrived;
    queue.completed = now() + from_us(model.gin_latency_us);
    trace_gin(owner_of(state, queue.from), queue.to, transfer.begin, transfer.to != nullptr, transfer.bytes());
    if (transfer.operation.counts || transfer.wanted)
        read_source(transfer);
    if (transfer.operation.counts)
        at(queue.completed, [keep] { count(*keep); });
    if (transfer.operation.signals) {
        while (!transfer.settled)
            settle(*queue.unsettled.front());
        signal(transfer);
    } else if (!transfer.from) {
        settle(transfer);
    } else {
        at(now() + from_us(model.gin_unsignalled_us), [keep] { settle(*keep); });
    }
    std::erase_if(state.waiters, [&](const GinWaiter& waiter) {
        const bool met = !waiter.cell && waiter.queue == &queue && queue.arrived >= waiter.least;
        if (met)
            wake(*waiter.thread, queue.completed);
        return met;
    });
}

void leave(GinQueue& queue);

void left(void* self)
{
    auto& transfer = *static_cast<GinTransfer*>(self);
    const auto keep = std::move(transfer.self);
    GinQueue& queue = *transfer.queue;
    const Rank& receiver = owner_of(*transfer.state, queue.to);
    queue.last_arrival =
        std::max(queue.last_arrival, now() + from_us(machine().model.gin_latency_us) + random_delay(receiver));
    at(queue.last_arrival, [keep] { arrive(*keep); });
    queue.waiting.pop_front();
    if (!queue.waiting.empty())
        leave(queue);
}

/// Starts the first of the queue.
void leave(GinQueue& queue)
{
    GinTransfer& transfer = *queue.waiting.front();
    transfer.self = queue.waiting.front();
    transfer.begin = now();
    Rank &from = owner_of(*transfer.state, queue.from), &to = owner_of(*transfer.state, queue.to);
    const Model& model = machine().model;
    const double bytes = static_cast<double>(transfer.bytes());
    const Time duration = bytes_time(bytes, model.nic_gbps) + from_us(model.nic_message_us);
    transfer.work.need(from.nic_egress, duration);
    transfer.work.need(to.nic_ingress, duration);
    if (transfer.from)
        transfer.work.need(from.hbm, bytes_time(bytes, model.hbm_gbps));
    transfer.work.need(to.hbm, bytes_time(bytes, model.hbm_gbps));
    transfer.work.start(now(), left, &transfer);
}

}  // namespace

GinCell& GinState::cell(int rank, int context, bool counter, std::uint32_t id)
{
    const auto each = static_cast<std::size_t>(signals + counters);
    const auto place = static_cast<std::size_t>(rank * contexts + context) * each;
    return cells[place + (counter ? static_cast<std::size_t>(signals) : 0) + id];
}

GinQueue& GinState::queue(int context, int from, int to)
{
    return queues[static_cast<std::size_t>((context * ranks + from) * ranks + to)];
}

bool gin_reached(std::uint64_t value, std::uint64_t least, int bits)
{
    const std::uint64_t mask = ~std::uint64_t{0} >> (64 - std::clamp(bits, 1, 64));
    return ((value - least) & mask) <= mask >> 1;
}

void gin_issue(const std::shared_ptr<GinTransfer>& transfer)
{
    GinQueue& queue = *transfer->queue;
    if (race_checking && transfer->to)
        transfer->race.task =
            new_race_task(transfer->race.rank, "GIN, a put to rank " + std::to_string(queue.to), transfer->race.site);
    ++queue.issued;
    queue.unsettled.push_back(transfer);
    queue.waiting.push_back(transfer);
    if (queue.waiting.size() == 1)
        leave(queue);
}

void gin_consume(GinQueue& queue)
{
    for (const auto& transfer : queue.unsettled) {
        if (transfer->arrived)
            read_source(*transfer);
        else
            transfer->wanted = true;
    }
}

}  // namespace cuco_emu
