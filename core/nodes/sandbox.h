// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/error.h"

#include <cstdint>
#include <filesystem>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

namespace cuco {

/// bubblewrap as it is on this machine, seen to work.
struct SandboxTool {
    std::filesystem::path program;
    std::string version;            ///< "0.8.0"
    bool sized_tmpfs = false;       ///< since 0.7
    bool disable_userns = false;    ///< since 0.8
    std::filesystem::path prlimit;  ///< empty where the kernel counts processes per user, not per sandbox
};

/// Finds bubblewrap and runs a program in it. The error is a sentence that says what this machine forbids, and the
/// remedy.
Result<SandboxTool> findSandboxTool(std::stop_token stop);

/// What a candidate may reach. All else of the machine is out of sight: home folders, other users' files and
/// processes, the network.
struct SandboxPolicy {
    std::filesystem::path writable;               ///< the one lasting folder that may be written; also HOME and TMPDIR
    bool gpus = false;                            ///< every /dev/nvidia* is there
    bool network = false;                         ///< the machine's, with its InfiniBand devices; else the loopback
    std::vector<std::filesystem::path> readable;  ///< files and folders shown besides the system's programs
    std::vector<std::filesystem::path> hidden;    ///< folders below `readable` that are shown empty
    std::uint64_t processes = 4096;               ///< processes and threads
    std::uint64_t memory_files_bytes = 2ull << 30;  ///< of /tmp and of /dev/shm, each
};

/// What goes before a program's own arguments: "bwrap … --". Ends the program and all its descendants when the
/// process that started it ends. Descriptors that are not close-on-exec are passed on.
std::vector<std::string> sandboxPrefix(const SandboxPolicy& policy, const SandboxTool& tool);

/// A path that may be shown to a candidate: not the whole file system, a home folder or what contains one.
bool mayBeShown(const std::filesystem::path& path);

/// findSandboxTool's answer, asked once. May be used from several threads.
class Sandbox {
public:
    Result<SandboxTool> tool(std::stop_token stop = {}) const;

private:
    mutable std::mutex mutex_;
    mutable std::optional<Result<SandboxTool>> found_;
};

}  // namespace cuco
