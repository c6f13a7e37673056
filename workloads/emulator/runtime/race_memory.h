// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "runtime/race.h"

namespace cuco_emu {

struct MemoryUse {
    bool write, strong, is_volatile;
    const void* site;
};

/// Who runs now: a CUDA thread or a rank's host; null between them.
RaceActor* running_actor();
/// Checks an access against those remembered, then remembers it.
void check_range_for_races(std::uintptr_t begin, std::size_t bytes, const MemoryUse& access, const RaceActor& actor);

}  // namespace cuco_emu
