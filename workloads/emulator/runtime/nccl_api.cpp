// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/copies.h"
#include "runtime/failure.h"
#include "runtime/host.h"
#include "runtime/memory.h"
#include "runtime/nccl_gin.h"
#include "runtime/nccl_state.h"

#include <algorithm>
#include <cstring>

using namespace cuco_emu;

namespace {

std::map<std::uint64_t, std::weak_ptr<Clique>> cliques;
std::uint64_t next_clique = 1;

/// Returns on every rank after the last rank has come. `last` runs once, on that rank.
void meet(ncclComm& comm, const char* function, const void* site, const std::function<void()>& last)
{
    HostMeeting& meeting = comm.clique->meeting;
    if (++meeting.arrived < comm.ranks) {
        meeting.waiting.push_back(comm.owner);
        host_wait(std::string("in ") + function + " for the other ranks", site);
        return;
    }
    meeting.arrived = 0;
    last();
    const auto waiting = std::move(meeting.waiting);
    meeting.waiting.clear();
    if (race_checking) {
        auto all = waiting;
        all.push_back(comm.owner);
        race_hosts_meet(all);
    }
    for (Rank* rank : waiting)
        wake_host(*rank, now() + from_us(machine().model.host_wake_us));
}

bool is_valid(const ncclComm* comm, const Rank& rank)
{
    return comm && comm->owner == &rank;
}

ncclWindow_vidmem window_of(const ncclComm& comm, const std::vector<Clique::Offer>& offers)
{
    ncclWindow_vidmem window{};
    for (int r = 0; r < comm.ranks; ++r)
        window.pointers[r] = static_cast<char*>(offers[static_cast<std::size_t>(r)].buffer);
    window.lsaRank = window.worldRank = comm.rank;
    window.lsaSize = comm.ranks;
    window.bytes = offers[static_cast<std::size_t>(comm.rank)].bytes;
    return window;
}

std::map<void*, bool> symmetric_allocations;

bool is_symmetric_memory(const void* buffer, std::size_t bytes)
{
    const auto allocation = allocation_at(buffer);
    const auto begin = reinterpret_cast<std::uintptr_t>(buffer);
    return allocation.bytes != 0 && begin + bytes <= allocation.begin + allocation.bytes &&
           symmetric_allocations.contains(reinterpret_cast<void*>(allocation.begin));
}

ncclWindow_t publish(const ncclWindow_vidmem& window)
{
    auto* place = static_cast<ncclWindow_vidmem*>(cuco_emu_parameters(sizeof window, alignof(ncclWindow_vidmem)));
    std::memcpy(place, &window, sizeof window);
    return place;
}

}  // namespace

ncclResult_t ncclMemAlloc(void** pointer, std::size_t bytes)
{
    Rank& rank = calling_rank("ncclMemAlloc", CUCO_EMU_CALL_SITE());
    host_costs(machine().model.allocation_us);
    if (!pointer)
        return ncclInvalidArgument;
    *pointer = allocate(static_cast<unsigned>(rank.index), bytes, NCCL_WIN_REQUIRED_ALIGNMENT);
    if (!*pointer)
        return ncclUnhandledCudaError;
    symmetric_allocations[*pointer] = true;
    return ncclSuccess;
}

ncclResult_t ncclMemFree(void* pointer)
{
    Rank& rank = calling_rank("ncclMemFree", CUCO_EMU_CALL_SITE());
    if (!pointer)
        return ncclSuccess;
    wait_for_device(rank, CUCO_EMU_CALL_SITE());
    symmetric_allocations.erase(pointer);
    return release(pointer) ? ncclSuccess : ncclInvalidArgument;
}

ncclResult_t ncclGetVersion(int* version)
{
    *version = NCCL_VERSION_CODE;
    return ncclSuccess;
}

const char* ncclGetErrorString(ncclResult_t result)
{
    switch (result) {
        case ncclSuccess:
            return "no error";
        case ncclUnhandledCudaError:
            return "unhandled cuda error";
        case ncclSystemError:
            return "unhandled system error";
        case ncclInternalError:
            return "internal error";
        case ncclInvalidArgument:
            return "invalid argument";
        case ncclInvalidUsage:
            return "invalid usage";
        case ncclRemoteError:
            return "remote process exited or there was a network error";
        case ncclInProgress:
            return "NCCL operation in progress";
        default:
            return "unknown result code";
    }
}

const char* ncclGetLastError(ncclComm_t)
{
    return "";
}

ncclResult_t ncclGetUniqueId(ncclUniqueId* id)
{
    if (!id)
        return ncclInvalidArgument;
    std::memset(id, 0, sizeof *id);
    const std::uint64_t number = next_clique++;
    std::memcpy(id->internal, &number, sizeof number);
    return ncclSuccess;
}

ncclResult_t ncclCommInitRank(ncclComm_t* comm, int ranks, ncclUniqueId id, int rank)
{
    Rank& owner = calling_rank("ncclCommInitRank", CUCO_EMU_CALL_SITE());
    if (!comm || ranks < 1 || ranks > static_cast<int>(machine().ranks.size()) || rank < 0 || rank >= ranks)
        return ncclInvalidArgument;
    std::uint64_t number = 0;
    std::memcpy(&number, id.internal, sizeof number);
    auto clique = cliques[number].lock();
    if (!clique) {
        clique = std::make_shared<Clique>();
        clique->members.resize(static_cast<std::size_t>(ranks));
        clique->offers.resize(static_cast<std::size_t>(ranks));
        cliques[number] = clique;
    }
    if (clique->members.size() != static_cast<std::size_t>(ranks) || clique->members[static_cast<std::size_t>(rank)])
        return ncclInvalidUsage;
    *comm = new ncclComm{clique, &owner, rank, ranks};
    clique->members[static_cast<std::size_t>(rank)] = *comm;
    meet(**comm, "ncclCommInitRank", CUCO_EMU_CALL_SITE(), [] {});
    return ncclSuccess;
}

ncclResult_t ncclCommInitRankConfig(ncclComm_t* comm, int ranks, ncclUniqueId id, int rank, ncclConfig_t*)
{
    return ncclCommInitRank(comm, ranks, id, rank);
}

ncclResult_t ncclCommSplit(ncclComm_t comm, int color, int key, ncclComm_t* part, ncclConfig_t*)
{
    Rank& owner = calling_rank("ncclCommSplit", CUCO_EMU_CALL_SITE());
    if (!is_valid(comm, owner) || !part || color < NCCL_SPLIT_NOCOLOR)
        return ncclInvalidArgument;
    Clique& clique = *comm->clique;
    const auto self = static_cast<std::size_t>(comm->rank);
    clique.splits.resize(clique.members.size());
    clique.splits[self] = {color, key};
    meet(*comm, "ncclCommSplit", CUCO_EMU_CALL_SITE(), [&] { clique.parts.clear(); });
    *part = nullptr;
    if (color != NCCL_SPLIT_NOCOLOR) {
        int rank = 0, ranks = 0;
        for (std::size_t other = 0; other < clique.splits.size(); ++other) {
            const auto& split = clique.splits[other];
            const bool before = split.key < key || (split.key == key && other < self);
            ranks += split.color == color ? 1 : 0;
            rank += split.color == color && before ? 1 : 0;
        }
        auto& mine = clique.parts[color];
        if (!mine) {
            mine = std::make_shared<Clique>();
            mine->members.resize(static_cast<std::size_t>(ranks));
            mine->offers.resize(static_cast<std::size_t>(ranks));
        }
        *part = new ncclComm{mine, &owner, rank, ranks};
        mine->members[static_cast<std::size_t>(rank)] = *part;
    }
    meet(*comm, "ncclCommSplit", CUCO_EMU_CALL_SITE(), [] {});
    return ncclSuccess;
}

ncclResult_t ncclCommFinalize(ncclComm_t comm)
{
    Rank& rank = calling_rank("ncclCommFinalize", CUCO_EMU_CALL_SITE());
    if (!is_valid(comm, rank))
        return ncclInvalidArgument;
    wait_for_device(rank, CUCO_EMU_CALL_SITE());
    return ncclSuccess;
}

ncclResult_t ncclCommDestroy(ncclComm_t comm)
{
    const auto result = ncclCommFinalize(comm);
    if (result == ncclSuccess) {
        comm->clique->members[static_cast<std::size_t>(comm->rank)] = nullptr;
        delete comm;
    }
    return result;
}

ncclResult_t ncclCommAbort(ncclComm_t comm)
{
    return ncclCommDestroy(comm);
}

ncclResult_t ncclCommGetAsyncError(ncclComm_t, ncclResult_t* error)
{
    *error = ncclSuccess;
    return ncclSuccess;
}

ncclResult_t ncclCommCount(const ncclComm_t comm, int* count)
{
    if (!comm || !count)
        return ncclInvalidArgument;
    *count = comm->ranks;
    return ncclSuccess;
}

ncclResult_t ncclCommCuDevice(const ncclComm_t comm, int* device)
{
    if (!comm || !device)
        return ncclInvalidArgument;
    *device = comm->owner->index;
    return ncclSuccess;
}

ncclResult_t ncclCommUserRank(const ncclComm_t comm, int* rank)
{
    if (!comm || !rank)
        return ncclInvalidArgument;
    *rank = comm->rank;
    return ncclSuccess;
}

ncclResult_t ncclCommWindowRegister(ncclComm_t comm, void* buffer, std::size_t bytes, ncclWindow_t* window, int flags)
{
    Rank& rank = calling_rank("ncclCommWindowRegister", CUCO_EMU_CALL_SITE());
    host_costs(machine().model.allocation_us);
    if (!is_valid(comm, rank) || !window || !buffer ||
        reinterpret_cast<std::uintptr_t>(buffer) % NCCL_WIN_REQUIRED_ALIGNMENT != 0)
        return ncclInvalidArgument;
    Clique& clique = *comm->clique;
    clique.offers[static_cast<std::size_t>(comm->rank)] = {buffer, bytes, flags};
    meet(*comm, "ncclCommWindowRegister", CUCO_EMU_CALL_SITE(), [] {});
    const bool same = std::ranges::all_of(
        clique.offers, [&](const auto& offer) { return offer.bytes == bytes && offer.flags == flags; });
    const bool symmetric =
        (flags & NCCL_WIN_COLL_SYMMETRIC) != 0 && std::ranges::all_of(clique.offers, [](const auto& offer) {
            return is_symmetric_memory(offer.buffer, offer.bytes);
        });
    const auto registered = window_of(*comm, clique.offers);
    meet(*comm, "ncclCommWindowRegister", CUCO_EMU_CALL_SITE(), [] {});
    if (!same)
        return ncclInvalidArgument;
    // As NCCL does: memory that cannot be symmetric registers without a window for kernels.
    *window = symmetric ? publish(registered) : nullptr;
    add_registered(*comm, *window, buffer, bytes, symmetric);
    return ncclSuccess;
}

ncclTeam_t cuco_emu_team(ncclComm_t comm)
{
    return {comm->ranks, comm->rank, 1};
}

ncclResult_t ncclLsaBarrierCreateRequirement(ncclTeam_t, int barriers, ncclLsaBarrierHandle_t* handle,
                                             ncclDevResourceRequirements_t* requirement)
{
    if (!handle || !requirement || barriers < 0)
        return ncclInvalidArgument;
    *requirement = {};
    handle->nBarriers = barriers;
    requirement->bufferSize = static_cast<std::size_t>(barriers) * 128;
    requirement->bufferAlign = 128;
    requirement->outBufferHandle = &handle->bufHandle;
    return ncclSuccess;
}

ncclResult_t ncclDevCommCreate(ncclComm_t comm, ncclDevCommRequirements_t const* requirements, ncclDevComm_t* out)
{
    Rank& rank = calling_rank("ncclDevCommCreate", CUCO_EMU_CALL_SITE());
    host_costs(machine().model.allocation_us);
    if (!is_valid(comm, rank) || !requirements || !out)
        return ncclInvalidArgument;
    if (requirements->lsaMultimem)
        return ncclInvalidUsage;  // no multicast here

    const int barriers = std::max(requirements->lsaBarrierCount, requirements->barrierCount);
    std::size_t bytes = static_cast<std::size_t>(std::max(barriers, 0)) * 128;
    for (auto* r = requirements->resourceRequirementsList; r; r = r->next) {
        const std::size_t align = std::max<std::size_t>(r->bufferAlign, 128);
        bytes = (bytes + align - 1) / align * align;
        if (r->outBufferHandle)
            *r->outBufferHandle = static_cast<ncclDevResourceHandle>(bytes / 128);
        bytes += (r->bufferSize + 127) / 128 * 128;
    }
    bytes = std::max<std::size_t>(bytes, 128);
    void* buffer = allocate(static_cast<unsigned>(rank.index), bytes, NCCL_WIN_REQUIRED_ALIGNMENT);
    if (!buffer)
        return ncclUnhandledCudaError;
    std::memset(buffer, 0, bytes);
    *out = {};
    const GinState layout = gin_layout(*requirements, comm->ranks, *out);
    // As NCCL does where all ranks reach each other's memory: only when told to.
    const bool with_gin = requirements->ginForceEnable;
    Clique& clique = *comm->clique;
    clique.offers[static_cast<std::size_t>(comm->rank)] = {
        buffer, bytes, barriers, with_gin ? layout.contexts : 0, layout.signals, layout.counters};
    meet(*comm, "ncclDevCommCreate", CUCO_EMU_CALL_SITE(), [&] {
        if (with_gin)
            clique.gin_states.push_back(gin_create(layout));
        auto state = std::make_unique<LsaState>();
        state->ranks = comm->ranks;
        const auto ranks = static_cast<std::size_t>(comm->ranks);
        state->slots = bytes / 128;
        state->epochs.resize(ranks * state->slots);
        state->inbox.resize(ranks * ranks * state->slots);
        clique.new_state = state.get();
        clique.lsa_states.push_back(std::move(state));
    });
    const auto& mine = clique.offers[static_cast<std::size_t>(comm->rank)];
    const bool same = std::ranges::all_of(clique.offers, [&](const auto& offer) {
        return offer.bytes == bytes && offer.flags == barriers && offer.gin_contexts == mine.gin_contexts &&
               offer.gin_signals == mine.gin_signals && offer.gin_counters == mine.gin_counters;
    });
    out->rank = out->lsaRank = comm->rank;
    out->nRanks = out->lsaSize = comm->ranks;
    out->resourceWindow_inlined = window_of(*comm, clique.offers);
    out->resourceWindow = publish(out->resourceWindow_inlined);
    out->lsaBarrier = {0, barriers};
    out->state = clique.new_state;
    const bool joined = !with_gin || !same || gin_join(*clique.gin_states.back(), comm->rank, rank, *out);
    meet(*comm, "ncclDevCommCreate", CUCO_EMU_CALL_SITE(), [] {});
    return !joined ? ncclUnhandledCudaError : same ? ncclSuccess : ncclInvalidArgument;
}

ncclResult_t ncclDevCommDestroy(ncclComm_t comm, ncclDevComm_t const* devcomm)
{
    Rank& rank = calling_rank("ncclDevCommDestroy", CUCO_EMU_CALL_SITE());
    if (!is_valid(comm, rank) || !devcomm)
        return ncclInvalidArgument;
    wait_for_device(rank, CUCO_EMU_CALL_SITE());
    gin_leave(*devcomm);
    release(devcomm->resourceWindow_inlined.pointers[devcomm->lsaRank]);
    return ncclSuccess;
}
