// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "runtime/machine.h"

namespace cuco_emu {

/// Before the running thread looks at *address again and again: sleeps until somebody has written there.
void poll(const volatile void* address, unsigned bytes, const void* site);

/// Somebody has written; wakes those who sleep on it.
void wrote(const volatile void* address, std::size_t bytes, Rank* writer);
/// Fast when nobody sleeps.
inline void note_write(const volatile void* address, std::size_t bytes, Rank* writer)
{
    if (machine().pollers != 0)
        wrote(address, bytes, writer);
}

/// Nothing else can happen: lets sleepers look once more, in case they count their looks. False when they
/// have done so often enough.
bool stir_pollers();

}  // namespace cuco_emu
