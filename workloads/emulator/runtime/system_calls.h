// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cuco_emu_host.h"

#include <optional>

namespace cuco_emu {

/// While it is not 0, system calls of this thread are looked at: all but those that memory, threads, clocks and
/// printing need are a `tampering` failure, however they are made (inline assembly, the C library, a library).
/// Switched with the flow of control: on while code of a candidate runs. Does nothing where the kernel lacks
/// syscall user dispatch (Linux before 5.11, other processors than x86-64).
extern thread_local volatile char watched_system_calls;

/// The first call that was refused, as a failure. It has been answered with EPERM; what called it goes on until
/// report_refused_call, or any other failure, ends the process.
std::optional<Failure> refused_call();
void report_refused_call();

/// Once for each thread that runs a candidate's code.
void watch_system_calls();

}  // namespace cuco_emu
