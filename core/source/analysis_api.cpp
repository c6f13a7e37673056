// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/source/analysis_api.h"

#include <algorithm>
#include <array>
#include <utility>

namespace cuco::analysis {

namespace {

template <class Roles, std::size_t n>
std::optional<Roles> find(const std::array<std::pair<std::string_view, Roles>, n>& table, std::string_view name)
{
    const auto found = std::ranges::find(table, name, &std::pair<std::string_view, Roles>::first);
    return found == table.end() ? std::nullopt : std::optional(found->second);
}

using enum CommunicationFamily;

// nccl.h of release 2.28: send, receive, count, type, peer or root, communicator, stream.
constexpr std::array<std::pair<std::string_view, CommunicationRoles>, 11> nccl_functions{{
    {"ncclAllReduce", {nccl, 0, 1, 2, 3, -1, 5, 6}},
    {"ncclReduce", {nccl, 0, 1, 2, 3, 5, 6, 7}},
    {"ncclReduceScatter", {nccl, 0, 1, 2, 3, -1, 5, 6}},
    {"ncclBroadcast", {nccl, 0, 1, 2, 3, 4, 5, 6}},
    {"ncclBcast", {nccl, 0, 0, 1, 2, 3, 4, 5}},
    {"ncclAllGather", {nccl, 0, 1, 2, 3, -1, 4, 5}},
    {"ncclAlltoAll", {nccl, 0, 1, 2, 3, -1, 4, 5}},
    {"ncclGather", {nccl, 0, 1, 2, 3, 4, 5, 6}},
    {"ncclScatter", {nccl, 0, 1, 2, 3, 4, 5, 6}},
    {"ncclSend", {nccl, 0, -1, 1, 2, 3, 4, 5}},
    {"ncclRecv", {nccl, -1, 0, 1, 2, 3, 4, 5}},
}};

// MPI 4.0.
constexpr std::array<std::pair<std::string_view, CommunicationRoles>, 27> mpi_functions{{
    {"MPI_Send", {mpi, 0, -1, 1, 2, 3, 5, -1}},        {"MPI_Ssend", {mpi, 0, -1, 1, 2, 3, 5, -1}},
    {"MPI_Isend", {mpi, 0, -1, 1, 2, 3, 5, -1}},       {"MPI_Recv", {mpi, -1, 0, 1, 2, 3, 5, -1}},
    {"MPI_Irecv", {mpi, -1, 0, 1, 2, 3, 5, -1}},       {"MPI_Sendrecv", {mpi, 0, 5, 1, 2, 3, 10, -1}},
    {"MPI_Bcast", {mpi, 0, 0, 1, 2, 3, 4, -1}},        {"MPI_Ibcast", {mpi, 0, 0, 1, 2, 3, 4, -1}},
    {"MPI_Reduce", {mpi, 0, 1, 2, 3, 5, 6, -1}},       {"MPI_Allreduce", {mpi, 0, 1, 2, 3, -1, 5, -1}},
    {"MPI_Iallreduce", {mpi, 0, 1, 2, 3, -1, 5, -1}},  {"MPI_Reduce_scatter_block", {mpi, 0, 1, 2, 3, -1, 5, -1}},
    {"MPI_Scan", {mpi, 0, 1, 2, 3, -1, 5, -1}},        {"MPI_Gather", {mpi, 0, 3, 1, 2, 6, 7, -1}},
    {"MPI_Gatherv", {mpi, 0, 3, 1, 2, 7, 8, -1}},      {"MPI_Scatter", {mpi, 0, 3, 1, 2, 6, 7, -1}},
    {"MPI_Allgather", {mpi, 0, 3, 1, 2, -1, 6, -1}},   {"MPI_Iallgather", {mpi, 0, 3, 1, 2, -1, 6, -1}},
    {"MPI_Allgatherv", {mpi, 0, 3, 1, 2, -1, 7, -1}},  {"MPI_Alltoall", {mpi, 0, 3, 1, 2, -1, 6, -1}},
    {"MPI_Ialltoall", {mpi, 0, 3, 1, 2, -1, 6, -1}},   {"MPI_Alltoallv", {mpi, 0, 4, 1, 3, -1, 8, -1}},
    {"MPI_Barrier", {mpi, -1, -1, -1, -1, -1, 0, -1}}, {"MPI_Ibarrier", {mpi, -1, -1, -1, -1, -1, 0, -1}},
    {"MPI_Put", {mpi, 0, -1, 1, 2, 3, 7, -1}},         {"MPI_Get", {mpi, -1, 0, 1, 2, 3, 7, -1}},
    {"MPI_Accumulate", {mpi, 0, -1, 1, 2, 3, 8, -1}},
}};

constexpr std::array<std::pair<std::string_view, CopyRoles>, 16> copies{{
    {"cudaMemcpy", {0, 1, 2, -1, true, false}},
    {"cudaMemcpyAsync", {0, 1, 2, 4, false, false}},
    {"cudaMemcpy2D", {0, 2, 4, -1, true, false}},
    {"cudaMemcpy2DAsync", {0, 2, 4, 7, false, false}},
    {"cudaMemcpyPeer", {0, 2, 4, -1, true, true}},
    {"cudaMemcpyPeerAsync", {0, 2, 4, 5, false, true}},
    {"cudaMemcpyBatchAsync", {0, 1, 2, -2, false, false}},
    {"cudaMemcpyToSymbol", {0, 1, 2, -1, true, false}},
    {"cudaMemcpyToSymbolAsync", {0, 1, 2, 5, false, false}},
    {"cudaMemcpyFromSymbol", {0, 1, 2, -1, true, false}},
    {"cudaMemset", {0, -1, 2, -1, true, false}},
    {"cudaMemsetAsync", {0, -1, 2, 3, false, false}},
    {"cudaMemset2DAsync", {0, -1, 3, 5, false, false}},
    {"cuMemcpyAsync", {0, 1, 2, 3, false, false}},
    {"cuMemcpyDtoDAsync", {0, 1, 2, 3, false, false}},
    {"cuMemcpyPeerAsync", {0, 2, 4, 5, false, true}},
}};

constexpr std::array<std::pair<std::string_view, AllocationRoles>, 10> allocations{{
    {"cudaMalloc", {"device", 0, 1}},
    {"cudaMallocAsync", {"device_async", 0, 1}},
    {"cudaMallocManaged", {"managed", 0, 1}},
    {"cudaMallocHost", {"pinned_host", 0, 1}},
    {"cudaHostAlloc", {"pinned_host", 0, 1}},
    {"cudaHostRegister", {"pinned_host", 0, 1}},
    {"ncclMemAlloc", {"nccl", 0, 1}},
    {"pncclMemAlloc", {"nccl", 0, 1}},
    {"cuMemAlloc", {"device", 0, 1}},
    {"cudaIpcOpenMemHandle", {"ipc", 0, 1}},
}};

constexpr std::array<std::string_view, 9> frees{"cudaFree",    "cudaFreeAsync", "cudaFreeHost",
                                                "ncclMemFree", "pncclMemFree",  "cudaHostUnregister",
                                                "cuMemFree",   "free",          "cudaIpcCloseMemHandle"};

}  // namespace

std::optional<CommunicationRoles> communicationRoles(std::string_view name)
{
    if (name.starts_with("pnccl")) {
        auto roles = find(nccl_functions, name.substr(1));
        if (roles) {
            roles->family = pnccl;
        }
        return roles;
    }
    if (name.starts_with("PMPI_")) {
        name.remove_prefix(1);
    }
    const auto roles = find(nccl_functions, name);
    return roles ? roles : find(mpi_functions, name);
}

std::optional<CommunicationFamily> unknownCommunication(std::string_view name)
{
    // Functions, not types and constants: ncclX…(, MPI_X…(.
    const auto upperAfter = [&](std::string_view prefix) {
        return name.starts_with(prefix) && name.size() > prefix.size() && name[prefix.size()] >= 'A' &&
               name[prefix.size()] <= 'Z';
    };
    return upperAfter("pnccl")                         ? std::optional(pnccl)
           : upperAfter("nccl")                        ? std::optional(nccl)
           : upperAfter("MPI_") || upperAfter("PMPI_") ? std::optional(mpi)
                                                       : std::nullopt;
}

std::optional<CopyRoles> copyRoles(std::string_view name)
{
    return find(copies, name);
}

std::optional<AllocationRoles> allocationRoles(std::string_view name)
{
    return find(allocations, name);
}

bool isFree(std::string_view name)
{
    return std::ranges::find(frees, name) != frees.end();
}

std::optional<LibraryRoles> libraryRoles(std::string_view name)
{
    if (name == "cublasGemmEx") {
        return LibraryRoles{0, {7, 10}, {14}, -1};
    }
    if (name == "cublasGemmStridedBatchedEx") {
        return LibraryRoles{0, {7, 11}, {16}, -1};
    }
    if (name == "cublasSgemm" || name == "cublasDgemm" || name == "cublasHgemm" || name == "cublasSgemm_v2") {
        return LibraryRoles{0, {7, 9}, {12}, -1};
    }
    if (name == "cublasLtMatmul") {
        return LibraryRoles{0, {3, 5, 8}, {10}, 15};
    }
    return std::nullopt;
}

}  // namespace cuco::analysis
