// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/run/decision.h"

#include <algorithm>
#include <array>
#include <utility>

namespace cuco {

namespace {

constexpr std::array standing_names{
    std::pair{PromotionStanding::pending, std::string_view("pending")},
    std::pair{PromotionStanding::stands, std::string_view("stands")},
    std::pair{PromotionStanding::refused, std::string_view("refused")},
};

}  // namespace

std::string_view toString(PromotionStanding standing)
{
    for (const auto& [known, name] : standing_names)
        if (known == standing)
            return name;
    return {};
}

std::optional<PromotionStanding> promotionStandingFromString(std::string_view text)
{
    for (const auto& [standing, name] : standing_names)
        if (name == text)
            return standing;
    return std::nullopt;
}

void applyDecisions(const std::vector<Decision>& decisions, Candidate& candidate)
{
    candidate.decision.reset();
    candidate.decision_reason.clear();
    for (const Decision& decision : decisions) {
        if (decision.undone || decision.candidate_id != candidate.id)
            continue;
        if (decision.kind == DecisionKind::rejected || decision.standing == PromotionStanding::stands) {
            candidate.decision = decision.kind;
            candidate.decision_reason = decision.reason;
        } else if (decision.standing == PromotionStanding::refused && candidate.decision == DecisionKind::promoted) {
            candidate.decision.reset();
            candidate.decision_reason.clear();
        }
    }
}

const Decision* lastDecisionOn(const std::vector<Decision>& decisions, std::string_view candidate_id)
{
    const auto found = std::find_if(decisions.rbegin(), decisions.rend(), [&](const Decision& decision) {
        return !decision.undone && decision.candidate_id == candidate_id;
    });
    return found == decisions.rend() ? nullptr : &*found;
}

std::vector<Decision> pendingPromotions(const std::vector<Decision>& decisions)
{
    std::vector<Decision> pending;
    for (const Decision& decision : decisions)
        if (decision.kind == DecisionKind::promoted && decision.standing == PromotionStanding::pending &&
            lastDecisionOn(decisions, decision.candidate_id) == &decision)
            pending.push_back(decision);
    return pending;
}

std::string toSentencePart(const Decision& decision)
{
    if (decision.kind == DecisionKind::rejected)
        return "rejected";
    switch (decision.standing) {
        case PromotionStanding::pending:
            return "promoted, not yet measured again";
        case PromotionStanding::stands:
            return "promoted";
        case PromotionStanding::refused:
            break;
    }
    return "promotion refused";
}

}  // namespace cuco
