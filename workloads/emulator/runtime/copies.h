// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "runtime/streams.h"

namespace cuco_emu {

/// A copy of `rows` rows. An owner is the rank whose device memory it is, -1 for host memory.
struct CopyShape {
    void* to = nullptr;
    const void* from = nullptr;
    std::size_t width = 0, rows = 1, to_pitch = 0, from_pitch = 0;
    int to_owner = -1, from_owner = -1;
    std::size_t bytes() const { return width * rows; }
};

/// Rank whose device memory this is, -1 for host memory. A variable of a candidate may be either: it is the
/// device's where `device_wanted` says so.
int owner_of(const void* address, bool device_wanted);

/// Begins the copy on an engine of the command's rank; finishes the command when the data has arrived.
void start_copy(const CopyShape& shape, const CommandPtr& command);

/// Ends the process when a part of the range lies outside what may be used.
void check_range(const void* begin, std::size_t bytes, bool write, const char* function, const void* site);

}  // namespace cuco_emu
