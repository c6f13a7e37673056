// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "device_outcome.h"
#include "job.h"
#include "rank_link.h"

namespace cuco_harness {

/// Everything one rank does for a job: loads the candidate, joins the communicator, and takes the shapes in turn.
Outcome runRank(const Job& job, RankLink& link);

}  // namespace cuco_harness
