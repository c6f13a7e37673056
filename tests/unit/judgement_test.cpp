// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/evaluation/judgement.h"
#include "core/evaluation/evaluation_plan.h"
#include "tests/support/evaluation_samples.h"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include <cmath>
#include <csignal>
#include <string>
#include <vector>

namespace cuco {
namespace {

using ::testing::ElementsAre;
using testing::emulated;
using ::testing::HasSubstr;
using testing::product;
using testing::start_line;

class GpuJudgement : public ::testing::Test {
protected:
    void SetUp() override
    {
        NodeProbe probe = emulated();
        probe.modelled = false;
        EvaluationRequest request;
        request.ranks = 2;
        job = candidateJob(*planEvaluation(product(), probe, {}, request), product());
        outcome.exit_code = 0;
        std::string text = start_line;
        for (const auto& shape : job.shapes) {
            for (int iteration = 0; iteration < shape.iterations + shape.consecutive; ++iteration)
                for (int rank = 0; rank < 2; ++rank)
                    text +=
                        nlohmann::json{
                            {"event", "checked"}, {"shape", shape.shape.name}, {"iteration", iteration}, {"rank", rank}}
                            .dump() +
                        "\n";
            if (shape.rounds > 0)
                text +=
                    nlohmann::json{{"event", "time"},
                                   {"shape", shape.shape.name},
                                   {"program", "candidate"},
                                   {"samples_us", std::vector<double>(turns_a_round * std::size_t(shape.rounds), 10)}}
                        .dump() +
                    "\n";
        }
        report = parseHarnessReport(text + "{\"event\":\"done\"}\n");
    }

    HarnessJob job;
    CommandOutcome outcome;
    HarnessReport report;
    Evaluation evaluation;
};

TEST_F(GpuJudgement, ACompleteRunStaysVerified)
{
    ASSERT_TRUE(judgeGpuRun(job, outcome, report, evaluation).has_value());
    EXPECT_TRUE(evaluation.verified());
}

TEST_F(GpuJudgement, ACandidateThatIsSlowInEveryStepIsATimeoutAndNoError)
{
    outcome.timed_out = true;
    report.done = false;
    ASSERT_TRUE(judgeGpuRun(job, outcome, report, evaluation).has_value());
    EXPECT_EQ(evaluation.verdict, Verdict::timeout);
}

TEST_F(GpuJudgement, RanksThatDidNotStartInTimeAreAnErrorAndNoTimeout)
{
    outcome.timed_out = true;
    const auto judged = judgeGpuRun(job, outcome, parseHarnessReport(""), evaluation);
    ASSERT_FALSE(judged.has_value());
    EXPECT_EQ(judged.error().what, "The ranks did not start in time.");
    EXPECT_EQ(judged.error().remedy, "Run cucoctl node probe.");
}

TEST_F(GpuJudgement, AHostThatWasLostIsAnError)
{
    report = parseHarnessReport(std::string(start_line) +
                                R"({"event":"failure","kind":"environment","message":"A host of this job is gone."})"
                                "\n"
                                R"({"event":"done"})"
                                "\n");
    EXPECT_FALSE(judgeGpuRun(job, outcome, report, evaluation).has_value());
}

TEST_F(GpuJudgement, AnIterationThatWasNotCheckedIsAnError)
{
    report.checked.pop_back();
    EXPECT_FALSE(judgeGpuRun(job, outcome, report, evaluation).has_value());
}

TEST_F(GpuJudgement, ATimeThatIsMissingIsAnError)
{
    report.samples_us.begin()->second.pop_back();
    EXPECT_FALSE(judgeGpuRun(job, outcome, report, evaluation).has_value());
}

TEST_F(GpuJudgement, WorkThatGoesOnAfterTheEndIsATimingMismatch)
{
    report.failures = {{"timing_mismatch", "large", "It goes on.", "", 1, 0}};
    ASSERT_TRUE(judgeGpuRun(job, outcome, report, evaluation).has_value());
    EXPECT_EQ(evaluation.verdict, Verdict::timing_mismatch);
    EXPECT_THAT(evaluation.message, HasSubstr("rank 1, shape large"));
}

TEST_F(GpuJudgement, ABrokenNodeIsAnErrorAndAGpuLostByTheCandidateARemark)
{
    report.gpu_fault = "GPU 1 is lost.";
    report.failures = {{"crash", "large", "Rank 1 left the device with an error.", "", 1, 0}};
    ASSERT_TRUE(judgeGpuRun(job, outcome, report, evaluation).has_value());
    EXPECT_EQ(evaluation.verdict, Verdict::crash);
    EXPECT_THAT(evaluation.remarks, ElementsAre(HasSubstr("GPU 1 is lost.")));
    report.failures = {{"environment", "", "No memory.", "", -1, 0}};
    EXPECT_FALSE(judgeGpuRun(job, outcome, report, evaluation).has_value());
}

class Judgement : public ::testing::Test {
protected:
    void SetUp() override
    {
        const auto plan = planEvaluation(product(), emulated(), {}, {});
        job = modelledJob(*plan, product());
        outcome.exit_code = 0;
        report = parseHarnessReport(std::string(start_line) +
                                    "{\"event\":\"time\",\"shape\":\"small\",\"samples_us\":[10]}\n"
                                    "{\"event\":\"time\",\"shape\":\"other\",\"samples_us\":[10]}\n"
                                    "{\"event\":\"done\"}\n");
    }
    Evaluation judged()
    {
        Evaluation evaluation;
        const auto result = judgeRun(job, outcome, report, evaluation);
        EXPECT_TRUE(result.has_value()) << describe(result.error());
        return evaluation;
    }

    HarnessJob job;
    CommandOutcome outcome;
    HarnessReport report;
};

TEST_F(Judgement, ACompleteRunStaysVerified)
{
    EXPECT_EQ(judged().verdict, Verdict::verified);
}

TEST_F(Judgement, AFailureKeepsItsLine)
{
    report.failures = {{"out_of_bounds", "small", "A store went past c.", "who", 2, 41}};
    const auto evaluation = judged();
    EXPECT_EQ(evaluation.verdict, Verdict::out_of_bounds);
    EXPECT_EQ(evaluation.at.line, 41u);
    EXPECT_EQ(evaluation.message, "A store went past c. (rank 2, shape small, line 41)");
    EXPECT_EQ(evaluation.detail, "who");
}

TEST_F(Judgement, AKindThatTheHarnessHasNotIsNoVerdict)
{
    report.started = false;
    report.failures = {{"verified", "small", "Ha.", "", 0, 0}};
    Evaluation evaluation;
    EXPECT_FALSE(judgeRun(job, outcome, report, evaluation).has_value());
}

TEST_F(Judgement, TheWallLimitIsATimeout)
{
    outcome.timed_out = true;
    outcome.signal = SIGKILL;
    report.done = false;
    EXPECT_EQ(judged().verdict, Verdict::timeout);
}

TEST_F(Judgement, ALimitThatStruckIsNamed)
{
    outcome.exceeded = CommandLimit::memory;
    outcome.signal = SIGKILL;
    report.done = false;
    EXPECT_EQ(judged().verdict, Verdict::crash);
    EXPECT_THAT(judged().message, HasSubstr("memory"));
}

TEST_F(Judgement, ASignalAndAnEarlyExitAreCrashes)
{
    report.done = false;
    outcome.signal = SIGSEGV;
    EXPECT_EQ(judged().verdict, Verdict::crash);
    outcome.signal = 0;
    outcome.exit_code = 0;
    EXPECT_EQ(judged().verdict, Verdict::crash);
}

TEST_F(Judgement, AHarnessThatNeverStartedIsAnError)
{
    report = {};
    outcome.exit_code = 127;
    outcome.err = "libnccl.so.2: cannot open shared object file";
    Evaluation evaluation;
    const auto result = judgeRun(job, outcome, report, evaluation);
    ASSERT_FALSE(result.has_value());
    EXPECT_THAT(result.error().where, HasSubstr("libnccl.so.2"));
}

TEST_F(Judgement, ForgedReportsAreTampering)
{
    const HarnessReport good = report;
    report.violation = "Line 4 comes twice.";
    EXPECT_EQ(judged().verdict, Verdict::tampering);
    report = good;
    report.samples_us.erase("other");
    EXPECT_EQ(judged().verdict, Verdict::tampering);
    report = good;
    report.samples_us["odd"] = {1};
    EXPECT_EQ(judged().verdict, Verdict::tampering);
    report = good;
    report.checked = {{"odd", 0, 0}};
    EXPECT_EQ(judged().verdict, Verdict::tampering);
}

TEST_F(Judgement, TheCheckNeedsEveryRankIterationAndShape)
{
    HarnessReport check;
    check.started = check.done = true;
    for (const auto& shape : job.shapes)
        for (int iteration = 0; iteration < shape.iterations; ++iteration)
            for (int rank = 0; rank < job.ranks; ++rank)
                check.checked.push_back({shape.shape.name, iteration, rank});
    Evaluation evaluation;
    EXPECT_TRUE(judgeCheck(job, outcome, check, evaluation).has_value());
    EXPECT_TRUE(evaluation.verified());
    check.checked.erase(check.checked.begin() + 5);
    EXPECT_FALSE(judgeCheck(job, outcome, check, evaluation).has_value());
}

TEST_F(Judgement, AMismatchSaysWhatAndWhereAndIsKeptOncePerRank)
{
    HarnessReport check;
    check.done = true;
    Mismatch mismatch;
    mismatch.rank = 2;
    mismatch.buffer = "c";
    mismatch.shape = "odd";
    mismatch.element = 17;
    mismatch.expected = 1.5;
    mismatch.got = std::nan("");
    mismatch.wrong_elements = 3;
    mismatch.elements = 21;
    check.mismatches = {mismatch, mismatch};
    Evaluation evaluation;
    ASSERT_TRUE(judgeCheck(job, outcome, check, evaluation).has_value());
    EXPECT_EQ(evaluation.verdict, Verdict::wrong_result);
    EXPECT_EQ(evaluation.mismatches.size(), 1u);
    EXPECT_EQ(evaluation.message,
              "Rank 2's c[17] is nan where 1.5 is right; 3 of 21 elements are wrong (shape odd, "
              "iteration 0).");
}

}  // namespace
}  // namespace cuco
