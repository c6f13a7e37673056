// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/run/decision.h"

namespace cuco {

struct PromotionJudgement {
    PromotionStanding standing = PromotionStanding::refused;
    std::string finding;  ///< one sentence with the figures that decided
};

/// A promotion stands when the candidate verified again and is faster than the strongest baseline at every held-back
/// shape, beyond noise: the interval of its speed-up lies above 1, and the speed-up above the noise floor.
PromotionJudgement judgePromotion(const Evaluation& on_held_back_shapes);

}  // namespace cuco
