// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: Apache-2.0
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

}  // namespace

void add_registered(ncclComm& comm, const void* handle, const void* begin, std::size_t bytes)
{
    comm.registered.push_back({handle, reinterpret_cast<std::uintptr_t>(begin), bytes});
}

bool is_registered(const ncclComm& comm, const void* begin, std::size_t bytes)
{
    const auto first = reinterpret_cast<std::uintptr_t>(begin);
    return std::ranges::any_of(comm.registered, [&](const ncclComm::Registered& range) {
        return range.begin <= first && first + bytes <= range.begin + range.bytes;
    });
}

}  // namespace cuco_emu

using namespace cuco_emu;

ncclResult_t ncclCommRegister(const ncclComm_t comm, void* buffer, std::size_t bytes, void** handle)
{
    if (!comm || !handle)
        return ncclInvalidArgument;
    *handle = buffer;
    add_registered(*comm, buffer, buffer, bytes);
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
