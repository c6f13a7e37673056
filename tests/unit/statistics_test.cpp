// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/evaluation/statistics.h"
#include "core/evaluation/evaluation_plan.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

namespace cuco {
namespace {

TEST(Statistics, MedianOfAnEvenNumberIsTheMiddleOfTwo)
{
    EXPECT_DOUBLE_EQ(median(std::vector{4.0, 1.0, 3.0, 2.0}), 2.5);
    EXPECT_DOUBLE_EQ(median(std::vector{9.0, 1.0, 3.0}), 3.0);
    EXPECT_DOUBLE_EQ(median({}), 0.0);
}

TEST(Statistics, GeometricMeanOfARatioAndItsInverseIsOne)
{
    EXPECT_NEAR(geometricMean(std::vector{4.0, 0.25}), 1.0, 1e-12);
    EXPECT_EQ(geometricMean(std::vector{4.0, 0.0}), 0.0);
    EXPECT_EQ(geometricMean({}), 0.0);
}

TEST(Statistics, IntervalOfARatioHoldsItAndNarrowsWithQuietSamples)
{
    std::vector<double> noisy, quiet, baseline;
    for (int i = 0; i < 30; ++i) {
        noisy.push_back(100 + 10 * std::sin(i * 7.0));
        quiet.push_back(100 + 0.1 * std::sin(i * 7.0));
        baseline.push_back(150 + 0.1 * std::cos(i * 5.0));
    }
    const Ratio wide = ratioOfRounds(baseline, noisy, 1, 1), narrow = ratioOfRounds(baseline, quiet, 1, 1);
    EXPECT_NEAR(narrow.value, 1.5, 0.01);
    EXPECT_LE(wide.low, wide.value);
    EXPECT_GE(wide.high, wide.value);
    EXPECT_LT(narrow.high - narrow.low, (wide.high - wide.low) / 5);
}

TEST(Statistics, SameSeedGivesSameInterval)
{
    const std::vector<double> a{3, 1, 4, 1, 5, 9, 2, 6}, b{2, 7, 1, 8, 2, 8, 1, 8};
    EXPECT_EQ(ratioOfRounds(a, b, 2, 7).low, ratioOfRounds(a, b, 2, 7).low);
    EXPECT_EQ(ratioOfRounds(a, b, 2, 7).high, ratioOfRounds(a, b, 2, 7).high);
}

TEST(Statistics, WhatMovesARoundAsAWholeDoesNotWidenItsInterval)
{
    std::vector<double> ours, theirs;
    for (int round = 0; round < 20; ++round)
        for (const double wobble : {0.0, 0.1}) {
            const double drift = round % 2 == 0 ? 1 : 1.3;
            ours.push_back(drift * (100 + wobble));
            theirs.push_back(drift * (200 + wobble));
        }
    auto shifted = theirs;  // each round's partner is of another round
    std::rotate(shifted.begin(), shifted.begin() + 2, shifted.end());
    const Ratio paired = ratioOfRounds(theirs, ours, 2, 1), apart = ratioOfRounds(shifted, ours, 2, 1);
    EXPECT_NEAR(paired.value, 2, 0.01);
    EXPECT_LT(paired.high - paired.low, 0.1 * (apart.high - apart.low));
    EXPECT_EQ(ratioOfRounds(std::vector<double>{2, 2}, std::vector<double>{1, 1}, 2, 1).low, 2);
}

TEST(Statistics, IntervalOfEqualProgramsHoldsOneAboutAsOftenAsItSays)
{
    // As two runs of one program on a GPU differ: by where their memory lies, anew each round, and by sample.
    std::mt19937_64 random(42);
    const auto normal = [&](double deviation) {
        const double u = (static_cast<double>(random() >> 11) + 0.5) / 9007199254740992.0;
        const double v = static_cast<double>(random() >> 11) / 9007199254740992.0;
        return deviation * std::sqrt(-2 * std::log(u)) * std::cos(6.283185307179586 * v);
    };
    const auto run = [&](int rounds) {
        std::vector<double> samples;
        for (int round = 0; round < rounds; ++round) {
            const double placement = normal(0.3);
            for (std::size_t turn = 0; turn < turns_a_round; ++turn)
                samples.push_back(100 + placement + normal(0.7));
        }
        return samples;
    };
    constexpr int trials = 400;
    for (const int rounds : {4, 6, 12}) {
        int held = 0;
        for (int i = 0; i < trials; ++i) {
            const Ratio ratio = ratioOfRounds(run(rounds), run(rounds), turns_a_round, 1);
            held += ratio.low <= 1 && ratio.high >= 1;
        }
        EXPECT_GE(held, trials * 93 / 100) << rounds;
        EXPECT_LE(held, trials * 99 / 100) << rounds;
    }
}

TEST(Statistics, ProcessesDifferInEachStretchByWhatRoundsDoNotShow)
{
    const Ratio sharp{1.5, 1.5, 1.5}, wide{1, 0.9, 1 / 0.9};
    const Ratio brief = withProcesses(sharp, 200), lasting = withProcesses(sharp, 20'000);
    EXPECT_NEAR(std::log(brief.high / brief.value), 1.96 * between_processes_us / 200, 1e-5);
    EXPECT_NEAR(std::log(brief.low / brief.value), -1.96 * between_processes_us / 200, 1e-5);
    EXPECT_NEAR(lasting.high, 1.5, 1e-3);
    EXPECT_NEAR(withProcesses(wide, 1000).low, 0.9, 1e-3) << "a small part of a wide interval";
}

TEST(Statistics, SingleSamplesGiveNoWidth)
{
    const Ratio ratio = ratioOfRounds(std::vector{6.0}, std::vector{4.0}, 1, 1);
    EXPECT_DOUBLE_EQ(ratio.value, 1.5);
    EXPECT_EQ(ratio.low, ratio.high);
}

}  // namespace
}  // namespace cuco
