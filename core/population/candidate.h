// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/design/directive.h"
#include "core/design/tunable.h"
#include "core/evaluation/evaluation.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace cuco {

enum class CandidateState { proposed, compiling, queued, measuring, settled };
std::string_view toString(CandidateState state);
std::optional<CandidateState> candidateStateFromString(std::string_view text);

enum class DecisionKind { promoted, rejected };
std::string_view toString(DecisionKind kind);
std::optional<DecisionKind> decisionKindFromString(std::string_view text);

/// Everything about a candidate except its source and timeline, which are fetched by id.
struct Candidate {
    std::string id;  ///< "c27"; the number is the order of proposal
    int number = 0;
    std::vector<std::string> parents;  ///< empty for an island's seed; two or three for a crossover
    int island = 0, generation = 0;
    std::string proposer;  ///< "seed", "tunable", "llm"
    std::string summary;   ///< what was changed against the parent, one line
    std::string strategy;  ///< the workload strategy it descends from
    Directive directive;
    TunableValues tunables;
    std::string source_sha256;
    std::string proposed_sha256;  ///< of the text as it was proposed, where the machine set other numbers; else empty
    CandidateState state = CandidateState::proposed;
    std::optional<Evaluation> evaluation;  ///< set when settled
    std::optional<DecisionKind> decision;  ///< the one in force
    std::string decision_reason;
    double cost_usd = 0;
};

/// Natural logarithm of the speed-up's lower confidence bound; nothing unless it verified and was timed.
std::optional<double> fitness(const Candidate& candidate);

}  // namespace cuco
