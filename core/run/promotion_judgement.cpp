// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/run/promotion_judgement.h"

#include "core/run/run_snapshot.h"

#include <fmt/format.h>

#include <algorithm>

namespace cuco {

namespace {

bool isFaster(const ShapeTiming& timing)
{
    return timing.ci_low > 1 && !timing.withinNoise();
}

std::string figures(const ShapeTiming& timing, const char* note)
{
    std::string text = fmt::format("{:.3f}×", timing.speedup);
    if (timing.ci_low < timing.ci_high)
        text += fmt::format(" ({:.3f}–{:.3f})", timing.ci_low, timing.ci_high);
    text += fmt::format(", {:.2f} µs against {:.2f} µs{}", timing.time_us, timing.baseline_us, note);
    if (timing.noise_floor)
        text += fmt::format(", noise ±{:.1f} %", 100 * *timing.noise_floor);
    return text;
}

}  // namespace

PromotionJudgement judgePromotion(const Evaluation& on_held_back_shapes)
{
    const Evaluation& evaluation = on_held_back_shapes;
    if (!evaluation.verified())
        return {PromotionStanding::refused, fmt::format("Measured again, it did not verify: {}: {}",
                                                        toString(evaluation.verdict), evaluation.message)};
    if (evaluation.timings.empty())
        return {PromotionStanding::refused, "Measured again, it got no time."};
    const char* const note = timesNote(evaluation.modelled, evaluation.self_reported);
    // A program has one shape, which the search has timed too.
    const char* const shape = evaluation.self_reported ? "shape" : "held-back shape";
    const auto& least = *std::ranges::min_element(evaluation.timings, {}, &ShapeTiming::ci_low);
    const auto slow = std::ranges::find_if_not(evaluation.timings, isFaster);
    if (slow != evaluation.timings.end()) {
        const ShapeTiming& worst = isFaster(least) ? *slow : least;
        return {PromotionStanding::refused, fmt::format("At the {} {} it is not faster than {} beyond noise: {}.",
                                                        shape, worst.shape, worst.baseline, figures(worst, note))};
    }
    return {
        PromotionStanding::stands,
        fmt::format("Measured again, it is {:.3f}× as fast as the strongest baseline{}; the least at the {} {}: {}.",
                    evaluation.speedup().value_or(0), note, shape, least.shape, figures(least, note))};
}

}  // namespace cuco
