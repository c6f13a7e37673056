// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/evaluation/candidate_evaluator.h"
#include "core/run/run_file.h"
#include "core/source/source_hunks.h"

#include <nlohmann/json_fwd.hpp>

#include <functional>
#include <map>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

namespace cuco {

/// A candidate and what it descends from.
struct AttributionRequest {
    std::string candidate, ancestor;  ///< ids
    std::string candidate_source, ancestor_source;
    int ranks = 0;  ///< 0: the workload's default
    bool check_races = false;
};

/// Of the gain over the ancestor, in logarithms of speed-ups, with a 95 % interval.
struct GainShare {
    double value = 0, low = 0, high = 0;
};

/// The candidate without one hunk, or without several that only go together.
struct HunkEffect {
    std::size_t first = 0, last = 0;  ///< hunks, counted from 0
    Evaluation without;
    std::optional<GainShare> share;  ///< nothing when it did not verify without them, or when there is no gain
};

struct Attribution {
    std::string candidate, ancestor;
    std::vector<SourceHunk> hunks;
    Evaluation with_all, with_none;  ///< the candidate and the ancestor, measured again for the comparison
    /// By their first hunk; hunks that could not be taken back alone are there alone, and again with neighbours when
    /// that worked.
    std::vector<HunkEffect> effects;
};

/// Whether the candidate could not even be built without these hunks: then they say nothing alone.
bool cannotBeTakenBack(const Evaluation& without);

/// `against`: an id, or "seed": what the candidate's line of first parents began with, or its island when that is the
/// candidate itself. Errors: no such candidate; the two are one.
Result<AttributionRequest> attributionRequest(RunFile& file, const std::string& candidate_id,
                                              const std::string& against = "seed");

/// Called after each evaluation.
using AttributionProgress = std::function<void(int done, int total, const std::string& what, const Evaluation&)>;

/// Measures the candidate, the ancestor, and the candidate with each hunk of their difference taken back; a hunk that
/// cannot be taken back alone also with its neighbours. The evaluator is prepared. Errors: the texts are equal or
/// differ outside evolve blocks; the node fails; stopped.
Result<Attribution> attribute(CandidateEvaluator& evaluator, const AttributionRequest& request,
                              const AttributionProgress& progress, std::stop_token stop);

nlohmann::json toJson(const Attribution& attribution);
/// A table, and what its figures are.
std::string toMarkdown(const Attribution& attribution);

}  // namespace cuco
