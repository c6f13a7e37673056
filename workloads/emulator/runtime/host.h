// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "runtime/machine.h"

#include <functional>
#include <string>

namespace cuco_emu {

constexpr std::size_t host_stack_bytes = 4 << 20;

/// The calling rank's host thread does nothing for this long.
void host_sleep(Time duration);

/// Waits until wake_host. `reason` shows when it never comes.
void host_wait(const std::string& reason, const void* site);
void wake_host(Rank& rank, Time when);

/// Host time of an API call.
inline void host_costs(double us)
{
    if (current_rank && !current_warp)
        host_sleep(from_us(us));
}

/// The rank whose code calls; reports and ends the process when that is none (another OS thread, a kernel).
Rank& calling_rank(const char* function, const void* site);

}  // namespace cuco_emu
