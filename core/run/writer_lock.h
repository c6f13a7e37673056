// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/error.h"
#include "core/base/unique_fd.h"

#include <filesystem>
#include <optional>

namespace cuco {

/// What the one writer of a run file holds: a lock on `FILE-lock` beside it, which the kernel drops when the process
/// dies. The file says which process holds it and goes away with the lock.
class WriterLock {
public:
    /// Errors: another program (or another part of this one) holds it; the folder cannot be written to.
    static Result<WriterLock> acquire(const std::filesystem::path& run_file);
    /// Whether anybody holds it now.
    static bool isHeld(const std::filesystem::path& run_file);

    WriterLock(WriterLock&&) noexcept = default;
    WriterLock& operator=(WriterLock&&) = delete;
    ~WriterLock();

private:
    WriterLock(UniqueFd fd, std::filesystem::path path) : fd_(std::move(fd)), path_(std::move(path)) {}
    UniqueFd fd_;
    std::filesystem::path path_;
};

}  // namespace cuco
