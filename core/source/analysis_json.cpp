// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/source/analysis.h"

#include <nlohmann/json.hpp>

namespace cuco {

// Keys are the members' names.
NLOHMANN_JSON_SERIALIZE_ENUM(CommunicationFamily, {{CommunicationFamily::nccl, "nccl"},
                                                   {CommunicationFamily::pnccl, "pnccl"},
                                                   {CommunicationFamily::nccl_lsa, "nccl_lsa"},
                                                   {CommunicationFamily::nccl_gin, "nccl_gin"},
                                                   {CommunicationFamily::mpi, "mpi"},
                                                   {CommunicationFamily::peer_copy, "peer_copy"}})
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(ReachedThrough, how, name, line)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(CommunicationCall, operation, family, file, line, function, kernel, entry, through,
                                   reads, writes, count, type, peer, comm, stream, issuer, in_group, in_loop, resolved)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Buffer, name, allocation, call, size, file, line, freed_lines, windows)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(KernelLaunch, kernel, grid, block, shared, stream, file, arguments, line,
                                   cooperative, in_loop, communicates, computes, reads, writes)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Stream, name, priority, flags, created_line)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(EventUse, stream, line)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Event, name, created_line, records, waits)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Synchronisation, operation, scope, object, cooperation, kernel, file, line)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Operation, id, kind, label, stream, entry, file, line, reads, writes)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Dependency, from, to, buffer, kind, order, next_iteration)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Unresolved, kind, name, message, file, line)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(CudaAnalysis, source, lines, communication, buffers, launches, streams, events,
                                   synchronisations, operations, dependencies, unresolved, uses_device_communication,
                                   truncated)

std::string_view toString(CommunicationFamily family)
{
    switch (family) {
        case CommunicationFamily::nccl:
            return "nccl";
        case CommunicationFamily::pnccl:
            return "pnccl";
        case CommunicationFamily::nccl_lsa:
            return "nccl_lsa";
        case CommunicationFamily::nccl_gin:
            return "nccl_gin";
        case CommunicationFamily::mpi:
            return "mpi";
        case CommunicationFamily::peer_copy:
            return "peer_copy";
    }
    return "nccl";
}

nlohmann::json toJson(const CudaAnalysis& analysis)
{
    return analysis;
}

Result<CudaAnalysis> analysisFromJson(const nlohmann::json& document)
{
    try {
        return document.get<CudaAnalysis>();
    } catch (const nlohmann::json::exception& error) {
        return failure(std::string("This is no analysis: ") + error.what(), "",
                       "Make one with cucoctl analyze --json of this version.");
    }
}

}  // namespace cuco
