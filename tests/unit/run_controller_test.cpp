// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/run/run_controller.h"
#include "core/agents/proposer.h"
#include "tests/support/fake_run.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <condition_variable>
#include <mutex>
#include <set>

namespace cuco {
namespace {

using namespace std::chrono_literals;
using testing::fakeConfig;
using testing::FakeEvaluator;
using testing::fakeRun;
using ::testing::HasSubstr;
using testing::outcomeOf;

/// Keeps every event, and lets a test wait for one.
class Events {
public:
    RunObserver observer()
    {
        return [this](const RunEvent& event) {
            const std::scoped_lock guard(mutex_);
            all_.push_back(event);
            changed_.notify_all();
        };
    }
    std::vector<RunEvent> all() const
    {
        const std::scoped_lock guard(mutex_);
        return all_;
    }
    bool waitForSettled(int count)
    {
        std::unique_lock lock(mutex_);
        return changed_.wait_for(lock, 60s, [&] {
            return std::ranges::any_of(all_, [&](const RunEvent& event) {
                const auto* progress = std::get_if<Progress>(&event);
                return progress && progress->settled >= count;
            });
        });
    }

private:
    mutable std::mutex mutex_;
    std::condition_variable changed_;
    std::vector<RunEvent> all_;
};

class RunControllerTest : public ::testing::Test {
protected:
    FakeEvaluator::Options slow(std::chrono::microseconds longest = 2ms) const
    {
        FakeEvaluator::Options options;
        options.longest_delay = longest;
        return options;
    }
    /// The uninterrupted run without delays that others are compared with.
    std::string expected(std::uint64_t seed, FakeEvaluator::Options options = {})
    {
        const auto other = folder / "expected.cuco";
        std::filesystem::remove(other);
        auto run = fakeRun(other, workload, fakeConfig(seed), std::move(options));
        run->start();
        run->wait();
        run.reset();
        return outcomeOf(other);
    }
    RunSnapshot snapshot(const std::filesystem::path& file) const
    {
        return RunFile::open(file, RunFile::Access::read).value()->snapshot().value();
    }

    testing::TemporaryFolder folder;
    Workload workload = testing::fakeWorkload(folder / "workload", 4);
    std::filesystem::path path = folder / "run.cuco";
    Events events;
};

TEST_F(RunControllerTest, FinishesWithEveryCandidateSettled)
{
    auto run = fakeRun(path, workload, fakeConfig(), slow());
    EXPECT_EQ(run->state(), RunState::created);
    run->start();
    run->wait();
    EXPECT_EQ(run->state(), RunState::finished);
    const auto result = snapshot(path);
    EXPECT_EQ(result.state, RunState::finished);
    ASSERT_EQ(result.candidates.size(), 34u);
    for (const Candidate& candidate : result.candidates)
        EXPECT_EQ(candidate.state, CandidateState::settled);
    ASSERT_EQ(result.baselines.size(), 1u);
    EXPECT_EQ(result.baselines[0].name, "host.cu");
    EXPECT_GT(*fitness(*bestOf(result)), 0);
    EXPECT_TRUE(result.modelled);
}

TEST_F(RunControllerTest, GivesTheSameCandidatesHoweverLongEvaluationsTake)
{
    const std::string wanted = expected(3);
    for (int attempt = 0; attempt < 5; ++attempt) {
        std::filesystem::remove(path);
        auto run = fakeRun(path, workload, fakeConfig(3), slow());
        run->start();
        run->wait();
        run.reset();
        EXPECT_EQ(outcomeOf(path), wanted);
    }
    EXPECT_NE(expected(4), wanted);
}

TEST_F(RunControllerTest, GoesOnAfterStopsAsIfThereHadBeenNone)
{
    const std::string wanted = expected(5);
    std::mt19937 random(17);
    unsigned starts = 0;
    for (bool finished = false; !finished; ++starts) {
        ASSERT_LT(starts, 500u);
        auto run = fakeRun(path, workload, fakeConfig(5), slow(3ms));
        run->start();
        // Longer each time, so that a slow machine gets through too.
        std::this_thread::sleep_for(std::chrono::microseconds(random() % 12'000 + 300 * starts));
        run->stop();
        run->wait();
        finished = run->state() == RunState::finished;
        if (!finished) {
            EXPECT_EQ(run->state(), RunState::stopped);
        }
    }
    EXPECT_GT(starts, 2u);
    EXPECT_EQ(outcomeOf(path), wanted);
}

TEST_F(RunControllerTest, GoesOnAfterPausesAsIfThereHadBeenNone)
{
    const std::string wanted = expected(6);
    auto run = fakeRun(path, workload, fakeConfig(6), slow());
    std::mt19937 random(18);
    run->start();
    int pauses = 0;
    while (run->state() != RunState::finished) {
        std::this_thread::sleep_for(std::chrono::microseconds(random() % 6'000));
        run->pause();
        if (random() % 2 == 0)
            run->wait();
        if (run->state() == RunState::paused) {
            ++pauses;
            for (const Candidate& candidate : snapshot(path).candidates)
                EXPECT_EQ(candidate.state, CandidateState::settled);
        }
        run->resume();
    }
    EXPECT_GT(pauses, 0);
    run.reset();
    EXPECT_EQ(outcomeOf(path), wanted);
}

TEST_F(RunControllerTest, PreparesTheNodeOnce)
{
    std::shared_ptr<FakeEvaluator> evaluator;
    auto run = fakeRun(path, workload, fakeConfig(), slow(), events.observer(), &evaluator);
    run->start();
    ASSERT_TRUE(events.waitForSettled(3));
    run->pause();
    run->wait();
    ASSERT_EQ(run->state(), RunState::paused);
    run->resume();
    run->wait();
    EXPECT_EQ(evaluator->prepared, 1);
}

TEST_F(RunControllerTest, StaysPausedWhenItIsClosed)
{
    auto run = fakeRun(path, workload, fakeConfig(), slow(), events.observer());
    run->start();
    ASSERT_TRUE(events.waitForSettled(3));
    run->pause();
    run->wait();
    ASSERT_EQ(run->state(), RunState::paused);
    run.reset();
    EXPECT_EQ(snapshot(path).state, RunState::paused);
}

TEST_F(RunControllerTest, StopsWhenItIsDestroyed)
{
    auto run = fakeRun(path, workload, fakeConfig(1, 1000), slow(), events.observer());
    run->start();
    ASSERT_TRUE(events.waitForSettled(3));
    run.reset();
    EXPECT_EQ(snapshot(path).state, RunState::stopped);
    EXPECT_TRUE(std::filesystem::exists(path));
    EXPECT_FALSE(std::filesystem::exists(path.string() + "-lock"));
}

TEST_F(RunControllerTest, FailsWhenTheNodeDoesAndGoesOnWhenItIsBack)
{
    FakeEvaluator::Options options = slow();
    options.breaks_node = [](const std::string& source) { return source.find("strategy s4") != std::string::npos; };
    {
        auto run = fakeRun(path, workload, fakeConfig(5), options, events.observer());
        run->start();
        run->wait();
        EXPECT_EQ(run->state(), RunState::failed);
        const auto failed = snapshot(path);
        EXPECT_EQ(failed.state, RunState::failed);
        EXPECT_THAT(failed.message, HasSubstr("The node is gone"));
        EXPECT_THAT(failed.message, HasSubstr("Start it again."));
    }
    auto run = fakeRun(path, workload, fakeConfig(5));
    run->start();
    run->wait();
    run.reset();
    EXPECT_EQ(outcomeOf(path), expected(5));
}

TEST_F(RunControllerTest, GoesOnWhenCandidatesFail)
{
    FakeEvaluator::Options options;
    options.is_wrong = [](const std::string& source) { return source.find("strategy s2") != std::string::npos; };
    testing::writeText(workload.strategies[0].file,
                       testing::readText(workload.strategies[0].file) + "// does not compile\n");
    auto run = fakeRun(path, workload, fakeConfig(), options);
    run->start();
    run->wait();
    EXPECT_EQ(run->state(), RunState::finished);
    std::set<Verdict> verdicts;
    for (const Candidate& candidate : snapshot(path).candidates) {
        verdicts.insert(candidate.evaluation->verdict);
        for (const std::string& parent : candidate.parents)
            EXPECT_TRUE(snapshot(path).candidates.at(std::stoul(parent.substr(1))).evaluation->verified());
    }
    EXPECT_THAT(verdicts,
                ::testing::UnorderedElementsAre(Verdict::verified, Verdict::wrong_result, Verdict::compile_error));
}

/// Proposes the same text again and again.
class Parrot : public Proposer {
public:
    Result<ProposalOutcome> propose(const ProposalContext& context, std::stop_token) override
    {
        const std::scoped_lock guard(mutex);
        for (const auto& candidate : context.visible)
            EXPECT_EQ(candidate->state, CandidateState::settled);
        if (context.generation > 0)
            visible[context.number] = static_cast<int>(context.visible.size());
        Proposal proposal;
        proposal.source = testing::strategyText("parrot", 1.5);
        proposal.proposer = "parrot";
        proposal.cost_usd = 0.5;
        return ProposalOutcome(std::move(proposal));
    }
    std::mutex mutex;
    std::map<int, int> visible;
};

TEST_F(RunControllerTest, EvaluatesATextOnce)
{
    auto evaluator = std::make_shared<FakeEvaluator>(workload, slow());
    auto config = fakeConfig(1, 2);
    RunController run({RunFile::create(path, config).value(), evaluator, std::make_unique<Parrot>()}, {});
    run.start();
    run.wait();
    EXPECT_EQ(evaluator->measured, 1);
    const auto candidates = snapshot(path).candidates;
    ASSERT_EQ(candidates.size(), 10u);
    for (std::size_t i = 1; i < candidates.size(); ++i) {
        EXPECT_EQ(candidates[i].evaluation->verdict, Verdict::duplicate);
        EXPECT_THAT(candidates[i].evaluation->message, HasSubstr("c0"));
    }
}

TEST_F(RunControllerTest, ShowsAProposerExactlyWhatTheWindowAllows)
{
    auto proposer = std::make_unique<Parrot>();
    Parrot& parrot = *proposer;
    auto config = fakeConfig(1, 5);
    RunController run(
        {RunFile::create(path, config).value(), std::make_shared<FakeEvaluator>(workload, slow()), std::move(proposer)},
        {});
    run.start();
    run.wait();
    for (const auto& [number, visible] : parrot.visible)
        EXPECT_EQ(visible, number < 2 ? 0 : std::max(2, number - 4 + 1)) << number;
    EXPECT_EQ(parrot.visible.size(), 20u);
}

TEST_F(RunControllerTest, StopsProposingWhenTheBudgetIsSpent)
{
    auto config = fakeConfig(1, 5);
    config.budget_usd = 3;
    RunController run({RunFile::create(path, config).value(), std::make_shared<FakeEvaluator>(workload, slow()),
                       std::make_unique<Parrot>()},
                      {});
    run.start();
    run.wait();
    const auto result = snapshot(path);
    EXPECT_EQ(result.state, RunState::finished);
    EXPECT_THAT(result.message, HasSubstr("budget"));
    EXPECT_EQ(result.candidates.size(), 6u);
}

TEST_F(RunControllerTest, FinishesEarlyWhenNothingIsLeftToTry)
{
    const Workload small = testing::fakeWorkload(folder / "small", 0);
    auto run = fakeRun(path, small, fakeConfig(1, 100));
    run->start();
    run->wait();
    const auto result = snapshot(path);
    EXPECT_EQ(result.state, RunState::finished);
    EXPECT_THAT(result.message, HasSubstr("tried"));
    EXPECT_EQ(result.candidates.size(), 16u);
}

TEST_F(RunControllerTest, MeasuresOneCandidateAtATimeOnRealHardware)
{
    FakeEvaluator::Options options = slow();
    options.modelled = false;
    std::shared_ptr<FakeEvaluator> evaluator;
    auto run = fakeRun(path, workload, fakeConfig(), options, {}, &evaluator);
    run->start();
    run->wait();
    EXPECT_EQ(evaluator->most_measuring, 1);
}

TEST_F(RunControllerTest, TellsEventsInOrder)
{
    auto run = fakeRun(path, workload, fakeConfig(), slow(), events.observer());
    run->start();
    run->wait();
    std::vector<RunState> states;
    std::map<std::string, CandidateState> last;
    int settled = 0;
    for (const RunEvent& event : events.all()) {
        if (const auto* changed = std::get_if<StateChanged>(&event))
            states.push_back(changed->state);
        if (const auto* changed = std::get_if<CandidateChanged>(&event)) {
            const auto before = last.find(changed->candidate.id);
            if (before != last.end()) {
                EXPECT_LT(before->second, changed->candidate.state) << changed->candidate.id;
            }
            last[changed->candidate.id] = changed->candidate.state;
        }
        if (const auto* progress = std::get_if<Progress>(&event)) {
            EXPECT_GE(progress->settled, settled);
            EXPECT_LE(progress->settled, progress->proposed);
            EXPECT_EQ(progress->total, 34);
            settled = progress->settled;
        }
        if (const auto* steps = std::get_if<StepsAdded>(&event)) {
            EXPECT_TRUE(last.contains(steps->steps.front().candidate_id));
        }
    }
    EXPECT_EQ(states, (std::vector{RunState::running, RunState::finished}));
    EXPECT_EQ(settled, 34);
}

TEST_F(RunControllerTest, MayBeCommandedFromTheObserver)
{
    std::unique_ptr<RunController> run;
    std::atomic<bool> rejected = false;
    run = fakeRun(path, workload, fakeConfig(), slow(), [&](const RunEvent& event) {
        const auto* changed = std::get_if<CandidateChanged>(&event);
        if (changed && changed->candidate.id == "c3" && changed->candidate.evaluation && !rejected.exchange(true)) {
            EXPECT_TRUE(run->reject("c3", "for the test"));
            run->pause();
        }
    });
    run->start();
    run->wait();
    EXPECT_TRUE(rejected);
    EXPECT_EQ(run->state(), RunState::paused);
    EXPECT_EQ(snapshot(path).candidates[3].decision, DecisionKind::rejected);
}

TEST_F(RunControllerTest, StoresDecisionsInAnyState)
{
    FakeEvaluator::Options options = slow();
    options.factor = [](const std::string&, const std::string& shape) { return shape == "small" ? 1 : 2; };
    auto run = fakeRun(path, workload, fakeConfig(1, 2), options, events.observer());
    const auto missing = run->promote("c0", "");
    ASSERT_FALSE(missing);
    EXPECT_THAT(missing.error().what, HasSubstr("no candidate c0"));
    run->start();
    ASSERT_TRUE(events.waitForSettled(4));  // c0 among them: without it only three could be
    EXPECT_TRUE(run->promote("c0", "while it runs"));
    run->wait();
    EXPECT_TRUE(run->waitForPromotions());
    EXPECT_TRUE(run->reject("c0", "when it is finished"));
    EXPECT_EQ(snapshot(path).candidates[0].decision, DecisionKind::rejected);
    EXPECT_TRUE(run->undo());
    EXPECT_EQ(snapshot(path).candidates[0].decision, DecisionKind::promoted);
    EXPECT_EQ(snapshot(path).candidates[0].decision_reason, "while it runs");
    run.reset();
    run = fakeRun(path, workload, fakeConfig());
    EXPECT_TRUE(run->undo());
    EXPECT_FALSE(snapshot(path).candidates[0].decision);
    EXPECT_FALSE(run->undo());
    EXPECT_TRUE(run->reject("c1", "again"));
    EXPECT_EQ(snapshot(path).decisions.size(), 3u);
}

TEST_F(RunControllerTest, PromotesVerifiedCandidatesOnly)
{
    FakeEvaluator::Options options;
    options.is_wrong = [](const std::string& source) { return source.find("strategy s1 ") != std::string::npos; };
    auto run = fakeRun(path, workload, fakeConfig(1, 1), options);
    run->start();
    run->wait();
    const auto refused = run->promote("c1", "");
    ASSERT_FALSE(refused);
    EXPECT_THAT(refused.error().what, HasSubstr("wrong_result"));
    EXPECT_TRUE(run->promote("c0", ""));
}

TEST_F(RunControllerTest, NeverDescendsFromARejectedCandidateAgain)
{
    std::string rejected;
    {
        auto run = fakeRun(path, workload, fakeConfig(2, 12), slow(), events.observer());
        run->start();
        ASSERT_TRUE(events.waitForSettled(20));
        run->pause();
        run->wait();
        ASSERT_EQ(run->state(), RunState::paused);
        rejected = bestOf(snapshot(path))->id;
        ASSERT_TRUE(run->reject(rejected, "it is wrong for large shapes"));
        const auto before = snapshot(path).candidates.size();
        run->resume();
        run->wait();
        const auto after = snapshot(path);
        for (std::size_t i = before; i < after.candidates.size(); ++i)
            EXPECT_THAT(after.candidates[i].parents, ::testing::Not(::testing::Contains(rejected)));
        EXPECT_NE(bestOf(after)->id, rejected);
    }
}

TEST_F(RunControllerTest, TreatsARunThatWasCutOffAsStopped)
{
    RunFile::create(path, fakeConfig()).value()->setState(RunState::running, "").value();
    auto run = fakeRun(path, workload, fakeConfig());
    EXPECT_EQ(run->state(), RunState::stopped);
    EXPECT_EQ(snapshot(path).state, RunState::stopped);
}

}  // namespace
}  // namespace cuco
