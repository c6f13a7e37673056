// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/design/tunable.h"
#include "core/evaluation/candidate_evaluator.h"

#include <optional>
#include <string>
#include <vector>

namespace cuco {

/// A verified candidate with other numbers.
struct TunableVariant {
    TunableValues values;
    std::string source;
    CandidateEvaluator::Compiled compiled;
};

/// What became of a variant; `variants` of the race in their order, the candidate as it was written first.
struct TuningRow {
    TunableValues values;
    Verdict verdict = Verdict::verified;
    std::string message;
    int shapes = 0;                 ///< it was timed at so many, the first ones
    std::optional<double> speedup;  ///< geometric mean over those; nothing: not timed
    bool won = false;
};

struct TuningOutcome {
    std::vector<TuningRow> table;
    std::optional<std::size_t> winner;  ///< of the variants; nothing: none is faster than what was written
    EvaluationResult result;            ///< the winner's, of all shapes; empty without one
};

/// Successive halving (Jamieson and Talwalkar, arXiv 1502.07943) with shapes as the resource: all variants are verified
/// and timed at the first shape, the faster half at one more, and so on; the last two, whole. The winner has a higher
/// lower bound of its speed-up than `own`, the evaluation of the candidate as it was written. Measures one after the
/// other.
Result<TuningOutcome> raceTunables(CandidateEvaluator& evaluator, const EvaluationRequest& request,
                                   const TunableValues& own_values, const Evaluation& own,
                                   const std::vector<TunableVariant>& variants, std::stop_token stop);

/// A Markdown table, with a sentence that says whether times are modelled.
std::string tuningTable(const TuningOutcome& outcome, bool modelled);

}  // namespace cuco
