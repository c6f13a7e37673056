// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/error.h"

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <mutex>

namespace cuco {

/// Brings commits of a write-ahead log to the disk beside the connection that made them, which need not wait, and
/// several of them at once. SQLite does not sync such commits itself (synchronous = NORMAL) until a checkpoint, which
/// keeps the order: the log before the database.
class WalSync {
public:
    explicit WalSync(std::filesystem::path database) : database_(std::move(database)) {}
    WalSync(const WalSync&) = delete;
    WalSync& operator=(const WalSync&) = delete;
    ~WalSync();

    /// What is committed now. Whoever calls has the connection to itself.
    std::uint64_t committed() { return ++committed_; }
    /// Returns once all that was committed up to `commit` is on the disk. Any thread may call. Error: the system's.
    Result<void> await(std::uint64_t commit);

private:
    std::unexpected<Error> failed(const char* what) const;

    const std::filesystem::path database_;
    std::atomic<std::uint64_t> committed_{0};
    std::mutex mutex_;  ///< of what is below
    std::uint64_t on_disk_ = 0;
    int log_ = -1;
};

}  // namespace cuco
