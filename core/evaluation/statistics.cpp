// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/evaluation/statistics.h"

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

namespace cuco {

namespace {

constexpr std::size_t resamples = 2000;

double medianInPlace(std::vector<double>& samples)
{
    if (samples.empty())
        return 0;
    const auto middle = samples.begin() + static_cast<std::ptrdiff_t>(samples.size() / 2);
    std::nth_element(samples.begin(), middle, samples.end());
    if (samples.size() % 2 == 1)
        return *middle;
    return (*std::max_element(samples.begin(), middle) + *middle) / 2;
}

}  // namespace

double median(std::span<const double> samples)
{
    std::vector<double> copy(samples.begin(), samples.end());
    return medianInPlace(copy);
}

double geometricMean(std::span<const double> values)
{
    if (values.empty())
        return 0;
    double sum = 0;
    for (const double value : values) {
        if (!(value > 0))
            return 0;
        sum += std::log(value);
    }
    return std::exp(sum / static_cast<double>(values.size()));
}

Ratio ratioOfRounds(std::span<const double> numerator, std::span<const double> denominator, std::size_t per_round,
                    std::uint64_t seed)
{
    Ratio ratio;
    ratio.value = median(numerator) / median(denominator);
    const std::size_t rounds = std::min(numerator.size(), denominator.size()) / per_round;
    if (rounds < 2) {
        ratio.low = ratio.high = ratio.value;
        return ratio;
    }
    // The library's distributions differ between implementations; the engine does not.
    std::mt19937_64 random(seed);
    std::vector<double> ratios, above, below;
    ratios.reserve(resamples);
    for (std::size_t i = 0; i < resamples; ++i) {
        above.clear();
        below.clear();
        for (std::size_t round = 0; round < rounds; ++round) {
            const std::size_t chosen = random() % rounds * per_round;
            above.insert(above.end(), numerator.begin() + static_cast<std::ptrdiff_t>(chosen),
                         numerator.begin() + static_cast<std::ptrdiff_t>(chosen + per_round));
            below.insert(below.end(), denominator.begin() + static_cast<std::ptrdiff_t>(chosen),
                         denominator.begin() + static_cast<std::ptrdiff_t>(chosen + per_round));
        }
        ratios.push_back(medianInPlace(above) / medianInPlace(below));
    }
    std::ranges::sort(ratios);
    // Resampling n rounds spreads less than drawing n new ones would, by this in the standard deviation.
    const double missing_spread = std::sqrt(static_cast<double>(rounds) / static_cast<double>(rounds - 1));
    const auto widened = [&](double edge) { return ratio.value * std::pow(edge / ratio.value, missing_spread); };
    ratio.low = widened(ratios[resamples * 25 / 1000]);
    ratio.high = widened(ratios[resamples * 975 / 1000 - 1]);
    return ratio;
}

}  // namespace cuco
