// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/error.h"
#include "core/base/subprocess.h"
#include "core/nodes/host_span.h"

#include <nlohmann/json_fwd.hpp>

#include <filesystem>
#include <memory>
#include <optional>
#include <set>
#include <stop_token>
#include <string>
#include <vector>

namespace cuco {

enum class NodeKind { local, emulated };  // ssh, slurm and bundle are further kinds of the same interface
std::string_view toString(NodeKind kind);

struct GpuInfo {
    std::string name;
    std::uint64_t memory_bytes = 0;
    std::string driver;
    int index = 0;  ///< nvidia-smi's
    std::string uuid;
};

/// A program of somebody else, or of this user, on one of the GPUs.
struct GpuNeighbour {
    int gpu = 0;
    int process = 0;
    std::string program;
    std::uint64_t memory_bytes = 0;
};

/// One NCCL found on a node; usable only when header and library are the same version.
struct NcclInstall {
    std::filesystem::path header, library;
    std::string header_version, library_version;
    bool usable() const { return !header_version.empty() && header_version == library_version; }
};

struct NodeProbe {
    std::string node;
    NodeKind kind = NodeKind::emulated;
    bool usable = false;
    std::vector<Error> problems;  ///< what keeps it from being used, with the remedy
    std::vector<Error> remarks;   ///< what does not, but matters
    std::string compiler;         ///< "g++ 12.2.0", "nvcc 13.0"
    std::vector<GpuInfo> gpus;    ///< empty on the emulated node
    std::vector<GpuNeighbour> neighbours;
    std::vector<NcclInstall> nccl;
    std::set<std::string> capabilities;  ///< "lsa", "lsa_in_host", "gin", "copy_engine", "cooperative_launch"
    int max_ranks = 0;
    bool modelled = false;
    bool sandboxed = false;    ///< candidates are built and run under bubblewrap
    std::string sandbox_note;  ///< "bubblewrap 0.8.0", or why not and what to do
};
nlohmann::json toJson(const NodeProbe& probe);

/// A folder on the node that one job may write; removed with the last owner.
class JobFolder {
public:
    virtual ~JobFolder() = default;
    virtual const std::filesystem::path& path() const = 0;  ///< on the node
};

/// Where candidates are built and run. Methods may be called from several threads.
class Node {
public:
    virtual ~Node() = default;
    virtual const std::string& name() const = 0;
    virtual NodeKind kind() const = 0;
    virtual Result<NodeProbe> probe(std::stop_token stop) = 0;
    virtual Result<std::shared_ptr<JobFolder>> createJob() = 0;
    virtual Result<void> put(const JobFolder& job, const std::string& file_name, std::string_view bytes) = 0;
    virtual Result<std::string> fetch(const JobFolder& job, const std::string& file_name, std::uint64_t max_bytes) = 0;
    virtual Result<CommandOutcome> run(const Command& command, std::stop_token stop) = 0;
    /// The hosts that the ranks of a candidate are spread over, when there are several.
    virtual std::optional<HostSpan> span() const { return std::nullopt; }
    /// For Command::sandbox: the program then sees the system's programs, `readable`, the cache and the job's folder,
    /// which alone it may write. With `gpus` also the GPUs, the CUDA toolkit and NCCL. Empty where candidates run
    /// without a sandbox; the probe says why.
    virtual std::vector<std::string> sandbox(const JobFolder& job, bool gpus,
                                             const std::vector<std::filesystem::path>& readable = {}) const = 0;
};

}  // namespace cuco
