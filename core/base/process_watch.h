// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/subprocess.h"

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <filesystem>

namespace cuco {

/// What a process and all its descendants take together.
struct ProcessUse {
    std::uint64_t processes = 0;     ///< and threads
    std::uint64_t memory_bytes = 0;  ///< resident and not backed by files; memory shared by several counts once
};
/// Stops counting above `most_processes`.
ProcessUse useOfDescendants(pid_t root, std::uint64_t most_processes);

/// Space on disk of all that is in the folder, links not followed. Stops counting above `most`; a folder nested
/// deeper than any program needs counts as more.
std::uint64_t bytesInFolder(const std::filesystem::path& folder, std::uint64_t most);

/// Looks now and then whether a running command keeps those of its limits that the kernel does not enforce for it.
class ProcessWatch {
public:
    using Clock = std::chrono::steady_clock;

    ProcessWatch(pid_t process, const Command& command);

    /// When check() is due; the end of time when there is nothing to watch.
    Clock::time_point next() const { return next_; }
    /// The limit that is exceeded now, or none.
    CommandLimit check();

private:
    bool diskExceeded() const;

    pid_t process_;
    std::filesystem::path folder_;
    CommandLimits limits_;
    std::uint64_t free_at_start_ = 0;
    Clock::time_point next_ = Clock::time_point::max();
};

}  // namespace cuco
