// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "job.h"

namespace cuco_harness {

/// Compares a job's dumps with the oracle, in a process in which the candidate never was: the inputs of all ranks
/// come from the seed. 0 when the report is complete, whatever it says.
int verify(const Job& job, int report_descriptor);

}  // namespace cuco_harness
