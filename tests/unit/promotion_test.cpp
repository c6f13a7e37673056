// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/agents/proposer.h"
#include "core/run/promotion_judgement.h"
#include "tests/support/fake_run.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <condition_variable>
#include <mutex>

namespace cuco {
namespace {

using testing::fakeConfig;
using testing::FakeEvaluator;
using testing::fakeRun;
using ::testing::HasSubstr;
using ::testing::Not;

ShapeTiming timing(const std::string& shape, double speedup, double half_interval, std::optional<double> noise_floor)
{
    ShapeTiming made;
    made.shape = shape;
    made.baseline = "zero_cta";
    made.baseline_us = 100;
    made.time_us = 100 / speedup;
    made.samples_us = {made.time_us};
    made.speedup = speedup;
    made.ci_low = speedup - half_interval;
    made.ci_high = speedup + half_interval;
    made.noise_floor = noise_floor;
    return made;
}

Evaluation measured(std::vector<ShapeTiming> timings)
{
    Evaluation evaluation;
    evaluation.stage = Stage::benchmark;
    evaluation.timings = std::move(timings);
    return evaluation;
}

TEST(PromotionJudgement, StandsWhenEveryShapeIsFasterBeyondNoise)
{
    const auto judged = judgePromotion(measured({timing("a", 1.5, 0.02, 0.01), timing("b", 1.1, 0.02, 0.01)}));
    EXPECT_EQ(judged.standing, PromotionStanding::stands);
    EXPECT_THAT(judged.finding, HasSubstr("held-back shape b: 1.100× (1.080–1.120)"));
}

TEST(PromotionJudgement, NamesTheShapeWhereItIsNotFaster)
{
    const auto judged = judgePromotion(measured({timing("a", 1.5, 0.02, 0.01), timing("b", 0.9, 0.02, 0.01)}));
    EXPECT_EQ(judged.standing, PromotionStanding::refused);
    EXPECT_THAT(judged.finding, HasSubstr("held-back shape b"));
    EXPECT_THAT(judged.finding, HasSubstr("zero_cta"));
    EXPECT_THAT(judged.finding, HasSubstr("0.900× (0.880–0.920)"));
}

TEST(PromotionJudgement, IsNotFooledByNoise)
{
    EXPECT_EQ(judgePromotion(measured({timing("a", 1.02, 0.03, 0.001)})).standing, PromotionStanding::refused);
    EXPECT_EQ(judgePromotion(measured({timing("a", 1.02, 0.005, 0.03)})).standing, PromotionStanding::refused);
    EXPECT_EQ(judgePromotion(measured({timing("a", 1.05, 0.005, 0.03)})).standing, PromotionStanding::stands);
}

TEST(PromotionJudgement, TellsModelledTimesFromMeasuredOnes)
{
    Evaluation evaluation = measured({timing("a", 1.5, 0, std::nullopt)});
    evaluation.modelled = true;
    EXPECT_THAT(judgePromotion(evaluation).finding, HasSubstr("(modelled)"));
    evaluation.timings = {timing("a", 1, 0, std::nullopt)};
    EXPECT_EQ(judgePromotion(evaluation).standing, PromotionStanding::refused);
}

TEST(PromotionJudgement, NeedsAVerifiedCandidateThatWasTimed)
{
    Evaluation evaluation = measured({});
    EXPECT_EQ(judgePromotion(evaluation).standing, PromotionStanding::refused);
    evaluation.verdict = Verdict::deadlock;
    evaluation.message = "Rank 1 waits.";
    EXPECT_THAT(judgePromotion(evaluation).finding, HasSubstr("deadlock: Rank 1 waits."));
}

class PromotionTest : public ::testing::Test {
protected:
    void finishARun(FakeEvaluator::Options options = {})
    {
        auto run = fakeRun(path, workload, fakeConfig(1, 4), std::move(options));
        run->start();
        run->wait();
        ASSERT_EQ(run->state(), RunState::finished);
        best = bestOf(snapshot())->id;
    }
    RunSnapshot snapshot() const { return RunFile::open(path, RunFile::Access::read).value()->snapshot().value(); }
    Candidate candidate(const std::string& id) const
    {
        const auto all = snapshot().candidates;
        return *std::ranges::find(all, id, &Candidate::id);
    }
    std::vector<Remeasurement> remeasurements(const std::string& id) const
    {
        return RunFile::open(path, RunFile::Access::read).value()->remeasurements(id).value();
    }

    testing::TemporaryFolder folder;
    Workload workload = testing::fakeWorkload(folder / "workload", 4);
    std::filesystem::path path = folder / "run.cuco";
    std::string best;
};

TEST_F(PromotionTest, StandsOnceTheCandidateIsMeasuredOnHeldBackShapes)
{
    finishARun();
    std::mutex mutex;
    std::vector<EvaluationRequest> requests;
    FakeEvaluator::Options options;
    options.on_measure = [&](const EvaluationRequest& request, std::stop_token) {
        const std::scoped_lock guard(mutex);
        requests.push_back(request);
    };
    auto run = fakeRun(path, workload, fakeConfig(1, 4), options);
    ASSERT_TRUE(run->promote(best, "fast"));
    ASSERT_TRUE(run->waitForPromotions());
    run.reset();
    ASSERT_EQ(requests.size(), 1u);
    ASSERT_EQ(requests[0].shapes.size(), 2u);
    EXPECT_EQ(requests[0].shapes[0].name, "held_back");
    EXPECT_FALSE(requests[0].input_seed);
    EXPECT_GE(requests[0].until, Stage::benchmark);
    EXPECT_EQ(candidate(best).decision, DecisionKind::promoted);
    const auto decisions = snapshot().decisions;
    ASSERT_EQ(decisions.size(), 1u);
    EXPECT_EQ(decisions[0].standing, PromotionStanding::stands);
    EXPECT_THAT(decisions[0].finding, HasSubstr("held-back shape"));
    const auto again = remeasurements(best);
    ASSERT_EQ(again.size(), 1u);
    EXPECT_EQ(again[0].evaluation.timings.size(), 2u);
    EXPECT_FALSE(again[0].evaluation.timings[0].samples_us.empty());
}

TEST_F(PromotionTest, IsRefusedWhereTheCandidateIsNoFaster)
{
    finishARun();
    FakeEvaluator::Options options;
    options.factor = [](const std::string&, const std::string& shape) { return shape == "held_back_too" ? 0.5 : 1; };
    auto run = fakeRun(path, workload, fakeConfig(1, 4), options);
    ASSERT_TRUE(run->promote(best, "fast"));
    ASSERT_TRUE(run->waitForPromotions());
    EXPECT_FALSE(candidate(best).decision);
    EXPECT_EQ(snapshot().decisions[0].standing, PromotionStanding::refused);
    EXPECT_THAT(snapshot().decisions[0].finding, HasSubstr("held_back_too"));
    EXPECT_EQ(remeasurements(best).size(), 1u);
    ASSERT_TRUE(run->undo());
    EXPECT_TRUE(snapshot().decisions[0].undone);
    EXPECT_FALSE(run->undo());
}

TEST_F(PromotionTest, IsRefusedWhenTheCandidateIsWrongThere)
{
    finishARun();
    FakeEvaluator::Options options;
    options.is_wrong = [](const std::string&) { return true; };
    auto run = fakeRun(path, workload, fakeConfig(1, 4), options);
    ASSERT_TRUE(run->promote(best, ""));
    ASSERT_TRUE(run->waitForPromotions());
    EXPECT_FALSE(candidate(best).decision);
    EXPECT_THAT(snapshot().decisions[0].finding, HasSubstr("wrong_result"));
}

TEST_F(PromotionTest, ThatIsRefusedTakesAnEarlierOneAway)
{
    finishARun();
    fakeRun(path, workload, fakeConfig(1, 4))->promote(best, "first").value();
    auto run = fakeRun(path, workload, fakeConfig(1, 4));
    run->start();
    ASSERT_TRUE(run->waitForPromotions());
    ASSERT_EQ(candidate(best).decision, DecisionKind::promoted);
    run.reset();
    FakeEvaluator::Options options;
    options.factor = [](const std::string&, const std::string&) { return 0.5; };
    run = fakeRun(path, workload, fakeConfig(1, 4), options);
    ASSERT_TRUE(run->promote(best, "again"));
    ASSERT_TRUE(run->waitForPromotions());
    EXPECT_FALSE(candidate(best).decision);
    ASSERT_TRUE(run->undo());
    EXPECT_EQ(candidate(best).decision, DecisionKind::promoted);
}

TEST_F(PromotionTest, StaysPendingWithoutAnEvaluatorAndIsMeasuredAtTheNextStart)
{
    finishARun();
    {
        RunController run({RunFile::open(path, RunFile::Access::write).value(), nullptr, nullptr}, {});
        ASSERT_TRUE(run.promote(best, "fast"));
        EXPECT_TRUE(run.waitForPromotions());
    }
    EXPECT_FALSE(candidate(best).decision);
    EXPECT_EQ(snapshot().decisions[0].standing, PromotionStanding::pending);
    EXPECT_EQ(pendingPromotions(snapshot().decisions).size(), 1u);
    auto run = fakeRun(path, workload, fakeConfig(1, 4));
    run->start();
    run->wait();
    ASSERT_TRUE(run->waitForPromotions());
    EXPECT_EQ(run->state(), RunState::finished);
    EXPECT_EQ(candidate(best).decision, DecisionKind::promoted);
}

TEST_F(PromotionTest, IsMeasuredBesideARunningSearchOneCandidateAtATime)
{
    std::mutex mutex;
    std::condition_variable changed;
    int measured_candidates = 0;
    std::vector<std::string> order;
    FakeEvaluator::Options options;
    options.modelled = false;
    options.longest_delay = std::chrono::milliseconds(1);
    options.factor = [](const std::string&, const std::string&) { return 2.0; };
    options.on_measure = [&](const EvaluationRequest& request, std::stop_token) {
        const std::scoped_lock guard(mutex);
        ++measured_candidates;
        order.push_back(request.shapes.empty() ? "search" : request.shapes.front().name);
        changed.notify_all();
    };
    std::shared_ptr<FakeEvaluator> evaluator;
    auto run = fakeRun(path, workload, fakeConfig(1, 200), options, {}, &evaluator);
    run->start();
    {
        std::unique_lock lock(mutex);
        changed.wait(lock, [&] { return measured_candidates >= 5; });
    }
    ASSERT_TRUE(run->promote("c0", "while it runs"));
    ASSERT_TRUE(run->waitForPromotions());
    EXPECT_EQ(run->state(), RunState::running);
    EXPECT_EQ(candidate("c0").decision, DecisionKind::promoted);
    run->stop();
    run->wait();
    EXPECT_EQ(evaluator->most_measuring, 1);
    const std::scoped_lock guard(mutex);
    EXPECT_EQ(std::ranges::count(order, "held_back"), 1);
}

TEST_F(PromotionTest, UndoneWhileItIsMeasuredIsDropped)
{
    finishARun();
    std::mutex mutex;
    std::condition_variable_any changed;
    bool begun = false;
    FakeEvaluator::Options options;
    options.on_measure = [&](const EvaluationRequest&, std::stop_token stop) {
        std::unique_lock lock(mutex);
        begun = true;
        changed.notify_all();
        changed.wait(lock, stop, [] { return false; });
    };
    auto run = fakeRun(path, workload, fakeConfig(1, 4), options);
    ASSERT_TRUE(run->promote(best, ""));
    {
        std::unique_lock lock(mutex);
        changed.wait(lock, [&] { return begun; });
    }
    ASSERT_TRUE(run->undo());
    EXPECT_TRUE(run->waitForPromotions());
    EXPECT_TRUE(remeasurements(best).empty());
    EXPECT_FALSE(candidate(best).decision);
}

TEST_F(PromotionTest, StoppedWhileItIsMeasuredStaysPending)
{
    finishARun();
    std::mutex mutex;
    std::condition_variable_any changed;
    bool begun = false;
    FakeEvaluator::Options options;
    options.on_measure = [&](const EvaluationRequest&, std::stop_token stop) {
        std::unique_lock lock(mutex);
        begun = true;
        changed.notify_all();
        changed.wait(lock, stop, [] { return false; });
    };
    auto run = fakeRun(path, workload, fakeConfig(1, 4), options);
    ASSERT_TRUE(run->promote(best, ""));
    {
        std::unique_lock lock(mutex);
        changed.wait(lock, [&] { return begun; });
    }
    run->stop();
    EXPECT_TRUE(run->waitForPromotions());
    EXPECT_EQ(pendingPromotions(snapshot().decisions).size(), 1u);
}

TEST_F(PromotionTest, StaysPendingWhenTheNodeFailsAndIsMeasuredWhenItIsBack)
{
    finishARun();
    FakeEvaluator::Options options;
    options.breaks_node = [](const std::string&) { return true; };
    auto run = fakeRun(path, workload, fakeConfig(1, 4), options);
    ASSERT_TRUE(run->promote(best, ""));
    const auto measured = run->waitForPromotions();
    ASSERT_FALSE(measured);
    EXPECT_THAT(measured.error().what, HasSubstr("The node is gone"));
    EXPECT_EQ(snapshot().decisions[0].standing, PromotionStanding::pending);
    run = nullptr;
    run = fakeRun(path, workload, fakeConfig(1, 4));
    run->start();
    ASSERT_TRUE(run->waitForPromotions());
    EXPECT_EQ(candidate(best).decision, DecisionKind::promoted);
}

TEST_F(PromotionTest, NeedsHeldBackShapes)
{
    finishARun();
    Workload without = workload;
    without.emulated_validation_shapes.clear();
    auto run = fakeRun(path, without, fakeConfig(1, 4));
    ASSERT_TRUE(run->promote(best, ""));
    const auto measured = run->waitForPromotions();
    ASSERT_FALSE(measured);
    EXPECT_THAT(measured.error().remedy, HasSubstr("emulated_validation"));
}

TEST_F(PromotionTest, StoresTheNodeOfEverySession)
{
    finishARun();
    const auto environments = RunFile::open(path, RunFile::Access::read).value()->environments().value();
    ASSERT_EQ(environments.size(), 1u);
    EXPECT_THAT(environments[0].probe, HasSubstr("\"node\":\"fake\""));
}

}  // namespace
}  // namespace cuco
