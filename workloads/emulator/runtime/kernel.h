// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "runtime/machine.h"

namespace cuco_emu {

/// Starts the kernel on its rank; kernel->done is called when its last block has ended.
void start_kernel(Kernel* kernel);
/// A modelled kernel that was told to hold its blocks lets them go.
void release_blocks(Kernel& kernel);
/// Blocks of the kernel that fit the whole GPU at the same time.
std::size_t resident_limit(std::size_t threads, std::size_t shared_bytes);
std::size_t blocks_per_sm(std::size_t threads, std::size_t shared_bytes);

inline constexpr std::size_t sm_threads = 2048, sm_blocks = 32, sm_shared_bytes = 228 << 10;
inline constexpr std::size_t block_shared_reserve = 1 << 10, block_shared_limit = 227 << 10;
inline constexpr std::size_t static_shared_limit = 48 << 10;

void finish_block(Block& block);
void thread_ended(Kernel& kernel);

void arrive_at_barrier(Thread& thread);
void complete_barrier(Block& block, int id);
void arrive_at_grid_barrier(Thread& thread);
/// Meetings that only wait for lanes which have ended go on.
void meet_without_ended(Warp& warp);

}  // namespace cuco_emu
