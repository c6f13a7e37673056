// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/population/search_population.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <random>

namespace cuco {
namespace {

using Pointer = SearchPopulation::Pointer;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

struct Description {
    int island = 0, generation = 1;
    std::vector<std::string> parents = {};
    std::optional<double> low = {};  ///< lower bound of the speed-up; nothing: it did not verify
    std::optional<DecisionKind> decision = {};
    Verdict verdict = Verdict::wrong_result;  ///< where it did not verify
};

Pointer candidateOf(int number, const Description& description)
{
    Candidate candidate;
    candidate.number = number;
    candidate.id = fmt::format("c{}", number);
    candidate.island = description.island;
    candidate.generation = description.generation;
    candidate.parents = description.parents;
    candidate.decision = description.decision;
    candidate.state = CandidateState::settled;
    candidate.evaluation.emplace();
    candidate.evaluation->verdict = description.low ? Verdict::verified : description.verdict;
    if (description.low) {
        ShapeTiming timing;
        timing.speedup = timing.ci_low = timing.ci_high = *description.low;
        candidate.evaluation->timings = {timing};
    }
    return std::make_shared<const Candidate>(std::move(candidate));
}

std::vector<Pointer> candidatesOf(const std::vector<Description>& descriptions)
{
    std::vector<Pointer> candidates;
    for (const Description& description : descriptions)
        candidates.push_back(candidateOf(static_cast<int>(candidates.size()), description));
    return candidates;
}

SearchPopulation populationOf(const std::vector<Pointer>& candidates, int islands = 2)
{
    SearchPopulation population({.islands = islands, .seed = 7, .archive = {}, .migration = {.interval = 1'000}});
    population.update(candidates);
    return population;
}

std::vector<std::string> idsOf(const std::vector<Pointer>& candidates)
{
    std::vector<std::string> ids;
    for (const Pointer& candidate : candidates)
        ids.push_back(candidate->id);
    return ids;
}

std::vector<std::string> fittestFirst(const ParentPool& pool)
{
    std::vector<std::string> ids;
    for (const std::uint32_t index : pool.by_fitness)
        ids.push_back(pool.parents[index].candidate->id);
    return ids;
}

TEST(SearchPopulation, KnowsWhoCanBeAParentOnEachIslandTheFittestFirst)
{
    const auto candidates = candidatesOf({{.island = 0, .low = 1.1},
                                          {.island = 1, .low = 1.3},
                                          {.island = 0, .low = 1.4},
                                          {.island = 0},
                                          {.island = 1, .low = 1.9, .decision = DecisionKind::rejected},
                                          {.island = 0, .low = 1.1}});
    const SearchPopulation population = populationOf(candidates);
    EXPECT_THAT(fittestFirst(population.parentsOn(0)), ElementsAre("c2", "c0", "c5"));
    EXPECT_THAT(fittestFirst(population.parentsOn(1)), ElementsAre("c1"));
    EXPECT_THAT(fittestFirst(population.parents()), ElementsAre("c2", "c1", "c0", "c5"));
}

TEST(SearchPopulation, CountsAParentsChildrenWhereverItLives)
{
    const auto candidates = candidatesOf({{.low = 1.1},
                                          {.island = 1, .low = 1.2},
                                          {.parents = {"c0"}, .low = 1.0},
                                          {.island = 1, .parents = {"c1", "c0"}}});
    const SearchPopulation population = populationOf(candidates);
    EXPECT_EQ(population.parentsOn(0).parents[0].children, 2);
    EXPECT_EQ(population.parents().parents[0].children, 2);
    EXPECT_EQ(population.parentsOn(1).parents[0].children, 1);
}

TEST(SearchPopulation, ListsFailuresWhereTheyWereBornAndRejectionsOfAll)
{
    const auto candidates = candidatesOf({{.low = 1.1},
                                          {.island = 1},
                                          {.island = 0},
                                          {.island = 0, .verdict = Verdict::duplicate},
                                          {.island = 0, .decision = DecisionKind::rejected}});
    const SearchPopulation population = populationOf(candidates);
    EXPECT_THAT(idsOf(population.failuresOn(0)), ElementsAre("c2"));
    EXPECT_THAT(idsOf(population.failuresOn(1)), ElementsAre("c1"));
    EXPECT_THAT(idsOf(population.rejected()), ElementsAre("c4"));
}

TEST(SearchPopulation, DerivesAllAnewWhenADecisionReplacedACandidate)
{
    auto candidates = candidatesOf({{.low = 1.1}, {.low = 1.5}, {.parents = {"c1"}, .low = 1.2}});
    SearchPopulation population = populationOf(candidates);
    candidates[1] = candidateOf(1, {.low = 1.5, .decision = DecisionKind::rejected});
    population.update(candidates);
    EXPECT_THAT(fittestFirst(population.parentsOn(0)), ElementsAre("c2", "c0"));
    EXPECT_THAT(idsOf(population.rejected()), ElementsAre("c1"));
    candidates[1] = candidateOf(1, {.low = 1.5, .decision = DecisionKind::promoted});
    population.update(candidates);
    EXPECT_THAT(fittestFirst(population.parentsOn(0)), ElementsAre("c1", "c2", "c0"));
    EXPECT_THAT(population.rejected(), IsEmpty());
    EXPECT_TRUE(population.parentsOn(0).parents[1].promoted);
    EXPECT_EQ(population.parentsOn(0).parents[1].children, 1);
}

TEST(SearchPopulation, KeepsAMigrantsChildrenOnBothOfItsIslands)
{
    SearchPopulation population(
        {.islands = 2, .seed = 7, .archive = {}, .migration = {.interval = 1, .rate = 1, .keep_elites = false}});
    const auto candidates = candidatesOf({{.generation = 0, .low = 1.1},
                                          {.island = 1, .generation = 0, .low = 1.2},
                                          {.generation = 1, .parents = {"c1"}, .low = 1.0},
                                          {.island = 1, .generation = 2, .parents = {"c1", "c0"}, .low = 1.0},
                                          {.island = 1, .generation = 3, .parents = {"c1"}, .low = 1.0}});
    population.update(candidates);
    for (const int island : {0, 1})
        for (const PossibleParent& parent : population.parentsOn(island).parents) {
            const int children = parent.candidate->id == "c1" ? 3 : parent.candidate->id == "c0" ? 1 : 0;
            EXPECT_EQ(parent.children, children) << parent.candidate->id << " on island " << island;
        }
    EXPECT_THAT(fittestFirst(population.parentsOn(0)), ::testing::IsSupersetOf({"c0", "c1", "c2"}));
    EXPECT_THAT(fittestFirst(population.parentsOn(1)), ::testing::IsSupersetOf({"c0", "c1", "c3"}));
}

TEST(SearchPopulation, IsTheSameHoweverItsCandidatesCame)
{
    std::mt19937 random(5);
    std::vector<Description> descriptions;
    for (int number = 0; number < 400; ++number) {
        Description description{.island = number % 3, .generation = number / 30};
        if (number > 3)
            description.parents = {fmt::format("c{}", random() % static_cast<unsigned>(number))};
        if (random() % 4 > 0)
            description.low = 1.0 + static_cast<double>(random() % 50) / 100;
        descriptions.push_back(description);
    }
    const auto candidates = candidatesOf(descriptions);
    const SearchPopulation::Settings settings{.islands = 3, .seed = 1, .archive = {}, .migration = {.interval = 4}};
    SearchPopulation at_once(settings), one_by_one(settings);
    at_once.update(candidates);
    for (std::size_t count = 1; count <= candidates.size(); ++count)
        one_by_one.update(std::span(candidates).first(count));
    for (int island = 0; island < 3; ++island) {
        const ParentPool& pool = at_once.parentsOn(island);
        EXPECT_EQ(fittestFirst(pool), fittestFirst(one_by_one.parentsOn(island)));
        EXPECT_TRUE(std::ranges::is_sorted(pool.by_fitness, [&](std::uint32_t a, std::uint32_t b) {
            return isFitter(pool.parents[a], pool.parents[b]);
        }));
        EXPECT_EQ(pool.by_fitness.size(), pool.parents.size());
    }
}

}  // namespace
}  // namespace cuco
