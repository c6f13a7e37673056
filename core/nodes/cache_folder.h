// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/error.h"
#include "core/base/unique_fd.h"

#include <filesystem>
#include <stop_token>
#include <string>

namespace cuco {

/// $XDG_CACHE_HOME/cuco, ~/.cache/cuco, or cuco-<user> in the temporary folder: the first that can be
/// made. Readable by its owner only, for it holds sources and programs that will be run.
Result<std::filesystem::path> cacheFolder();
/// `cacheFolder()/name`, made when missing, with mode 0700.
Result<std::filesystem::path> cacheFolder(const std::string& name);

/// An exclusive flock(2) on a file, honoured by other processes; released with the object.
class FileLock {
public:
    /// Waits until the lock is free or `stop` is requested.
    static Result<FileLock> acquire(const std::filesystem::path& file, std::stop_token stop);

private:
    explicit FileLock(UniqueFd fd) : fd_(std::move(fd)) {}
    UniqueFd fd_;
};

}  // namespace cuco
