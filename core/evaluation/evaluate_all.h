// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/evaluation/candidate_evaluator.h"

#include <cstddef>
#include <functional>
#include <stop_token>
#include <vector>

namespace cuco {

/// Called in the requests' order, on the caller's thread; an error is of that candidate's evaluation alone.
using Settled = std::function<void(std::size_t index, Result<EvaluationResult> result)>;

/// Evaluates several candidates: one after the other is measured, while those behind it are compiled, `compile_workers`
/// at a time. `evaluator` is prepared. Returns when all are settled; after a stop the rest end in errors.
void evaluateAll(CandidateEvaluator& evaluator, const std::vector<EvaluationRequest>& requests, int compile_workers,
                 const Settled& settled, std::stop_token stop);

}  // namespace cuco
