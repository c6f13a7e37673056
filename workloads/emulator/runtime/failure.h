// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "runtime/machine.h"

#include "cuco_emu_host.h"

namespace cuco_emu {

inline constexpr const char* stack_overflow_message =
    "A CUDA thread uses more than the 64 KiB of stack that the emulator gives it.";

/// Reports and ends the process.
[[noreturn]] void fail(Failure failure);

/// The same with kernel, block and thread in the detail, and the candidate's line that `site` came from.
[[noreturn]] void fail_in_kernel(const char* kind, const std::string& message, const Thread& thread,
                                 const void* site = nullptr);

/// A fault of a rank's host code.
[[noreturn]] void fail_in_host(const char* kind, const std::string& message, const void* site);

/// "gemm, block (3, 0, 0), thread (17, 0, 0) of rank 1"
std::string describe_thread(const Thread& thread);

/// Line of the candidate's source at this return address, 0 when unknown. Slow: asks addr2line.
int source_line(const void* return_address);

/// Nothing can happen any more: says who waits for what.
[[noreturn]] void fail_with_deadlock();

/// Handlers for SIGSEGV and its like, on a stack of their own.
void catch_signals();

}  // namespace cuco_emu
