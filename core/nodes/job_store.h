// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/nodes/node.h"
#include "core/nodes/sandbox.h"

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <utility>

namespace cuco {

/// Job folders and commands on this machine: what the local and the emulated node have in common.
/// Job folders that dead processes left behind more than a day ago are removed when another is made.
class JobStore {
public:
    /// Free bytes of the disk that a folder is on; nothing when that is not known.
    using FreeSpace = std::function<std::optional<std::uint64_t>(const std::filesystem::path& folder)>;
    explicit JobStore(FreeSpace free_space = freeSpaceOf) : free_space_(std::move(free_space)) {}
    static std::optional<std::uint64_t> freeSpaceOf(const std::filesystem::path& folder);

    Result<std::shared_ptr<JobFolder>> createJob();
    /// Replaces whatever stands under that name; never writes through a link.
    Result<void> put(const JobFolder& job, const std::string& file_name, std::string_view bytes);
    /// Refuses links and anything that is no plain file.
    Result<std::string> fetch(const JobFolder& job, const std::string& file_name, std::uint64_t max_bytes);
    /// The command's own variables are added to scrubbedEnvironment(). Errors: too little space is left for a command
    /// that works in a job; what a full disk does to a compiler or a candidate would be taken for their own fault.
    Result<CommandOutcome> run(Command command, std::stop_token stop);
    std::vector<std::string> sandbox(const JobFolder& job, bool gpus,
                                     const std::vector<std::filesystem::path>& readable, bool network = false) const;
    /// What there is to say about the cache folder and the sandbox.
    void probe(NodeProbe& probe, std::stop_token stop) const;

private:
    FreeSpace free_space_;
    Sandbox sandbox_;
};

}  // namespace cuco
