// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/interrupts.h"

#include <fcntl.h>
#include <unistd.h>
#include <atomic>
#include <cerrno>
#include <csignal>

namespace cuco::cli {

namespace {

// A signal handler reaches nothing but statics.
std::atomic<int> signal_pipe{-1};

void onSignal(int signal)
{
    const int saved_errno = errno;
    const char byte = static_cast<char>(signal);
    [[maybe_unused]] const auto written = ::write(signal_pipe.load(), &byte, 1);
    errno = saved_errno;
}

void install(void (*handler)(int))
{
    struct sigaction action {};
    action.sa_handler = handler;
    action.sa_flags = SA_RESTART;
    sigaction(SIGINT, &action, nullptr);
    sigaction(SIGTERM, &action, nullptr);
}

}  // namespace

Interrupts::Interrupts()
{
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0)
        return;  // signals then end the process as they do by default
    read_fd_ = ends[0];
    write_fd_ = ends[1];
    signal_pipe = write_fd_;
    watcher_ = std::jthread([this] {
        char byte = 0;
        ssize_t got = 0;
        do {
            got = ::read(read_fd_, &byte, 1);
        } while (got < 0 && errno == EINTR);
        if (got == 1 && byte != 0) {
            install(SIG_DFL);
            source_.request_stop();
        }
    });
    install(onSignal);
}

Interrupts::~Interrupts()
{
    if (write_fd_ < 0)
        return;
    install(SIG_DFL);
    const char quit = 0;
    [[maybe_unused]] const auto written = ::write(write_fd_, &quit, 1);
    watcher_.join();
    signal_pipe = -1;
    ::close(read_fd_);
    ::close(write_fd_);
}

}  // namespace cuco::cli
