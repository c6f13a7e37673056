// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/population/candidate.h"

#include <gtest/gtest.h>

#include <cmath>

namespace cuco {
namespace {

Candidate timedCandidate(std::vector<double> lower_bounds)
{
    Candidate candidate;
    candidate.evaluation.emplace();
    for (const double low : lower_bounds) {
        ShapeTiming timing;
        timing.speedup = timing.ci_high = low * 1.1;
        timing.ci_low = low;
        timing.time_us = 100;
        timing.bound_us = 50;
        candidate.evaluation->timings.push_back(timing);
    }
    return candidate;
}

TEST(Fitness, IsTheLogarithmOfTheLowerBound)
{
    EXPECT_NEAR(fitness(timedCandidate({1.5})).value(), std::log(1.5), 1e-12);
}

TEST(Fitness, TakesTheGeometricMeanOverShapes)
{
    EXPECT_NEAR(fitness(timedCandidate({2.0, 0.5})).value(), 0.0, 1e-12);
}

TEST(Fitness, IsMissingUntilACandidateIsEvaluated)
{
    EXPECT_FALSE(fitness(Candidate{}));
}

TEST(Fitness, IsMissingForACandidateThatIsWrong)
{
    Candidate candidate = timedCandidate({3.0});
    candidate.evaluation->verdict = Verdict::wrong_result;
    EXPECT_FALSE(fitness(candidate));
}

TEST(Fitness, IsMissingWithoutTimes)
{
    EXPECT_FALSE(fitness(timedCandidate({})));
    EXPECT_FALSE(fitness(timedCandidate({0.0})));
    EXPECT_FALSE(fitness(timedCandidate({std::nan("")})));
}

TEST(CandidateNames, ReadBackAsTheyAreWritten)
{
    for (const auto state : {CandidateState::proposed, CandidateState::compiling, CandidateState::queued,
                             CandidateState::measuring, CandidateState::settled})
        EXPECT_EQ(candidateStateFromString(toString(state)), state);
    for (const auto kind : {DecisionKind::promoted, DecisionKind::rejected})
        EXPECT_EQ(decisionKindFromString(toString(kind)), kind);
    EXPECT_FALSE(candidateStateFromString("Settled"));
    EXPECT_FALSE(decisionKindFromString(""));
}

}  // namespace
}  // namespace cuco
