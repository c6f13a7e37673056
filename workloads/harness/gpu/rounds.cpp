// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: Apache-2.0
#include "gpu/rounds.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

namespace cuco_harness {
namespace {

constexpr size_t resamples = 1000;

double middleOf(std::vector<double>& values)
{
    const auto middle = values.begin() + std::ptrdiff_t(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    return values.size() % 2 == 1 ? *middle : (*std::max_element(values.begin(), middle) + *middle) / 2;
}

/// The 0.975 quantile of Student's t over the normal distribution's, by Hill's expansion (CACM 13, 1970, algorithm
/// 396): within 1 % from three degrees of freedom on.
double studentOverNormal(double degrees)
{
    constexpr double z2 = 1.959964 * 1.959964;
    return 1 + (z2 + 1) / (4 * degrees) + ((5 * z2 + 16) * z2 + 3) / (96 * degrees * degrees) +
           (((3 * z2 + 19) * z2 + 17) * z2 - 15) / (384 * degrees * degrees * degrees);
}

}  // namespace

RoundsRatio ratioOfRounds(const std::vector<double>& numerator, const std::vector<double>& denominator,
                          size_t per_round)
{
    std::vector<double> above = numerator, below = denominator;
    RoundsRatio ratio;
    ratio.value = middleOf(above) / middleOf(below);
    ratio.high = std::numeric_limits<double>::infinity();
    const size_t rounds = std::min(numerator.size(), denominator.size()) / per_round;
    if (rounds < 2)
        return ratio;
    std::mt19937_64 random(0x5eed);
    std::vector<double> ratios;
    for (size_t i = 0; i < resamples; ++i) {
        above.clear();
        below.clear();
        for (size_t round = 0; round < rounds; ++round) {
            const auto first = std::ptrdiff_t(random() % rounds * per_round), end = first + std::ptrdiff_t(per_round);
            above.insert(above.end(), numerator.begin() + first, numerator.begin() + end);
            below.insert(below.end(), denominator.begin() + first, denominator.begin() + end);
        }
        ratios.push_back(middleOf(above) / middleOf(below));
    }
    std::sort(ratios.begin(), ratios.end());
    const double count = double(rounds);
    const double missing_spread = std::sqrt(count / (count - 1)) * studentOverNormal(count - 1);
    const auto widened = [&](double edge) { return ratio.value * std::pow(edge / ratio.value, missing_spread); };
    ratio.low = widened(ratios[resamples * 25 / 1000]);
    ratio.high = widened(ratios[resamples * 975 / 1000 - 1]);
    return ratio;
}

}  // namespace cuco_harness
