// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "gpu/scene.h"
#include "gpu/team.h"

#include <vector>

namespace cuco_harness {

/// Times the teams `taking_part` (indices; the candidate's is 0) in rounds: each has its turn in order and once more
/// in reverse order, so that a linear drift falls on all alike. Every iteration has inputs of its own and is compared
/// in full. Reports `time` for each program and `conditions`; `rejected` when the candidate was wrong.
Outcome timeShape(Scene& scene, const std::vector<Team*>& teams, const std::vector<size_t>& taking_part,
                  bool& rejected);

double medianOf(std::vector<double> values);

}  // namespace cuco_harness
