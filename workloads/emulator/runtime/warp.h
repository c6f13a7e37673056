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

void prepare_threads(Block& block);
void release_threads(Block& block);

}  // namespace cuco_emu
