// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/population/parent_selection.h"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include <cmath>
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
    children.resize(candidates.size(), 0);
    std::vector<PossibleParent> parents;
    for (std::size_t i = 0; i < candidates.size(); ++i)
        if (const auto parent = asPossibleParent(candidates[i], children[i]))
            parents.push_back(*parent);
    const auto of_parents = parentWeights(parents, settings);
    std::vector<double> weights;  // of the others: 0
    for (const Candidate& candidate : candidates) {
        const auto parent = std::ranges::find(parents, &candidate, &PossibleParent::candidate);
        weights.push_back(parent == parents.end() ? 0 : of_parents[static_cast<std::size_t>(parent - parents.begin())]);
    }
    return weights;
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

std::vector<Candidate> numbered(const std::vector<double>& lower_bounds)
{
    std::vector<Candidate> candidates;
    for (const double low : lower_bounds) {
        candidates.push_back(withLowerBound(low));
        candidates.back().number = static_cast<int>(candidates.size());
    }
    return candidates;
}

TEST(PowerLaw, WeighsByRank)
{
    const auto candidates = numbered({1.1, 1.5, 0.9, 1.3});
    ParentSelectionSettings settings{.policy = ParentPolicy::power_law};
    EXPECT_THAT(weightsOf(candidates, {}, settings),
                ::testing::ElementsAre(1.0 / 3, 1, 1.0 / 4, ::testing::DoubleEq(1.0 / 2)));
    settings.alpha = 0;
    EXPECT_THAT(weightsOf(candidates, {}, settings), ::testing::Each(1));
    settings.alpha = 2;
    EXPECT_DOUBLE_EQ(weightsOf(candidates, {}, settings)[2], 1.0 / 16);
}

TEST(PowerLaw, IsWhatDrawsFollow)
{
    const auto weights = weightsOf(numbered({1.3, 1.2, 1.1}), {}, {.policy = ParentPolicy::power_law});
    std::vector<int> hits(3);
    for (std::uint64_t number = 0; number < 11'000; ++number)
        ++hits.at(ProposalRandom(2, number).weighted(weights));
    EXPECT_NEAR(hits[0], 6000, 250);
    EXPECT_NEAR(hits[1], 3000, 250);
    EXPECT_NEAR(hits[2], 2000, 250);
}

TEST(PowerLaw, RanksEquallyFitOnesByTheirNumber)
{
    auto candidates = numbered({1.2, 1.2});
    std::swap(candidates[0], candidates[1]);
    const auto weights = weightsOf(candidates, {}, {.policy = ParentPolicy::power_law});
    EXPECT_LT(weights[0], weights[1]);
}

TEST(Beam, StaysWithTheFittestUntilItHasEnoughChildren)
{
    const auto candidates = numbered({1.1, 1.5, 1.3});
    const ParentSelectionSettings settings{.policy = ParentPolicy::beam};
    EXPECT_THAT(weightsOf(candidates, {0, 0, 0}, settings), ::testing::ElementsAre(0, 1, 0));
    EXPECT_THAT(weightsOf(candidates, {0, 4, 0}, settings), ::testing::ElementsAre(0, 1, 0));
    EXPECT_THAT(weightsOf(candidates, {0, 5, 0}, settings), ::testing::ElementsAre(0, 0, 1));
    EXPECT_THAT(weightsOf(candidates, {6, 5, 9}, settings), ::testing::ElementsAre(0, 1, 0));
}

TEST(Beam, TakesPromotedOnesFirst)
{
    auto candidates = numbered({1.1, 1.5});
    candidates[0].decision = DecisionKind::promoted;
    const ParentSelectionSettings settings{.policy = ParentPolicy::beam};
    EXPECT_THAT(weightsOf(candidates, {}, settings), ::testing::ElementsAre(1, 0));
    EXPECT_THAT(weightsOf(candidates, {5, 0}, settings), ::testing::ElementsAre(0, 1));
}

TEST(BestOfN, AlwaysBeginsWhereTheRunBegan)
{
    auto candidates = numbered({1.0, 1.0, 1.9});
    candidates[2].generation = 4;
    const ParentSelectionSettings settings{.policy = ParentPolicy::best_of_n};
    EXPECT_THAT(weightsOf(candidates, {7, 0, 0}, settings), ::testing::ElementsAre(1, 1, 0));
    candidates[0].decision = candidates[1].decision = DecisionKind::rejected;
    EXPECT_THAT(weightsOf(candidates, {7, 0, 0}, settings), ::testing::ElementsAre(0, 0, 1));
}

class EveryParentPolicy : public ::testing::TestWithParam<ParentPolicy> {};

TEST_P(EveryParentPolicy, ExcludesRejectedAndUnverifiedCandidates)
{
    auto candidates = numbered({1.5, 1.4, 1.0, 1.0});
    candidates[0].decision = DecisionKind::rejected;
    candidates[1].evaluation->verdict = Verdict::race;
    candidates[2].evaluation.reset();
    EXPECT_THAT(weightsOf(candidates, {}, {.policy = GetParam()}), ::testing::ElementsAre(0, 0, 0, ::testing::Gt(0)));
}

TEST_P(EveryParentPolicy, WeighsAPromotedCandidateMore)
{
    auto candidates = numbered({1.2, 1.2});
    candidates[1].decision = DecisionKind::promoted;
    const auto plain = weightsOf(numbered({1.2, 1.2}), {}, {.policy = GetParam()});
    const auto weights = weightsOf(candidates, {}, {.promotion_bonus = 3, .policy = GetParam()});
    EXPECT_GT(weights[1] / (weights[0] + weights[1]), plain[1] / (plain[0] + plain[1]));
}

TEST_P(EveryParentPolicy, HasNoParentsAmongNone)
{
    EXPECT_THAT(weightsOf({}, {}, {.policy = GetParam()}), ::testing::IsEmpty());
    EXPECT_THAT(weightsOf({Candidate{}}, {}, {.policy = GetParam()}), ::testing::ElementsAre(0));
}

TEST_P(EveryParentPolicy, IsReadBackAsWritten)
{
    const ParentSelectionSettings settings{3, 1.5, GetParam(), 0.5, 9};
    const auto read = parentSelectionSettingsFromJson(toJson(settings), "run.json");
    ASSERT_TRUE(read);
    EXPECT_EQ(read->lambda, 3);
    EXPECT_EQ(read->promotion_bonus, 1.5);
    EXPECT_EQ(read->policy, GetParam());
    EXPECT_EQ(read->alpha, 0.5);
    EXPECT_EQ(read->beam, 9);
}

INSTANTIATE_TEST_SUITE_P(Policies, EveryParentPolicy,
                         ::testing::Values(ParentPolicy::weighted, ParentPolicy::power_law, ParentPolicy::beam,
                                           ParentPolicy::best_of_n),
                         [](const auto& policy) { return std::string(toString(policy.param)); });

TEST(ParentSelectionSettings, HaveASentenceForWhatCannotWork)
{
    EXPECT_TRUE(validate(ParentSelectionSettings{}));
    EXPECT_EQ(validate(ParentSelectionSettings{.lambda = -1}).error().what,
              "The setting parent_selection.lambda is negative or no number");
    EXPECT_EQ(validate(ParentSelectionSettings{.promotion_bonus = 0}).error().what,
              "The setting parent_selection.promotion_bonus is not above 0");
    EXPECT_EQ(validate(ParentSelectionSettings{.alpha = std::nan("")}).error().what,
              "The setting parent_selection.alpha is nan");
    EXPECT_EQ(validate(ParentSelectionSettings{.beam = 0}).error().what, "The setting parent_selection.beam is 0");
    EXPECT_EQ(parentSelectionSettingsFromJson({{"policy", "dice"}}, "run.json").error().what,
              "The field \"parent_selection.policy\" must be weighted, power_law, beam or best_of_n.");
    EXPECT_EQ(parentSelectionSettingsFromJson(nlohmann::json::object(), "run.json")->policy, ParentPolicy::weighted);
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
