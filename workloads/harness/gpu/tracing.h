// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "gpu/scene.h"
#include "gpu/team.h"

namespace cuco_harness {

/// Reports a timeline of one iteration of the team's program, and what tracing costs.
Outcome traceShape(Scene& scene, Team& team, int team_number);

}  // namespace cuco_harness
