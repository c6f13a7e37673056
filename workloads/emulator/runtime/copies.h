// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "runtime/streams.h"

namespace cuco_emu {

/// A copy of `rows` rows. Host memory is where no rank's device memory is.
struct CopyShape {
    void* to = nullptr;
    const void* from = nullptr;
    std::size_t width = 0, rows = 1, to_pitch = 0, from_pitch = 0;
    std::size_t bytes() const { return width * rows; }
};

/// Rank whose device memory this is, -1 for host memory.
int owner_of(const void* address);

/// Begins the copy on an engine of the command's rank; finishes the command when the data has arrived.
void start_copy(const CopyShape& shape, const CommandPtr& command);

/// Ends the process when a part of the range lies outside what may be used.
void check_range(const void* begin, std::size_t bytes, bool write, const char* function, const void* site);

}  // namespace cuco_emu
