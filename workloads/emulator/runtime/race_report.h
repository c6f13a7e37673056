// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "runtime/machine.h"
#include "runtime/race_shadow.h"

#include <string>

namespace cuco_emu {

/// What a task was, for messages.
struct RaceTask {
    int rank = -1;
    bool kernel = false;
    std::string name;
    const void* site = nullptr;  ///< the call, in the candidate
    uint3 block{}, grid{};
};

std::uint32_t new_race_task(int rank, const std::string& name, const void* site);
std::uint32_t next_race_task();
RaceTask& race_task(std::uint32_t task);
void forget_race_tasks();

/// Notes two accesses to the cell at `address` that nothing orders, once for each pair of places.
void found_race(const RaceEntry& first, const RaceEntry& second, std::uintptr_t address, const RaceActor& actor,
                bool (*covers)(const RaceActor&, RaceEpoch, bool));

}  // namespace cuco_emu
