// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "runtime/machine.h"

namespace cuco_emu {

/// The built-in variables, which candidates see as constants.
extern uint3 thread_index asm("threadIdx");
extern uint3 block_index asm("blockIdx");
extern uint3 block_extent asm("blockDim");
extern uint3 grid_extent asm("gridDim");

inline constexpr std::size_t thread_stack_bytes = 64 << 10;
/// Lowest address of the running CUDA thread's stack; no address lies that far above it when none runs.
extern thread_local std::uintptr_t current_stack;
inline constexpr std::uintptr_t no_stack = ~std::uintptr_t{0} - thread_stack_bytes;

/// Runs the warp's ready lanes until all of them wait, then charges the warp for what they did.
void run_warp(Warp& warp);

/// Lets lanes run at `when`.
void wake(Warp& warp, unsigned lanes, Time when);
inline void wake(Thread& thread, Time when)
{
    wake(*thread.warp, 1u << thread.lane, when);
}

/// Called by the running CUDA thread: gives up control with a reason; returns when it was woken.
void wait_in(Wait reason);
/// Gives up control until the warp has been charged for all it did; returns at once when it owes nothing.
void settle_costs();

/// cuco_emu_collect, called from `site`.
void collect(unsigned mask, void* mine, void (*work)(void** lanes, const void* argument), const void* argument,
             const void* site);

/// A thread that has written below its stack, where another's begins; null when none has. Threads are looked at when
/// they end, not whenever they give up control: that would touch another page of memory each time.
const Thread* overflowed_thread();

void prepare_threads(Block& block);
void release_threads(Block& block);

}  // namespace cuco_emu
