// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <span>

namespace cuco {

/// The mean of the two middle samples when their number is even; 0 of nothing.
double median(std::span<const double> samples);

/// exp of the mean logarithm; 0 of nothing or when one is not positive.
double geometricMean(std::span<const double> values);

struct Ratio {
    double value = 0, low = 0, high = 0;
};

/// median(numerator) / median(denominator) of samples that were taken in rounds, with a 95 % percentile-bootstrap
/// interval (Efron, 1979): sample i of either belongs to round i / per_round, and rounds are resampled as a whole 2,000
/// times, so that what moves both alike within a round cancels; the interval is widened for n rounds by sqrt(n / (n -
/// 1)) and, as Student's t is wider than the normal distribution, by t(n - 1) / z. The same seed gives the same
/// interval; fewer than two rounds give one of no width. Both must be non-empty and positive, with as many rounds.
Ratio ratioOfRounds(std::span<const double> numerator, std::span<const double> denominator, std::size_t per_round,
                    std::uint64_t seed);

/// How far two runs of one program in processes of their own differ for as long as these live, in the time of a whole
/// stretch of iterations: a standard deviation, which rounds of the same processes cannot show
/// (docs/measurements/noise_h200.md).
inline constexpr double between_processes_us = 2;

/// With what differs between processes added to the interval, in quadrature on the logarithm. `stretch_us`: how long
/// the samples' stretches were.
Ratio withProcesses(const Ratio& ratio, double stretch_us);

}  // namespace cuco
