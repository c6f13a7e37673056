// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "gpu/scene.h"
#include "gpu/team.h"

namespace cuco_harness {

/// The candidate's verified iterations: the first with ranks that start together, the others with ranks that start
/// late at random, each seen as the stream left it; then some in a row. Reports `checked` and `mismatch`; `rejected`
/// when there is one.
Outcome verify(Scene& scene, Team& candidate, bool& rejected);

/// What the observer saw of iterations whose first has the number `first_iteration`. The candidate's are reported.
/// A failure: an output that became right later.
Outcome judge(Scene& scene, const Program& program, int first_iteration, bool timed,
              const std::vector<Observation>& observations, bool& rejected);

}  // namespace cuco_harness
