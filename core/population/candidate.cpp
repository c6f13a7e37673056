// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/population/candidate.h"

#include <array>
#include <cmath>
#include <utility>

namespace cuco {

namespace {

constexpr std::array candidate_state_names{
    std::pair{CandidateState::proposed, std::string_view("proposed")},
    std::pair{CandidateState::compiling, std::string_view("compiling")},
    std::pair{CandidateState::queued, std::string_view("queued")},
    std::pair{CandidateState::measuring, std::string_view("measuring")},
    std::pair{CandidateState::settled, std::string_view("settled")},
};

constexpr std::array decision_kind_names{
    std::pair{DecisionKind::promoted, std::string_view("promoted")},
    std::pair{DecisionKind::rejected, std::string_view("rejected")},
};

template <class Names, class Value>
std::string_view nameOf(const Names& names, Value value)
{
    for (const auto& [known, name] : names)
        if (known == value)
            return name;
    return {};
}

template <class Names>
auto valueOf(const Names& names, std::string_view text) -> std::optional<typename Names::value_type::first_type>
{
    for (const auto& [value, name] : names)
        if (name == text)
            return value;
    return std::nullopt;
}

}  // namespace

std::string_view toString(CandidateState state)
{
    return nameOf(candidate_state_names, state);
}

std::optional<CandidateState> candidateStateFromString(std::string_view text)
{
    return valueOf(candidate_state_names, text);
}

std::string_view toString(DecisionKind kind)
{
    return nameOf(decision_kind_names, kind);
}

std::optional<DecisionKind> decisionKindFromString(std::string_view text)
{
    return valueOf(decision_kind_names, text);
}

std::optional<double> fitness(const Candidate& candidate)
{
    if (!candidate.evaluation || !candidate.evaluation->verified())
        return std::nullopt;
    const auto low = candidate.evaluation->ciLow();
    if (!low || !std::isfinite(*low) || *low <= 0)
        return std::nullopt;
    return std::log(*low);
}

}  // namespace cuco
