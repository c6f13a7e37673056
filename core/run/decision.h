// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/population/candidate.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cuco {

/// What became of a promotion: it stands only after the candidate was measured again, on held-back shapes.
enum class PromotionStanding { pending, stands, refused };
std::string_view toString(PromotionStanding standing);
std::optional<PromotionStanding> promotionStandingFromString(std::string_view text);

/// A person's word on a candidate.
struct Decision {
    int id = 0;
    std::string candidate_id;
    DecisionKind kind = DecisionKind::promoted;
    std::string reason;
    std::int64_t time_ms = 0;
    bool undone = false;
    PromotionStanding standing = PromotionStanding::pending;  ///< of a promotion
    std::string finding;                                      ///< what measuring again found; empty while pending

    bool operator==(const Decision&) const = default;
};

/// A candidate measured again because of a promotion.
struct Remeasurement {
    int decision_id = 0;
    PromotionStanding standing = PromotionStanding::pending;
    std::string finding;    ///< one sentence
    Evaluation evaluation;  ///< on held-back shapes, raw samples included
    std::int64_t time_ms = 0;
};

/// Sets what is in force on the candidate. A promotion that is pending changes nothing yet; one that was refused takes
/// an earlier promotion away.
void applyDecisions(const std::vector<Decision>& decisions, Candidate& candidate);

/// The last one that is not undone, or nothing.
const Decision* lastDecisionOn(const std::vector<Decision>& decisions, std::string_view candidate_id);

/// Promotions that nothing later replaces and that still wait to be measured, in order.
std::vector<Decision> pendingPromotions(const std::vector<Decision>& decisions);

/// "promoted", "promoted, not yet measured again", "promotion refused", "rejected".
std::string toSentencePart(const Decision& decision);

}  // namespace cuco
