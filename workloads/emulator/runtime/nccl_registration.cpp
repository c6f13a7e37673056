// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/failure.h"
#include "runtime/nccl_state.h"

#include <algorithm>

namespace cuco_emu {
namespace {

ncclResult_t remove_registered(ncclComm_t comm, const void* handle)
{
    if (!comm)
        return ncclInvalidArgument;
    const auto found = std::ranges::find(comm->registered, handle, &ncclComm::Registered::handle);
    if (found != comm->registered.end())
        comm->registered.erase(found);
    return ncclSuccess;
}

std::string memory_of(const Registration& place)
{
    if (place.window >= 0)
        return "memory at byte " + std::to_string(place.offset) + " of its symmetric window number " +
               std::to_string(place.window);
    return place.registered ? "memory that is registered" : "memory that is not registered";
}

/// `alike`: in the same window and at the same place, and not only registered.
void check_role(const Collective& collective, bool sends, bool alike)
{
    int first_rank = -1, rank = -1;
    const Collective::Part* first = nullptr;
    for (const auto& part : collective.parts) {
        ++rank;
        if (!(sends ? part.send : part.receive))
            continue;
        const Registration& place = sends ? part.send_in : part.receive_in;
        if (!first) {
            first = &part;
            first_rank = rank;
            continue;
        }
        const Registration& other = sends ? first->send_in : first->receive_in;
        const bool symmetric = place.window >= 0 || other.window >= 0;
        if (place.registered == other.registered && (!symmetric || !alike || place == other))
            continue;
        const std::string verb = sends ? " sends from " : " receives in ";
        fail(
            {"crash", rank,
             "In " + collective.name + " rank " + std::to_string(first_rank) + verb + memory_of(other) + ", and rank " +
                 std::to_string(rank) + verb + memory_of(place) +
                 ": NCCL leaves open what happens then. Register the memory on all ranks or on none, and use symmetric "
                 "windows at the same place on all ranks.",
             "", source_line(part.site)});
    }
}

}  // namespace

void add_registered(ncclComm& comm, const void* handle, const void* begin, std::size_t bytes, bool symmetric)
{
    const int window = symmetric ? comm.windows++ : -1;
    comm.registered.push_back({handle, reinterpret_cast<std::uintptr_t>(begin), bytes, window});
}

Registration registration_of(const ncclComm& comm, const void* begin, std::size_t bytes)
{
    const auto first = reinterpret_cast<std::uintptr_t>(begin);
    const auto found = std::ranges::find_if(comm.registered, [&](const ncclComm::Registered& range) {
        return range.begin <= first && first + bytes <= range.begin + range.bytes;
    });
    if (found == comm.registered.end())
        return {};
    return {true, found->window, found->window >= 0 ? first - found->begin : 0};
}

/// NCCL chooses on each rank by that rank's buffers, and a symmetric window's kernels take a peer's buffer to lie where
/// the own one does: NCCL's guide, "User Buffer Registration" and "Window Registration Flags".
void check_registrations(const Collective& collective)
{
    const auto& name = collective.name;
    const auto is = [&](auto... names) { return ((name == names) || ...); };
    check_role(collective, true, is("ncclAllReduce", "ncclReduceScatter", "ncclAlltoAll", "ncclGather"));
    check_role(collective, false, is("ncclAllReduce", "ncclAllGather", "ncclAlltoAll", "ncclScatter"));
}

}  // namespace cuco_emu

using namespace cuco_emu;

ncclResult_t ncclCommRegister(const ncclComm_t comm, void* buffer, std::size_t bytes, void** handle)
{
    if (!comm || !handle)
        return ncclInvalidArgument;
    *handle = buffer;
    add_registered(*comm, buffer, buffer, bytes, false);
    return ncclSuccess;
}

ncclResult_t ncclCommDeregister(const ncclComm_t comm, void* handle)
{
    return remove_registered(comm, handle);
}

ncclResult_t ncclCommWindowDeregister(ncclComm_t comm, ncclWindow_t window)
{
    return remove_registered(comm, window);
}
