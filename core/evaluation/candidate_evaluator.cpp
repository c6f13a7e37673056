// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/evaluation/candidate_evaluator.h"

namespace cuco {

Result<EvaluationResult> CandidateEvaluator::evaluate(const EvaluationRequest& request, std::stop_token stop)
{
    auto compiled = compile(request, stop);
    if (!compiled)
        return std::unexpected(compiled.error());
    return measure(request, std::move(*compiled), stop);
}

}  // namespace cuco
