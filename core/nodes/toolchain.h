// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/error.h"
#include "core/nodes/node.h"
#include "core/workload/workload.h"

#include <expected>
#include <filesystem>
#include <map>
#include <stop_token>
#include <string>

namespace cuco {

/// Why a candidate could not be built; the compiler's own lines.
struct BuildFault {
    bool not_emulable = false;
    bool timed_out = false;
    std::size_t line = 0;  ///< 1-based line of the candidate the first error names, 0 when none does
    std::string first_error, log;
};

/// What job.txt names; `candidate` is relative to the job's folder.
struct HarnessFiles {
    std::filesystem::path candidate = "candidate.so", reference;
    std::filesystem::path model;  ///< of the GPU, on the emulated node; empty elsewhere
};

/// How sources become programs on a node: the CUDA compiler against a matching NCCL, or the system
/// compiler against the emulator.
class Toolchain {
public:
    virtual ~Toolchain() = default;
    /// Builds (or finds in the cache) harness and reference for the workload.
    virtual Result<void> prepare(Node& node, const Workload& workload, std::stop_token stop) = 0;
    /// Writes and compiles `source` into the job's folder as candidate.so.
    virtual Result<std::expected<void, BuildFault>> build(Node& node, const JobFolder& job, const std::string& source,
                                                          std::stop_token stop) = 0;
    /// One of the workload's own programs (a baseline), built once and kept in the cache folder: the shared object.
    virtual Result<std::filesystem::path> buildOwn(Node& node, const std::filesystem::path& source,
                                                   std::stop_token stop) = 0;
    /// Where profiles are taken by an injected library: builds `source` once more, with the phases inside its kernels
    /// recorded, as profiled.so. Errors: this node has no such library.
    virtual Result<std::expected<void, BuildFault>> buildProfiled(Node& node, const JobFolder& job,
                                                                  const std::string& source, std::stop_token stop);
    /// Variables of a run that is to be profiled.
    virtual std::map<std::string, std::string> profileVariables() const { return {}; }
    /// The command that runs the harness in `job` on job.txt (see workloads/harness/README.md), in the node's sandbox
    /// where it has one.
    virtual Command harnessCommand(const Node& node, const JobFolder& job, const std::string& mode) const = 0;
    /// Valid after prepare.
    virtual HarnessFiles files() const = 0;
    /// Of a model; zeros where the node itself is measured.
    virtual DeviceRates rates() const = 0;
    /// What a modelled run depends on besides its job and its program; empty where nothing says that it would be the
    /// same again.
    virtual std::string modelKey() const { return {}; }
};

inline Result<std::expected<void, BuildFault>> Toolchain::buildProfiled(Node& node, const JobFolder&,
                                                                        const std::string&, std::stop_token)
{
    return failure("Node " + node.name() + " takes no profiles by an injected library.");
}

}  // namespace cuco
