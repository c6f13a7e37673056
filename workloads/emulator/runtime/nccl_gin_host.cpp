// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/nccl_gin.h"

#include "runtime/memory.h"
#include "runtime/nccl_state.h"

#include <algorithm>
#include <cstddef>
#include <cstring>

/// What ncclDevCommCreate makes of a request for GIN.
namespace cuco_emu {
namespace {

constexpr int most_cells = 1 << 16;  ///< of one context: ids are 16 bits wide on the way to an adapter

std::size_t epoch_bytes(int barriers)
{
    return static_cast<std::size_t>(barriers) * NCCL_GIN_MAX_CONTEXTS * sizeof(std::uint32_t);
}

/// Made by ncclGinBarrierCreateRequirement, whose answers both go into one handle.
bool is_for_barriers(const ncclDevResourceRequirements_t& requirement)
{
    const auto signal = reinterpret_cast<std::uintptr_t>(requirement.outGinSignalStart);
    const auto buffer = reinterpret_cast<std::uintptr_t>(requirement.outBufferHandle);
    return requirement.ginSignalCount > 0 && signal != 0 &&
           buffer - signal == offsetof(ncclGinBarrierHandle, bufHandle) &&
           requirement.bufferSize == epoch_bytes(requirement.ginSignalCount);
}

}  // namespace

GinState gin_layout(const ncclDevCommRequirements& requirements, int ranks, ncclDevComm& out)
{
    GinState layout;
    layout.ranks = ranks;
    layout.contexts = std::clamp(requirements.ginContextCount, 1, NCCL_GIN_MAX_CONTEXTS);
    const auto add = [](int& total, int count) {
        total = std::min(total + std::clamp(count, 0, most_cells), most_cells);
    };
    add(layout.signals, requirements.ginSignalCount);
    add(layout.counters, requirements.ginCounterCount);
    for (const auto* r = requirements.resourceRequirementsList; r; r = r->next) {
        if (r->outGinSignalStart)
            *r->outGinSignalStart = static_cast<ncclGinSignal_t>(layout.signals);
        if (r->outGinCounterStart)
            *r->outGinCounterStart = static_cast<ncclGinCounter_t>(layout.counters);
        if (is_for_barriers(*r))
            layout.barriers.push_back({static_cast<std::uint32_t>(layout.signals), r->ginSignalCount});
        add(layout.signals, r->ginSignalCount);
        add(layout.counters, r->ginCounterCount);
    }
    const int rail = std::clamp(std::max(requirements.railGinBarrierCount, requirements.barrierCount), 0, most_cells);
    if (rail > 0)
        layout.barriers.push_back({static_cast<std::uint32_t>(layout.signals), rail});
    out.railGinBarrier = {static_cast<ncclGinSignal_t>(layout.signals), 0, rail};
    add(layout.signals, rail);
    layout.own_signals = std::max(0, requirements.ginSignalCount);
    return layout;
}

std::shared_ptr<GinState> gin_create(const GinState& layout)
{
    auto state = std::make_shared<GinState>(layout);
    const auto ranks = static_cast<std::size_t>(layout.ranks), contexts = static_cast<std::size_t>(layout.contexts);
    state->owners.resize(ranks);
    state->values.resize(ranks);
    state->gone.resize(ranks);
    state->cells.resize(ranks * contexts * static_cast<std::size_t>(layout.signals + layout.counters));
    state->queues.resize(contexts * ranks * ranks);
    for (int context = 0; context < layout.contexts; ++context)
        for (int from = 0; from < layout.ranks; ++from)
            for (int to = 0; to < layout.ranks; ++to) {
                GinQueue& queue = state->queue(context, from, to);
                queue.context = context;
                queue.from = from;
                queue.to = to;
            }
    return state;
}

bool gin_join(GinState& state, int rank, Rank& owner, ncclDevComm& out)
{
    const auto signals = static_cast<std::size_t>(state.signals), contexts = static_cast<std::size_t>(state.contexts);
    const auto each = signals + static_cast<std::size_t>(state.counters);
    const auto take = [&](std::size_t count, const char* name, bool open) {
        const auto bytes = std::max<std::size_t>(1, count) * sizeof(std::uint64_t);
        void* memory = allocate(static_cast<unsigned>(owner.index), bytes, 256);
        if (memory) {
            std::memset(memory, 0, bytes);
            set_range_access(memory, bytes, open, open, name);
        }
        return static_cast<std::uint64_t*>(memory);
    };
    auto* values = take(each * contexts, "GIN's signals and counters", false);
    auto* shadows = values ? take(signals * contexts, "GIN's signal shadows", true) : nullptr;
    if (!shadows)
        return false;
    const auto place = static_cast<std::size_t>(rank);
    state.owners[place] = &owner;
    state.values[place] = values;
    for (std::size_t i = 0; i < each * contexts; ++i) {
        GinCell& cell = state.cells[place * each * contexts + i];
        const std::size_t number = i % each;
        cell.rank = rank;
        cell.context = static_cast<int>(i / each);
        cell.counter = number >= signals;
        cell.id = static_cast<std::uint32_t>(cell.counter ? number - signals : number);
        cell.value = values + i;
        cell.times.resize(static_cast<std::size_t>(state.ranks));
    }
    out.gin = &state;
    out.ginContextCount = state.contexts;
    out.ginSignalCount = state.signals;
    out.ginCounterCount = state.counters;
    out.ginSignalShadows = shadows;
    return true;
}

void gin_leave(const ncclDevComm& devcomm)
{
    if (!devcomm.gin)
        return;
    auto& state = *static_cast<GinState*>(devcomm.gin);
    const auto place = static_cast<std::size_t>(devcomm.rank);
    if (state.gone[place])
        return;
    state.gone[place] = true;
    release(state.values[place]);
    release(devcomm.ginSignalShadows);
}

}  // namespace cuco_emu

using namespace cuco_emu;

ncclResult_t ncclGinBarrierCreateRequirement(ncclComm_t comm, ncclTeam_t, int barriers, ncclGinBarrierHandle_t* handle,
                                             ncclDevResourceRequirements_t* requirement)
{
    if (!comm || !handle || !requirement || barriers < 0)
        return ncclInvalidArgument;
    *requirement = {};
    handle->nBarriers = barriers;
    requirement->bufferSize = epoch_bytes(barriers);
    requirement->bufferAlign = sizeof(std::uint32_t);
    requirement->outBufferHandle = &handle->bufHandle;
    requirement->ginSignalCount = barriers;
    requirement->outGinSignalStart = &handle->signal0;
    return ncclSuccess;
}
