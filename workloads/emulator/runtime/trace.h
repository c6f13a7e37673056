// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "runtime/machine.h"

namespace cuco_emu {

/// What the timeline gets to know. All of these do little or nothing while no trace is on.
void trace_command(const Command& command);
void trace_copy(const Rank& rank, std::size_t engine, Time begin, const std::string& name, bool to_peer,
                std::uint64_t bytes);

/// A put or a signal of the network adapter that arrives now.
void trace_gin(const Rank& from, int peer, Time begin, bool put, std::uint64_t bytes);

/// A warp was charged, or stopped waiting, for what began at `begin` and ends now.
void note_segment(Kernel& kernel, Time begin, bool puts, bool computes);
void note_wait(Kernel& kernel, Time begin);
/// The kernel has ended: its lanes, when it both computed and communicated.
void trace_kernel(const Kernel& kernel);

}  // namespace cuco_emu
