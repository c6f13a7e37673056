// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/nccl_state.h"

#include "runtime/failure.h"
#include "runtime/kernel.h"
#include "runtime/memory.h"
#include "runtime/warp.h"

#include <algorithm>

namespace cuco_emu {
namespace {

std::size_t slot_number(ncclLsaBarrierHandle handle, std::uint32_t index)
{
    return handle.bufHandle + index;
}

std::size_t place_of(const LsaState& state, std::size_t slot, int to, int from)
{
    return (static_cast<std::size_t>(to) * static_cast<std::size_t>(state.ranks) + static_cast<std::size_t>(from)) *
               state.slots +
           slot;
}

bool reached(std::uint32_t got, std::uint32_t wanted)
{
    return got - wanted <= 0x7fffffffu;
}

}  // namespace

std::string describe_lsa_wait(const Thread& thread)
{
    const auto& state = *static_cast<const LsaState*>(thread.lsa_state);
    const int self = thread.warp->block->kernel->rank->index;
    std::string arrived, missing;
    std::uint32_t wanted = 0;
    for (const auto& waiter : state.waiters)
        if (waiter.thread == &thread)
            wanted = waiter.epoch;
    for (int rank = 0; rank < state.ranks; ++rank) {
        const auto place = place_of(state, static_cast<std::size_t>(thread.lsa_index), self, rank);
        const bool here = rank == self || reached(state.inbox[place].epoch, wanted);
        auto& list = here ? arrived : missing;
        list += (list.empty() ? "" : ", ") + std::to_string(rank);
    }
    return "in LSA barrier " + std::to_string(thread.lsa_index) + " (arrived: ranks " + arrived +
           "; missing: " + missing + ")";
}

}  // namespace cuco_emu

using namespace cuco_emu;

void cuco_emu_lsa_check(const void*, ncclLsaBarrierHandle handle, std::uint32_t index)
{
    if (index < static_cast<std::uint32_t>(handle.nBarriers))
        return;
    fail_in_kernel("out_of_bounds",
                   "Kernel " + current_warp->block->kernel->name + " uses LSA barrier " + std::to_string(index) +
                       ", but the device communicator was created with " + std::to_string(handle.nBarriers) + ".",
                   *current_thread, CUCO_EMU_CALL_SITE());
}

std::uint32_t cuco_emu_lsa_epoch(const void* object, ncclLsaBarrierHandle handle, std::uint32_t index, int rank)
{
    const auto& state = *static_cast<const LsaState*>(object);
    return state.epochs[static_cast<std::size_t>(rank) * state.slots + slot_number(handle, index)];
}

void cuco_emu_lsa_set_epoch(void* object, ncclLsaBarrierHandle handle, std::uint32_t index, int rank,
                            std::uint32_t epoch)
{
    auto& state = *static_cast<LsaState*>(object);
    state.epochs[static_cast<std::size_t>(rank) * state.slots + slot_number(handle, index)] = epoch;
}

void cuco_emu_lsa_arrive(void* object, ncclLsaBarrierHandle handle, std::uint32_t index, int from, int to,
                         std::uint32_t epoch, int order)
{
    auto& state = *static_cast<LsaState*>(object);
    settle_costs();
    const Model& model = machine().model;
    const auto place = place_of(state, slot_number(handle, index), to, from);
    LsaState::Arrival& arrival = state.inbox[place];
    arrival.epoch = epoch;
    if (race_checking)
        race_arrive(arrival.carried, order);
    arrival.seen = now() + from_us(model.lsa_signal_us + model.lsa_per_peer_us * (state.ranks - 1));
    std::erase_if(state.waiters, [&](const LsaState::Waiter& waiter) {
        const bool met = waiter.place == place && reached(epoch, waiter.epoch);
        if (met)
            wake(*waiter.thread, arrival.seen + random_delay(*waiter.thread->warp->block->kernel->rank));
        return met;
    });
    current_thread->quiet = false;
}

void cuco_emu_lsa_wait(void* object, ncclLsaBarrierHandle handle, std::uint32_t index, int self, int from,
                       std::uint32_t epoch, int order)
{
    auto& state = *static_cast<LsaState*>(object);
    Thread& thread = *current_thread;
    thread.call_site = CUCO_EMU_CALL_SITE();
    settle_costs();
    const auto slot = slot_number(handle, index);
    const auto place = place_of(state, slot, self, from);
    const LsaState::Arrival& arrival = state.inbox[place];
    const bool here = reached(arrival.epoch, epoch);
    if (!here || arrival.seen > now()) {
        if (here)
            wake(thread, arrival.seen);
        else
            state.waiters.push_back({&thread, place, epoch});
        thread.lsa_state = object;
        thread.lsa_index = static_cast<int>(index);
        wait_in(Wait::lsa);
    }
    if (race_checking)
        race_wait(arrival.carried, order);
}
