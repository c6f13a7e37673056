// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/agents/tunable_proposer.h"
#include "core/agents/tunable_moves.h"
#include "tests/support/fake_evaluator.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>

namespace cuco {
namespace {

using ::testing::Contains;
using testing::fakeWorkload;
using ::testing::HasSubstr;
using testing::strategyText;
using testing::TemporaryFolder;

/// A run in which everything settles at once, as the engine would drive it.
class ImmediateRun {
public:
    ImmediateRun(TunableProposer& proposer, std::uint64_t seed, int generations, int islands = 2, int children = 2)
        : proposer_(proposer), seed_(seed), generations_(generations), islands_(islands), children_(children)
    {
        for (int island = 0; island < islands_; ++island)
            add(proposer_.seed(island).value(), island, 0);
    }

    void finish()
    {
        for (int number = islands_; number < islands_ + generations_ * window() && !exhausted; ++number)
            step();
    }

    void step()
    {
        const int number = static_cast<int>(candidates.size());
        ProposalContext context;
        context.number = number;
        context.island = (number - islands_) % islands_;
        context.generation = 1 + (number - islands_) / window();
        context.generations = generations_;
        context.proposals_per_generation = window();
        context.run_seed = seed_;
        for (int i = 0; i <= number - window(); ++i)
            context.visible.push_back(std::make_shared<const Candidate>(candidates[static_cast<std::size_t>(i)]));
        context.is_known = [this](const std::string& sha) { return known.contains(sha); };
        context.source_of = [this](const std::string& id) -> Result<std::string> { return sources.at(id); };
        auto proposal = proposer_.propose(context, {});
        ASSERT_TRUE(proposal) << describe(proposal.error());
        if (*proposal)
            add(std::move(**proposal), context.island, context.generation);
        else
            exhausted = true;
    }

    std::set<std::string> strategies() const
    {
        std::set<std::string> names;
        for (const Candidate& candidate : candidates)
            names.insert(candidate.strategy);
        return names;
    }

    std::vector<Candidate> candidates;
    std::map<std::string, std::string> sources;
    std::set<std::string> known;
    std::vector<std::vector<AgentStep>> steps;
    int repeated = 0;
    bool exhausted = false;

private:
    int window() const { return islands_ * children_; }

    void add(Proposal proposal, int island, int generation)
    {
        Candidate candidate;
        candidate.number = static_cast<int>(candidates.size());
        candidate.id = fmt::format("c{}", candidate.number);
        candidate.island = island;
        candidate.generation = generation;
        candidate.parents = proposal.parents;
        candidate.strategy = proposal.strategy;
        candidate.tunables = proposal.tunables;
        candidate.directive = proposal.directive;
        candidate.summary = proposal.summary;
        candidate.state = CandidateState::settled;
        candidate.evaluation.emplace();
        ShapeTiming timing;
        timing.speedup = timing.ci_low = timing.ci_high = testing::FakeEvaluator::speedupOf(proposal.source);
        candidate.evaluation->timings = {timing};
        sources[candidate.id] = proposal.source;
        if (!known.insert(sha256Hex(proposal.source)).second)
            ++repeated;
        steps.push_back(proposal.steps);
        candidates.push_back(std::move(candidate));
    }

    TunableProposer& proposer_;
    std::uint64_t seed_;
    int generations_, islands_, children_;
};

class TunableProposerTest : public ::testing::Test {
protected:
    std::unique_ptr<TunableProposer> make(int strategies)
    {
        auto made = TunableProposer::create(fakeWorkload(folder.path(), strategies));
        EXPECT_TRUE(made) << describe(made.error());
        return std::move(*made);
    }
    TemporaryFolder folder;
};

TEST_F(TunableProposerTest, SeedsIslandsWithDifferentStrategies)
{
    const auto proposer = make(3);
    EXPECT_EQ(proposer->seed(0)->strategy, "plain");
    EXPECT_EQ(proposer->seed(1)->strategy, "s1");
    EXPECT_EQ(proposer->seed(3)->strategy, "s3");
    EXPECT_EQ(proposer->seed(0)->proposer, "seed");
    EXPECT_TRUE(proposer->seed(0)->parents.empty());
}

TEST_F(TunableProposerTest, SeedsMoreIslandsThanStrategiesWithDifferentTexts)
{
    const auto proposer = make(1);
    std::set<std::string> texts;
    for (int island = 0; island < 6; ++island)
        texts.insert(proposer->seed(island)->source);
    EXPECT_EQ(texts.size(), 6u);
}

TEST_F(TunableProposerTest, ReachesEveryStrategyWithinEightGenerations)
{
    const auto proposer = make(9);
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
        ImmediateRun run(*proposer, seed, 8);
        run.finish();
        EXPECT_EQ(run.candidates.size(), 34u);
        EXPECT_EQ(run.strategies().size(), 10u) << "seed " << seed;
    }
}

TEST_F(TunableProposerTest, FindsTheBestStrategyAndRefinesIt)
{
    const auto proposer = make(4);
    int found = 0;
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
        ImmediateRun run(*proposer, seed, 8);
        run.finish();
        double best = 0;
        for (const Candidate& candidate : run.candidates)
            best = std::max(best, *candidate.evaluation->speedup());
        // As written the best strategy gives 1.4 · 0.95 · 0.9; the optimum is 1.4.
        EXPECT_GT(best, 1.25) << "seed " << seed;
        found += best > 1.399 ? 1 : 0;
    }
    EXPECT_GE(found, 12);
}

TEST_F(TunableProposerTest, NeverProposesATextTwice)
{
    const auto proposer = make(2);
    for (std::uint64_t seed = 1; seed <= 5; ++seed) {
        ImmediateRun run(*proposer, seed, 10);
        run.finish();
        EXPECT_EQ(run.repeated, 0) << "seed " << seed;
    }
}

TEST_F(TunableProposerTest, GoesThroughEveryTextThereIsAndThenSaysSo)
{
    const auto proposer = make(1);
    ImmediateRun run(*proposer, 1, 100);
    run.finish();
    EXPECT_TRUE(run.exhausted);
    EXPECT_EQ(run.repeated, 0);
    EXPECT_EQ(run.candidates.size(), 2u * 4 * 4);
}

TEST_F(TunableProposerTest, RepeatsForTheSameSeed)
{
    const auto proposer = make(3);
    ImmediateRun a(*proposer, 5, 8), b(*proposer, 5, 8), other(*proposer, 6, 8);
    a.finish();
    b.finish();
    other.finish();
    EXPECT_EQ(a.sources, b.sources);
    EXPECT_NE(a.sources, other.sources);
}

TEST_F(TunableProposerTest, KeepsTheDeclaredDirective)
{
    const auto proposer = make(2);
    ImmediateRun run(*proposer, 1, 4);
    run.finish();
    for (const Candidate& candidate : run.candidates)
        EXPECT_EQ(toString(candidate.directive), "backend=lsa placement=sequential sync=world issuer=cta chunk=0");
}

TEST_F(TunableProposerTest, StatesTheTunablesThatTheTextHas)
{
    const auto proposer = make(2);
    ImmediateRun run(*proposer, 1, 4);
    run.finish();
    for (const Candidate& candidate : run.candidates) {
        const auto source = KernelSource::parse(run.sources[candidate.id]);
        EXPECT_EQ(valuesOf(*findTunables(*source)), candidate.tunables);
    }
}

TEST_F(TunableProposerTest, MovesOnlyToNeighbouringChoices)
{
    const auto proposer = make(0);
    ImmediateRun run(*proposer, 1, 3, 1, 2);
    run.step();
    const TunableValues& seed = run.candidates[0].tunables;
    const TunableValues& child = run.candidates[1].tunables;
    EXPECT_NE(seed, child);
    for (const auto& [name, value] : child)
        EXPECT_TRUE(value == seed.at(name) || value == 2 * seed.at(name) || 2 * value == seed.at(name)) << name;
}

TEST_F(TunableProposerTest, NeverTakesARejectedParent)
{
    const auto proposer = make(2);
    ImmediateRun run(*proposer, 3, 12);
    while (run.candidates.size() < 20)
        run.step();
    Candidate* best = &run.candidates[0];
    for (Candidate& candidate : run.candidates)
        if (fitness(candidate) > fitness(*best))
            best = &candidate;
    best->decision = DecisionKind::rejected;
    const std::string rejected = best->id;
    const std::size_t before = run.candidates.size();
    run.finish();
    for (std::size_t i = before; i < run.candidates.size(); ++i)
        EXPECT_THAT(run.candidates[i].parents, ::testing::Not(Contains(rejected)));
}

TEST_F(TunableProposerTest, ExplainsEachDecision)
{
    const auto proposer = make(2);
    ImmediateRun run(*proposer, 1, 8);
    run.finish();
    bool moved = false, crossed = false, started = false;
    for (std::size_t i = 2; i < run.steps.size(); ++i) {
        ASSERT_FALSE(run.steps[i].empty());
        for (std::size_t step = 0; step < run.steps[i].size(); ++step) {
            EXPECT_EQ(run.steps[i][step].id, static_cast<int>(step) + 1);
            EXPECT_LT(run.steps[i][step].parent, run.steps[i][step].id);
        }
        const AgentStep& last = run.steps[i].back();
        EXPECT_FALSE(run.candidates[i].summary.empty());
        EXPECT_THAT(last.body, HasSubstr("Generation"));
        moved |= last.title.starts_with("Moved");
        crossed |= last.title.starts_with("Crossed");
        started |= last.title.starts_with("Started");
        if (!run.candidates[i].parents.empty() && run.steps[i].size() > 1) {
            EXPECT_THAT(run.steps[i].front().body, HasSubstr("| candidate | strategy |"));
        }
    }
    EXPECT_TRUE(moved && crossed && started);
}

TEST_F(TunableProposerTest, TakesAnotherSeedInPlaceOfTheWorkloads)
{
    auto proposer = TunableProposer::create(fakeWorkload(folder.path(), 2), strategyText("mine", 2.0, 4, 128));
    ASSERT_TRUE(proposer) << describe(proposer.error());
    EXPECT_EQ((*proposer)->seed(0)->source, strategyText("mine", 2.0, 4, 128));
    EXPECT_EQ((*proposer)->seed(1)->strategy, "s1");
}

TEST_F(TunableProposerTest, BeginsWithStrategiesWhereAWorkloadHasNoSeedAndSaysWhenItHasNeither)
{
    Workload workload = fakeWorkload(folder.path(), 2);
    workload.seed_source.clear();
    const auto proposer = TunableProposer::create(workload);
    ASSERT_TRUE(proposer) << describe(proposer.error());
    EXPECT_EQ((*proposer)->seed(0)->strategy, "s1");
    workload.strategies.clear();
    const auto nothing = TunableProposer::create(workload);
    ASSERT_FALSE(nothing);
    EXPECT_THAT(describe(nothing.error()), HasSubstr("neither a seed nor a strategy"));
    EXPECT_THAT(describe(nothing.error()), HasSubstr("--seed-source"));
}

TEST_F(TunableProposerTest, RefusesAStrategyThatDoesNotParse)
{
    const Workload workload = fakeWorkload(folder.path(), 2);
    testing::writeText(workload.strategies[1].file, "// EVOLVE-BLOCK-START\nint x;\n");
    const auto proposer = TunableProposer::create(workload);
    ASSERT_FALSE(proposer);
    EXPECT_THAT(proposer.error().what, HasSubstr("s2"));
    EXPECT_THAT(proposer.error().where, HasSubstr("s2.cu"));
}

TEST(TunableMoves, HaveNoNeighbourBeyondTheEnds)
{
    Tunable tunable{.name = "n", .value = 4, .choices = {16, 4, 8}};
    EXPECT_EQ(neighboursOf(tunable), (std::vector<std::int64_t>{8}));
    tunable.value = 8;
    EXPECT_EQ(neighboursOf(tunable), (std::vector<std::int64_t>{4, 16}));
}

TEST(TunableMoves, CannotMoveASingleChoice)
{
    ProposalRandom random(1, 1);
    EXPECT_FALSE(movedValues(std::vector{Tunable{.name = "n", .value = 4, .choices = {4}}}, 2, random));
}

TEST(TunableMoves, CrossOnlyValuesThatAreChoicesHere)
{
    ProposalRandom random(1, 1);
    const std::vector tunables{Tunable{.name = "a", .value = 1, .choices = {1, 2}},
                               Tunable{.name = "b", .value = 1, .choices = {1, 2}}};
    for (int i = 0; i < 20; ++i)
        EXPECT_EQ(crossedValues(tunables, {{"a", 3}, {"b", 2}, {"c", 1}}, random), (TunableValues{{"a", 1}, {"b", 2}}));
    EXPECT_FALSE(crossedValues(tunables, {{"a", 1}, {"c", 2}}, random));
}

TEST(TunableMoves, VisitTheNearestFirstAndEachOnce)
{
    const std::vector tunables{Tunable{.name = "a", .value = 2, .choices = {1, 2, 3}},
                               Tunable{.name = "b", .value = 5, .choices = {5, 6}}};
    std::vector<TunableValues> visited;
    EXPECT_FALSE(visitNearestFirst(tunables, [&](const TunableValues& values) {
        visited.push_back(values);
        return false;
    }));
    EXPECT_EQ(visited.size(), 6u);
    EXPECT_EQ(visited.front(), (TunableValues{{"a", 2}, {"b", 5}}));
    EXPECT_EQ((std::set<TunableValues>(visited.begin(), visited.end()).size()), 6u);
    EXPECT_EQ(visited.back().at("b"), 6);
}

}  // namespace
}  // namespace cuco
