// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

namespace cuco_emu {

/// A suspended flow of control is its stack pointer. `prepare` makes one that calls entry(argument) on the stack
/// that ends at `top`; entry never returns.
void* prepare_fiber(void* top, void (*entry)(void*), void* argument);

/// Leaves the running flow in *from and continues `to`.
void switch_fiber(void** from, void* to);

}  // namespace cuco_emu
