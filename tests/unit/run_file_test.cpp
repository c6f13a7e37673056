// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/run/run_file.h"
#include "tests/support/run_file_fixture.h"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include <string>
#include <utility>
#include <vector>

namespace cuco {
namespace {

using ::testing::HasSubstr;
using testing::RunFileTest;
using testing::someCandidate;
using testing::someConfig;
using testing::someEvaluation;
using testing::somePromotion;
using testing::someTimeline;

TEST_F(RunFileTest, ReadsBackAsItWasWritten)
{
    {
        auto file = create();
        ASSERT_TRUE(file->addBaseline({"host.cu", someEvaluation()}, "// host", someTimeline(), true));
        fill(*file, 2);
        AgentStep parent;
        parent.id = 1;
        parent.agent = "tunable proposer";
        AgentStep child = parent;
        child.id = 2;
        child.parent = 1;
        ASSERT_TRUE(file->addCandidate(someCandidate(2), "// text 2", {parent, child}));
        ASSERT_TRUE(file->addDecision({1, "c1", DecisionKind::promoted, "fast", 123, false, {}, {}}));
        ASSERT_TRUE(file->addRemeasurement({1, PromotionStanding::stands, "It is faster.", someEvaluation(), 124}));
        ASSERT_TRUE(file->addLog({456, "warning", "text"}));
        ASSERT_TRUE(file->setState(RunState::stopped, "because"));
    }
    auto file = open(RunFile::Access::read);
    const auto snapshot = file->snapshot();
    ASSERT_TRUE(snapshot) << describe(snapshot.error());
    EXPECT_EQ(toJson(snapshot->config), toJson(someConfig()));
    EXPECT_EQ(snapshot->state, RunState::stopped);
    EXPECT_EQ(snapshot->message, "because");
    EXPECT_TRUE(snapshot->modelled);
    ASSERT_EQ(snapshot->baselines.size(), 1u);
    EXPECT_EQ(toJson(snapshot->baselines[0].evaluation), toJson(someEvaluation()));
    ASSERT_EQ(snapshot->candidates.size(), 3u);
    Candidate expected = someCandidate(1);
    expected.state = CandidateState::settled;
    expected.evaluation = someEvaluation();
    expected.decision = DecisionKind::promoted;
    expected.decision_reason = "fast";
    EXPECT_EQ(toJson(snapshot->candidates[1]), toJson(expected));
    EXPECT_EQ(toJson(*snapshot->candidates[1].evaluation), toJson(someEvaluation()));
    EXPECT_EQ(snapshot->candidates[2].state, CandidateState::proposed);
    EXPECT_EQ(toJson(snapshot->candidates[2]), toJson(someCandidate(2)));
    ASSERT_EQ(snapshot->decisions.size(), 1u);
    EXPECT_EQ(snapshot->decisions[0].time_ms, 123);
    ASSERT_EQ(snapshot->log.size(), 1u);
    EXPECT_EQ(snapshot->log[0].text, "text");

    EXPECT_EQ(file->source("c1").value(), "// text 1");
    EXPECT_EQ(file->baselineSource("host.cu").value(), "// host");
    EXPECT_EQ(toJson(file->timeline("c1").value().value()), toJson(someTimeline()));
    EXPECT_EQ(toJson(file->baselineTimeline("host.cu").value().value()), toJson(someTimeline()));
    EXPECT_FALSE(file->timeline("c2").value());
    EXPECT_FALSE(file->evaluation("c2").value());
    const auto steps = file->steps().value();
    ASSERT_EQ(steps.size(), 2u);
    EXPECT_EQ(steps[1].parent, steps[0].id);
}

TEST_F(RunFileTest, NumbersStepsThroughoutTheRun)
{
    auto file = create();
    std::vector<AgentStep> two(2);
    two[0].id = 1;
    two[1].id = 2;
    two[1].parent = 1;
    ASSERT_TRUE(file->addCandidate(someCandidate(0), "// text 0", two));
    const auto stored = file->addCandidate(someCandidate(1), "// text 1", two);
    ASSERT_TRUE(stored);
    EXPECT_EQ((*stored)[0].id, 3);
    EXPECT_EQ((*stored)[0].parent, 0);
    EXPECT_EQ((*stored)[1].parent, 3);
}

TEST_F(RunFileTest, KeepsTheTextThatWasProposedBesideTheOneWithTheMachinesNumbers)
{
    auto file = create();
    fill(*file, 1);
    Candidate candidate = someCandidate(1);
    ASSERT_TRUE(file->addCandidate(candidate, "// text 1", {}));
    const std::string tuned = "// text 1, tuned";
    candidate.proposed_sha256 = std::exchange(candidate.source_sha256, sha256Hex(tuned));
    candidate.tunables = {{"ctas", 16}};
    candidate.evaluation = someEvaluation();
    ASSERT_TRUE(file->settleCandidate(candidate, std::nullopt, &tuned));
    const auto candidates = file->snapshot()->candidates;
    EXPECT_EQ(candidates[0].proposed_sha256, "");
    EXPECT_EQ(candidates[1].proposed_sha256, sha256Hex("// text 1"));
    EXPECT_EQ(file->source("c1").value(), tuned);
    sql("INSERT INTO proposed_texts SELECT 7, sha256 FROM sources LIMIT 1");
    EXPECT_THAT(file->snapshot().error().what, HasSubstr("proposed_texts.candidate"));
}

TEST_F(RunFileTest, KeepsACompilersLogWholeButLeavesMostOfItOutOfSnapshots)
{
    auto file = create();
    ASSERT_TRUE(file->addCandidate(someCandidate(0), "// text 0", {}));
    Candidate candidate = someCandidate(0);
    candidate.evaluation.emplace();
    candidate.evaluation->verdict = Verdict::compile_error;
    candidate.evaluation->detail = std::string(100'000, 'e');
    ASSERT_TRUE(file->settleCandidate(candidate, std::nullopt));
    EXPECT_EQ(file->snapshot()->candidates[0].evaluation->detail.size(), 4'000u);
    EXPECT_EQ(file->evaluation("c0")->value().detail.size(), 100'000u);
}

TEST_F(RunFileTest, IsOneFileWhenClosed)
{
    {
        auto file = create();
        fill(*file, 3);
        EXPECT_GT(namesInFolder().size(), 1u);
    }
    EXPECT_EQ(namesInFolder(), std::vector<std::string>{"run.cuco"});
}

TEST_F(RunFileTest, KeepsWhatAPromotionMeasured)
{
    {
        auto file = create();
        fill(*file, 2);
        ASSERT_TRUE(file->addDecision(somePromotion(1, "c1")));
        EXPECT_EQ(file->snapshot()->decisions[0].standing, PromotionStanding::pending);
        EXPECT_FALSE(file->snapshot()->candidates[1].decision);
        ASSERT_TRUE(file->addRemeasurement({1, PromotionStanding::stands, "It is faster.", someEvaluation(), 77}));
    }
    auto file = open(RunFile::Access::read);
    const auto snapshot = file->snapshot().value();
    EXPECT_EQ(snapshot.decisions[0].standing, PromotionStanding::stands);
    EXPECT_EQ(snapshot.decisions[0].finding, "It is faster.");
    EXPECT_EQ(snapshot.candidates[1].decision, DecisionKind::promoted);
    const auto again = file->remeasurements("c1").value();
    ASSERT_EQ(again.size(), 1u);
    EXPECT_EQ(again[0].time_ms, 77);
    EXPECT_EQ(again[0].evaluation.timings.at(0).samples_us, someEvaluation().timings[0].samples_us);
    EXPECT_TRUE(file->remeasurements("c0")->empty());
}

TEST_F(RunFileTest, KeepsTheNodesItRanOn)
{
    auto file = create();
    fill(*file, 1);
    for (const char* probe : {R"({"node":"a"})", R"({"node":"a"})", R"({"node":"b"})", R"({"node":"a"})"})
        ASSERT_TRUE(file->addEnvironment(probe));
    const auto environments = file->environments().value();
    ASSERT_EQ(environments.size(), 3u);
    EXPECT_EQ(environments[1].probe, R"({"node":"b"})");
    EXPECT_GT(environments[0].time_ms, 0);
    EXPECT_TRUE(file->settledMs("c0").value().has_value());
    EXPECT_FALSE(file->settledMs("c9").value().has_value());
}

TEST_F(RunFileTest, ReportsARunThatNobodyRunsAnyMoreAsStopped)
{
    {
        auto file = create();
        ASSERT_TRUE(file->setState(RunState::running, ""));
        EXPECT_EQ(open(RunFile::Access::read)->snapshot()->state, RunState::running);
    }
    const auto snapshot = open(RunFile::Access::read)->snapshot();
    EXPECT_EQ(snapshot->state, RunState::stopped);
    EXPECT_THAT(snapshot->message, HasSubstr("resume"));
}

TEST_F(RunFileTest, UndoesTheLastDecisionThatIsInForce)
{
    auto file = create();
    fill(*file, 2);
    ASSERT_TRUE(file->addDecision({1, "c0", DecisionKind::promoted, "a", 1, false, {}, {}}));
    ASSERT_TRUE(file->addRemeasurement({1, PromotionStanding::stands, "It is faster.", someEvaluation(), 1}));
    ASSERT_TRUE(file->addDecision({2, "c0", DecisionKind::rejected, "b", 2, false, {}, {}}));
    ASSERT_TRUE(file->undoLastDecision());
    EXPECT_EQ(file->snapshot()->candidates[0].decision, DecisionKind::promoted);
    ASSERT_TRUE(file->undoLastDecision());
    EXPECT_FALSE(file->snapshot()->candidates[0].decision);
    const auto none = file->undoLastDecision();
    ASSERT_FALSE(none);
    EXPECT_EQ(none.error().what, "There is no decision to undo");
}

TEST_F(RunFileTest, StoresNothingOfAStepThatFails)
{
    auto file = create();
    fill(*file, 1);
    // The number is taken: the source that goes in first must not stay behind.
    EXPECT_FALSE(file->addCandidate(someCandidate(0), "// another", {}));
    EXPECT_EQ(file->snapshot()->candidates.size(), 1u);
    EXPECT_TRUE(file->addCandidate(someCandidate(1), "// text 1", {}));
}

TEST_F(RunFileTest, SaysThatACandidateIsNotThere)
{
    auto file = create();
    const auto source = file->source("c9");
    ASSERT_FALSE(source);
    EXPECT_THAT(source.error().what, HasSubstr("c9"));
    EXPECT_FALSE(file->evaluation("c9"));
    EXPECT_FALSE(file->baselineSource("host.cu"));
}

}  // namespace
}  // namespace cuco
