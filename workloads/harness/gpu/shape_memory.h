// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "gpu/observer.h"
#include "gpu/team.h"
#include "job.h"
#include "outcome.h"

namespace cuco_harness {

struct GpuMemory {
    int64_t l2_bytes = 0;
    int64_t free_bytes = 0;  ///< before anything was allocated for a shape
};

/// How many sets of buffers each of so many programs gets: together they are larger than three times the L2, and there
/// is one for each iteration of a burst and one more.
Outcome chooseSets(const Job& job, const ShapeJob& shape, size_t programs, const GpuMemory& gpus, int& sets);

/// The fewest of them once the burst's length is known: larger together than three times the L2, and one more than a
/// burst uses, for the iteration before it.
int setsForBurst(const Job& job, const ShapeJob& shape, const GpuMemory& gpus, int burst);

/// Asks every rank for its buffers; shareMemory waits for them.
void postAllocate(Team& team, const ShapeJob& shape, int sets);
/// What the ranks have allocated is mapped by the observer, as of team `number`.
Outcome shareMemory(const Job& job, Team& team, int number, int shape, int sets, Observer& observer);

}  // namespace cuco_harness
