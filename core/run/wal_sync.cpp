// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/run/wal_sync.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

namespace cuco {

WalSync::~WalSync()
{
    if (log_ >= 0)
        ::close(log_);
}

Result<void> WalSync::await(std::uint64_t commit)
{
    const std::scoped_lock guard(mutex_);
    if (on_disk_ >= commit)
        return {};
    // SQLite's locks are on the database and its index, not on the log: to close this descriptor releases none.
    if (log_ < 0)
        log_ = ::open((database_.string() + "-wal").c_str(), O_RDONLY | O_CLOEXEC);
    if (log_ < 0)
        return failed("opened");
    const std::uint64_t with_this = committed_;
    if (::fdatasync(log_) != 0)
        return failed("written to the disk");
    on_disk_ = with_this;
    return {};
}

std::unexpected<Error> WalSync::failed(const char* what) const
{
    return failure(fmt::format("The run file's log could not be {} ({})", what, std::generic_category().message(errno)),
                   database_.string() + "-wal",
                   "Check the disk and its free space, then resume the run: everything saved before is whole.");
}

}  // namespace cuco
