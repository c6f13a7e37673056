// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/population/parent_selection.h"

#include <gtest/gtest.h>

#include <set>

namespace cuco {
namespace {

Candidate withLowerBound(double low)
{
    Candidate candidate;
    candidate.evaluation.emplace();
    ShapeTiming timing;
    timing.speedup = timing.ci_low = timing.ci_high = low;
    candidate.evaluation->timings = {timing};
    return candidate;
}

std::vector<double> weightsOf(const std::vector<Candidate>& candidates, std::vector<int> children = {},
                              ParentSelectionSettings settings = {})
{
    std::vector<const Candidate*> pointers;
    for (const Candidate& candidate : candidates)
        pointers.push_back(&candidate);
    children.resize(candidates.size(), 0);
    return parentWeights(pointers, children, settings);
}

TEST(ParentWeights, PreferTheFitter)
{
    const auto weights = weightsOf({withLowerBound(0.9), withLowerBound(1.0), withLowerBound(1.4)});
    EXPECT_LT(weights[0], weights[1]);
    EXPECT_LT(weights[1], weights[2]);
}

TEST(ParentWeights, GiveTheMedianHalf)
{
    const auto weights = weightsOf({withLowerBound(0.9), withLowerBound(1.0), withLowerBound(1.4)});
    EXPECT_DOUBLE_EQ(weights[1], 0.5);
}

TEST(ParentWeights, AreSharedAmongChildren)
{
    const auto weights = weightsOf({withLowerBound(1.2), withLowerBound(1.2)}, {0, 3});
    EXPECT_DOUBLE_EQ(weights[0], 4 * weights[1]);
}

TEST(ParentWeights, ExcludeRejectedAndUnverifiedCandidates)
{
    std::vector<Candidate> candidates{withLowerBound(1.5), withLowerBound(1.4), withLowerBound(1.0), Candidate{}};
    candidates[0].decision = DecisionKind::rejected;
    candidates[1].evaluation->verdict = Verdict::race;
    const auto weights = weightsOf(candidates);
    EXPECT_EQ(weights[0], 0);
    EXPECT_EQ(weights[1], 0);
    EXPECT_GT(weights[2], 0);
    EXPECT_EQ(weights[3], 0);
}

TEST(ParentWeights, GrowByThePromotionBonus)
{
    std::vector<Candidate> candidates{withLowerBound(1.2), withLowerBound(1.2)};
    candidates[1].decision = DecisionKind::promoted;
    ParentSelectionSettings settings;
    settings.promotion_bonus = 3;
    const auto weights = weightsOf(candidates, {}, settings);
    EXPECT_DOUBLE_EQ(weights[1], 3 * weights[0]);
}

TEST(ParentWeights, AreEqualAndFiniteWhenAllAreEquallyFit)
{
    const auto weights = weightsOf({withLowerBound(1.1), withLowerBound(1.1), withLowerBound(1.1)});
    EXPECT_DOUBLE_EQ(weights[0], 0.5);
    EXPECT_DOUBLE_EQ(weights[1], 0.5);
    EXPECT_DOUBLE_EQ(weights[2], 0.5);
}

TEST(ParentWeights, StayFiniteForAnOutlier)
{
    const auto weights = weightsOf({withLowerBound(1.0), withLowerBound(1.0), withLowerBound(1e300)});
    EXPECT_DOUBLE_EQ(weights[2], 1.0);
    EXPECT_GT(weights[0], 0);
}

TEST(ProposalRandom, RepeatsForTheSameSeedAndNumber)
{
    ProposalRandom a(1, 7), b(1, 7);
    for (int i = 0; i < 10; ++i)
        EXPECT_EQ(a.next(), b.next());
}

TEST(ProposalRandom, DiffersBetweenSeedsAndNumbers)
{
    std::set<std::uint64_t> firsts;
    for (std::uint64_t seed = 0; seed < 30; ++seed)
        for (std::uint64_t number = 0; number < 30; ++number)
            firsts.insert(ProposalRandom(seed, number).next());
    EXPECT_EQ(firsts.size(), 900u);
}

TEST(ProposalRandom, SpreadsEvenlyOverItsRange)
{
    ProposalRandom random(3, 4);
    std::vector<int> hits(8);
    for (int i = 0; i < 8000; ++i)
        ++hits.at(random.index(8));
    for (const int hit : hits) {
        EXPECT_GT(hit, 800);
        EXPECT_LT(hit, 1200);
    }
}

TEST(ProposalRandom, DrawsInProportionToTheWeights)
{
    ProposalRandom random(5, 6);
    std::vector<int> hits(3);
    for (int i = 0; i < 4000; ++i)
        ++hits.at(random.weighted(std::vector<double>{1, 0, 3}));
    EXPECT_EQ(hits[1], 0);
    EXPECT_NEAR(hits[2] / 4000.0, 0.75, 0.04);
}

TEST(ProposalRandom, DrawsEvenlyWhenAllWeightsAreZero)
{
    ProposalRandom random(5, 6);
    std::set<std::size_t> drawn;
    for (int i = 0; i < 100; ++i)
        drawn.insert(random.weighted(std::vector<double>{0, 0, 0}));
    EXPECT_EQ(drawn.size(), 3u);
}

}  // namespace
}  // namespace cuco
