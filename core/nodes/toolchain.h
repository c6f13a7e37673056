// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/error.h"
#include "core/nodes/node.h"
#include "core/workload/workload.h"

#include <expected>
#include <filesystem>
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
    /// The command that runs the harness in `job` on job.txt (see workloads/harness/README.md), in the node's sandbox
    /// where it has one.
    virtual Command harnessCommand(const Node& node, const JobFolder& job, const std::string& mode) const = 0;
    /// Valid after prepare.
    virtual HarnessFiles files() const = 0;
    virtual DeviceRates rates() const = 0;
};

}  // namespace cuco
