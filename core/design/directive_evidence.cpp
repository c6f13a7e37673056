// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/design/directive_evidence.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace cuco {

namespace {

void see(DimensionEvidence& dimension, std::string value, std::string why, const std::string& file, std::size_t line)
{
    const bool known = std::ranges::any_of(dimension.seen, [&](const EvidenceSeen& other) {
        return other.value == value && other.line == line && other.file == file;
    });
    if (!known) {
        dimension.seen.push_back({std::move(value), std::move(why), file, line});
    }
}

bool saw(const DimensionEvidence& dimension, std::string_view value)
{
    return std::ranges::find(dimension.seen, value, &EvidenceSeen::value) != dimension.seen.end();
}

/// Moves of data between ranks while the candidate runs; host calls in its set-up are not timed.
bool runs(const CommunicationCall& call)
{
    return call.entry != "cuco_setup" && call.entry != "cuco_teardown";
}

bool onDevice(const CommunicationCall& call)
{
    return call.family == CommunicationFamily::nccl_lsa || call.family == CommunicationFamily::nccl_gin;
}

std::string phrase(const CommunicationCall& call)
{
    return call.kernel.empty() ? call.operation : call.operation + " in " + call.kernel;
}

void seeBackendAndIssuer(const CudaAnalysis& analysis, DirectiveEvidence& evidence)
{
    for (const CommunicationCall& call : analysis.communication) {
        if (!runs(call) || call.operation.ends_with("arrier")) {
            continue;
        }
        const auto backend = [&](const char* value) {
            see(evidence.backend, value, phrase(call), call.file, call.line);
        };
        const auto issuer = [&](const std::string& value) {
            see(evidence.issuer, value, phrase(call), call.file, call.line);
        };
        switch (call.family) {
            case CommunicationFamily::nccl:
            case CommunicationFamily::pnccl:
            case CommunicationFamily::mpi:
                backend("host");
                issuer("host");
                break;
            case CommunicationFamily::nccl_lsa:
                backend("lsa");
                break;
            case CommunicationFamily::nccl_gin:
                backend("gin");
                break;
            case CommunicationFamily::peer_copy:
                backend("lsa");
                issuer("copy_engine");
                break;
        }
        if (onDevice(call) && !call.issuer.empty()) {
            issuer(call.issuer);
        }
    }
    DimensionEvidence& backend = evidence.backend;
    const bool lsa = saw(backend, "lsa"), gin = saw(backend, "gin");
    backend.value = lsa && gin ? "lsa+gin" : lsa ? "lsa" : gin ? "gin" : saw(backend, "host") ? "host" : "";
    // Of several, those that move data by the device win over the host's; more than one of them are not one issuer.
    std::set<std::string> issuers;
    for (const EvidenceSeen& item : evidence.issuer.seen) {
        issuers.insert(item.value);
    }
    if (issuers.size() > 1) {
        issuers.erase("host");
    }
    if (issuers.contains("copy_engine")) {
        evidence.issuer.value = "copy_engine";  // stores by kernels beside it carry flags or remainders
    } else if (issuers.size() == 1) {
        evidence.issuer.value = *issuers.begin();
    }
}

void seePlacement(const CudaAnalysis& analysis, DirectiveEvidence& evidence)
{
    DimensionEvidence& placement = evidence.placement;
    for (const KernelLaunch& launch : analysis.launches) {
        if (launch.communicates && launch.computes) {
            see(placement, "fused", launch.kernel + " computes and communicates", launch.file, launch.line);
        }
    }
    std::set<std::string> computing, communicating;
    bool by_library = false;
    // Kernels that do nothing but wait for peers.
    const auto meets = [&](const std::string& kernel) {
        return std::ranges::find(analysis.synchronisations, kernel, &Synchronisation::kernel) !=
                   analysis.synchronisations.end() &&
               std::ranges::none_of(analysis.launches, [&](const KernelLaunch& launch) {
                   return launch.kernel == kernel && (launch.computes || launch.communicates);
               });
    };
    const Operation* first = nullptr;
    for (const Operation& operation : analysis.operations) {
        if (operation.entry == "cuco_setup" || operation.entry == "cuco_teardown") {
            continue;
        }
        const bool kernel_communicates =
            operation.kind == "kernel" && std::ranges::any_of(analysis.launches, [&](const KernelLaunch& launch) {
                return launch.kernel == operation.label && launch.communicates;
            });
        if ((operation.kind == "communication" || kernel_communicates) && !operation.stream.empty()) {
            communicating.insert(operation.stream);
            first = first == nullptr ? &operation : first;
        } else if (operation.kind == "library" || (operation.kind == "kernel" && !meets(operation.label))) {
            computing.insert(operation.stream);
            by_library = by_library || operation.kind == "library";
        }
    }
    for (const std::string& stream : communicating) {
        if (!computing.empty() && computing.size() + communicating.size() > 1 && !computing.contains(stream)) {
            const auto operation = std::ranges::find_if(
                analysis.operations, [&](const Operation& candidate) { return candidate.stream == stream; });
            see(placement, "stream_overlap", "communication on " + stream + ", computing on another stream",
                operation->file, operation->line);
        }
    }
    const bool fused = saw(placement, "fused") && !by_library;
    if (!fused && !saw(placement, "stream_overlap") && first != nullptr && !computing.empty()) {
        see(placement, "sequential", "communication and computing on one stream", first->file, first->line);
    }
    // Where a library computes, a kernel that adds up what it sends is no fused one. What is issued early and waited
    // for late ("split") looks like one of the others.
    placement.value = fused                              ? "fused"
                      : saw(placement, "stream_overlap") ? "stream_overlap"
                      : saw(placement, "sequential")     ? "sequential"
                                                         : "";
}

void seeSync(const CudaAnalysis& analysis, DirectiveEvidence& evidence)
{
    DimensionEvidence& sync = evidence.sync;
    for (const Synchronisation& point : analysis.synchronisations) {
        if (point.operation.find("BarrierSession") != std::string::npos || point.operation == "MPI_Barrier") {
            see(sync, point.scope == "team" ? "team" : "world",
                point.operation + (point.kernel.empty() ? "" : " in " + point.kernel), point.file, point.line);
        } else if (point.operation == "flag_wait" || point.operation == "flag_store") {
            // A flag waited for inside a kernel that computes is one of its tiles'.
            const bool computes = std::ranges::any_of(analysis.launches, [&](const KernelLaunch& launch) {
                return launch.kernel == point.kernel && launch.computes;
            });
            see(sync, computes ? "tile" : "peer", point.operation + " in " + point.kernel, point.file, point.line);
        } else if (point.operation.starts_with("gin_wait") || point.operation.starts_with("cuStreamWaitValue")) {
            see(sync, "peer", point.operation, point.file, point.line);
        }
    }
    if (sync.seen.empty() && evidence.backend.value == "host") {
        for (const EvidenceSeen& item : evidence.backend.seen) {
            see(sync, "world", item.why, item.file, item.line);
        }
    }
    // The finest that is used: barriers beside it guard the buffers between iterations.
    for (const char* value : {"tile", "peer", "team", "world"}) {
        if (sync.value.empty() && saw(sync, value)) {
            sync.value = value;
        }
    }
}

}  // namespace

DirectiveEvidence directiveEvidence(const CudaAnalysis& analysis)
{
    DirectiveEvidence evidence;
    seeBackendAndIssuer(analysis, evidence);
    seePlacement(analysis, evidence);
    seeSync(analysis, evidence);
    return evidence;
}

std::string toText(const DirectiveEvidence& evidence)
{
    constexpr std::size_t most = 3;
    std::string text;
    const auto add = [&](std::string_view name, const DimensionEvidence& dimension) {
        text += dimension.value.empty() ? fmt::format("{}: not determined", name)
                                        : fmt::format("{}={}", name, dimension.value);
        for (std::size_t i = 0; i < dimension.seen.size() && i < most; ++i) {
            const EvidenceSeen& item = dimension.seen[i];
            text += fmt::format("{} {} ({}{}{})", i == 0 ? ":" : ";", item.why,
                                item.value == dimension.value ? "" : item.value + ", ",
                                item.file.empty() ? "line " : item.file + ":", item.line);
        }
        text += '\n';
    };
    add("backend", evidence.backend);
    add("placement", evidence.placement);
    add("sync", evidence.sync);
    add("issuer", evidence.issuer);
    return text;
}

}  // namespace cuco
