// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/error.h"
#include "core/base/subprocess.h"
#include "core/base/unique_fd.h"

#include <sys/types.h>

#include <chrono>
#include <optional>

namespace cuco {

/// One started program, the leader of its own process group, and this side's non-blocking ends of its pipes.
/// The leader stays unreaped until reap(), so that its group's number cannot go to another group meanwhile.
class ChildProcess {
public:
    /// Errors: no such program, no such working directory, no process or pipe left.
    static Result<ChildProcess> start(const Command& command);
    ChildProcess(ChildProcess&& other) noexcept;
    ChildProcess& operator=(ChildProcess&&) = delete;
    ~ChildProcess();  ///< kills and reaps when that has not been done

    UniqueFd in, out, err, report;

    pid_t id() const { return pid_; }

    bool exited() const;
    int exitDescriptor() const { return exit_fd_.get(); }  ///< readable after the exit; -1 on old kernels
    int longestWait() const;                               ///< ms to wait at once for exitDescriptor()
    bool waitForExit(std::chrono::milliseconds limit) const;
    /// Waits until the last process in the sandbox is gone; at once without a sandbox. Call after the exit.
    bool waitForSandbox(std::chrono::milliseconds limit);
    /// There is a sandbox and its program was not started in it. Valid after waitForSandbox.
    bool sandboxFailed() const { return sandbox_failed_; }
    void killGroup() const;
    /// waitpid's status; nothing when the kernel kept none because SIGCHLD is ignored. Call after the exit.
    std::optional<int> reap();

private:
    ChildProcess() = default;
    pid_t pid_ = -1;
    UniqueFd exit_fd_;
    UniqueFd sandbox_status_;  ///< where bubblewrap tells its state
    bool sandbox_failed_ = false;
};

}  // namespace cuco
