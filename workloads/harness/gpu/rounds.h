// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

namespace cuco_harness {

/// Of two programs' times, with its 95 % interval.
struct RoundsRatio {
    double value = 1, low = 0, high = 0;  ///< high is infinite below two rounds
};

/// median(numerator) / median(denominator), by the method that the product states a speed-up's interval with: samples
/// r·per_round to (r + 1)·per_round − 1 are of round r; rounds are resampled as a whole (percentile bootstrap), and the
/// interval is widened for how few they are. Both are non-empty and positive.
RoundsRatio ratioOfRounds(const std::vector<double>& numerator, const std::vector<double>& denominator,
                          size_t per_round);

}  // namespace cuco_harness
