// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "runtime/machine.h"

namespace cuco_emu {

/// Adds an access of the running warp to its costs and checks bounds.
void observe(const volatile void* address, std::size_t bytes, bool write, const void* site);

/// Host code looks at memory that a device may write: lets some time pass.
void host_looks(const volatile void* address, const void* site);

}  // namespace cuco_emu
