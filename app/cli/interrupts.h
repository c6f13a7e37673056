// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <stop_token>
#include <thread>

namespace cuco::cli {

/// Turns the first SIGINT or SIGTERM into a stop request; a second one ends the process at once.
/// One instance a process, made before other threads.
class Interrupts {
public:
    Interrupts();
    ~Interrupts();
    Interrupts(const Interrupts&) = delete;
    Interrupts& operator=(const Interrupts&) = delete;

    std::stop_token token() const { return source_.get_token(); }

private:
    int read_fd_ = -1, write_fd_ = -1;
    std::stop_source source_;
    std::jthread watcher_;
};

}  // namespace cuco::cli
