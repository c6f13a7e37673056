// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "gpu/shared_memory.h"
#include "layout.h"

namespace cuco_harness {

/// One rank's part of a team's memory.
struct AttachedRank {
    MappedMemory outputs, inputs, snapshot;
    BufferLayout layout;
    int shape = -1;
};

}  // namespace cuco_harness
