// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/evaluation/shape_timing.h"
#include "tests/support/evaluation_samples.h"

#include <gmock/gmock.h>

#include <vector>

namespace cuco {
namespace {

using ::testing::HasSubstr;
using testing::hostAt;

TEST(ShapeTiming, ModelledIntervalsHaveNoWidth)
{
    const auto timing = timeShape("s", 4, {50}, hostAt({75}, 40), true);
    EXPECT_DOUBLE_EQ(timing.speedup, 1.5);
    EXPECT_EQ(timing.ci_low, timing.ci_high);
    EXPECT_EQ(timing.baseline, "host.cu");
    EXPECT_FALSE(timing.withinNoise());
}

TEST(ShapeTiming, SpeedUpIsOverTheStrongestBaselineAsItWasInTheSameRun)
{
    auto baselines = hostAt({100, 100, 100, 100}, 40);
    baselines.samples_us["window"] = {80, 80, 80, 80};
    baselines.problems["zero_cta"] = "No such policy.";
    baselines.strongest = "window";
    baselines.compute_alone_us = 45;
    const auto timing = timeShape("s", 4, {50, 50, 50, 50}, baselines, false, std::vector<double>{90, 90, 90, 90});
    EXPECT_DOUBLE_EQ(timing.speedup, 1.8);
    EXPECT_DOUBLE_EQ(*timing.exposedUs(), 5);
    EXPECT_DOUBLE_EQ(*timing.ceilingShare(), 0.8);
    ASSERT_EQ(timing.baselines.size(), 3u);
    EXPECT_EQ(timing.baselines[1].time_us, 80);
    EXPECT_EQ(timing.baselines[2].problem, "No such policy.");
}

TEST(ShapeTiming, AnImprovementInsideTheNoiseFloorIsNone)
{
    auto baselines = hostAt({100, 101, 100, 101}, 40);
    baselines.noise_floor = 0.02;
    EXPECT_TRUE(timeShape("s", 4, {99, 100, 99, 100}, baselines, false).withinNoise());
    EXPECT_TRUE(timeShape("s", 4, {50, 50, 150, 151}, baselines, false).withinNoise()) << "the interval holds 1";
    EXPECT_FALSE(timeShape("s", 4, {90, 91, 90, 91}, baselines, false).withinNoise());
}

TEST(ShapeTiming, ABaselineThatIsDisturbedIsAVerdict)
{
    const auto alone = hostAt({100, 100, 100, 100}, 40);
    Evaluation evaluation;
    judgeBaseline(timeShape("s", 4, {90, 90, 90, 90}, alone, false, std::vector<double>{110, 110, 110, 110}), alone,
                  evaluation);
    EXPECT_TRUE(evaluation.verified());
    judgeBaseline(timeShape("s", 4, {90, 90, 90, 90}, alone, false, std::vector<double>{150, 150, 150, 150}), alone,
                  evaluation);
    EXPECT_EQ(evaluation.verdict, Verdict::timing_mismatch);
    EXPECT_THAT(evaluation.message, HasSubstr("host.cu"));
}

TEST(ShapeTiming, ATimeBelowTheBoundIsNoRecord)
{
    Evaluation evaluation;
    judgeTime(timeShape("s", 4, {39.5}, hostAt({75}, 40), true), 40, evaluation);
    EXPECT_TRUE(evaluation.verified()) << "2 % are slack";
    judgeTime(timeShape("s", 4, {30}, hostAt({75}, 40), true), 25, evaluation);
    EXPECT_TRUE(evaluation.verified()) << "a bound by a kernel that candidates may beat";
    judgeTime(timeShape("s", 4, {30}, hostAt({75}, 40), true), 40, evaluation);
    EXPECT_EQ(evaluation.verdict, Verdict::faster_than_possible);
    EXPECT_THAT(evaluation.message, HasSubstr("30 µs"));
}

TEST(ShapeTiming, ClocksThatDisagreeAreAVerdict)
{
    Evaluation evaluation;
    judgeClocks("s", {500, 510}, {480, 485}, evaluation);
    EXPECT_TRUE(evaluation.verified());
    judgeClocks("s", {500, 510}, {50, 55}, evaluation);
    EXPECT_EQ(evaluation.verdict, Verdict::timing_mismatch);
}

}  // namespace
}  // namespace cuco
