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
constexpr double normal_quantile = 1.959964;  ///< of 0.975

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

/// The 0.975 quantile of Student's t over the normal distribution's, by Hill's expansion (CACM 13, 1970, algorithm
/// 396): within 1 % from three degrees of freedom on.
double studentOverNormal(double degrees)
{
    constexpr double z2 = normal_quantile * normal_quantile;
    return 1 + (z2 + 1) / (4 * degrees) + ((5 * z2 + 16) * z2 + 3) / (96 * degrees * degrees) +
           (((3 * z2 + 19) * z2 + 17) * z2 - 15) / (384 * degrees * degrees * degrees);
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
    // Resampling n rounds spreads less than drawing n new ones would, and how far they spread is known from these few
    // only, as in Student's t.
    const double count = static_cast<double>(rounds);
    const double missing_spread = std::sqrt(count / (count - 1)) * studentOverNormal(count - 1);
    const auto widened = [&](double edge) { return ratio.value * std::pow(edge / ratio.value, missing_spread); };
    ratio.low = widened(ratios[resamples * 25 / 1000]);
    ratio.high = widened(ratios[resamples * 975 / 1000 - 1]);
    return ratio;
}

Ratio withProcesses(const Ratio& ratio, double stretch_us)
{
    const double unseen = normal_quantile * between_processes_us / stretch_us;
    const auto widened = [&](double edge, double sign) {
        return ratio.value * std::exp(sign * std::hypot(std::log(edge / ratio.value), unseen));
    };
    return {ratio.value, widened(ratio.low, -1), widened(ratio.high, 1)};
}

}  // namespace cuco
