// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/evaluation/evaluation.h"
#include "core/evaluation/evaluation_plan.h"
#include "core/evaluation/harness_job.h"
#include "core/evaluation/harness_report.h"
#include "core/evaluation/judgement.h"
#include "core/evaluation/shape_timing.h"
#include "core/evaluation/statistics.h"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <csignal>
#include <random>

namespace cuco {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

SizeExpression expression(const std::string& text)
{
    auto parsed = SizeExpression::parse(text);
    EXPECT_TRUE(parsed.has_value());
    return *parsed;
}

Workload product()
{
    Workload workload;
    workload.name = "product";
    workload.parameters = {"n", "m"};
    workload.ranks = {4, 2};
    workload.inputs = {{"a", ElementType::bf16, expression("n / ranks + (rank < n % ranks)")}};
    workload.outputs = {{"c", ElementType::f32, expression("n * m")}};
    workload.tolerance = {0.01, 0.05};
    workload.roofline = {expression("2 * n * n * m"), expression("n"), expression("n * m")};
    workload.emulated_search_shapes = {{"small", {{"n", 8}, {"m", 4}}, SizeValues{{"n", 80}, {"m", 40}}},
                                       {"other", {{"n", 16}, {"m", 4}}, {}}};
    workload.emulated_verify_shapes = {{"odd", {{"n", 7}, {"m", 3}}, {}}};
    workload.search_shapes = {{"large", {{"n", 800}, {"m", 400}}, {}}};
    workload.verify_shapes = {{"odd", {{"n", 701}, {"m", 3}}, {}}};
    workload.run_timeout = std::chrono::seconds(30);
    return workload;
}

NodeProbe emulated()
{
    NodeProbe probe;
    probe.node = "emulated";
    probe.max_ranks = 8;
    probe.modelled = true;
    return probe;
}

// ---- statistics

TEST(Statistics, MedianOfAnEvenNumberIsTheMiddleOfTwo)
{
    EXPECT_DOUBLE_EQ(median(std::vector{4.0, 1.0, 3.0, 2.0}), 2.5);
    EXPECT_DOUBLE_EQ(median(std::vector{9.0, 1.0, 3.0}), 3.0);
    EXPECT_DOUBLE_EQ(median({}), 0.0);
}

TEST(Statistics, GeometricMeanOfARatioAndItsInverseIsOne)
{
    EXPECT_NEAR(geometricMean(std::vector{4.0, 0.25}), 1.0, 1e-12);
    EXPECT_EQ(geometricMean(std::vector{4.0, 0.0}), 0.0);
    EXPECT_EQ(geometricMean({}), 0.0);
}

TEST(Statistics, IntervalOfARatioHoldsItAndNarrowsWithQuietSamples)
{
    std::vector<double> noisy, quiet, baseline;
    for (int i = 0; i < 30; ++i) {
        noisy.push_back(100 + 10 * std::sin(i * 7.0));
        quiet.push_back(100 + 0.1 * std::sin(i * 7.0));
        baseline.push_back(150 + 0.1 * std::cos(i * 5.0));
    }
    const Ratio wide = ratioOfRounds(baseline, noisy, 1, 1), narrow = ratioOfRounds(baseline, quiet, 1, 1);
    EXPECT_NEAR(narrow.value, 1.5, 0.01);
    EXPECT_LE(wide.low, wide.value);
    EXPECT_GE(wide.high, wide.value);
    EXPECT_LT(narrow.high - narrow.low, (wide.high - wide.low) / 5);
}

TEST(Statistics, SameSeedGivesSameInterval)
{
    const std::vector<double> a{3, 1, 4, 1, 5, 9, 2, 6}, b{2, 7, 1, 8, 2, 8, 1, 8};
    EXPECT_EQ(ratioOfRounds(a, b, 2, 7).low, ratioOfRounds(a, b, 2, 7).low);
    EXPECT_EQ(ratioOfRounds(a, b, 2, 7).high, ratioOfRounds(a, b, 2, 7).high);
}

TEST(Statistics, WhatMovesARoundAsAWholeDoesNotWidenItsInterval)
{
    std::vector<double> ours, theirs;
    for (int round = 0; round < 20; ++round)
        for (const double wobble : {0.0, 0.1}) {
            const double drift = round % 2 == 0 ? 1 : 1.3;
            ours.push_back(drift * (100 + wobble));
            theirs.push_back(drift * (200 + wobble));
        }
    auto shifted = theirs;  // each round's partner is of another round
    std::rotate(shifted.begin(), shifted.begin() + 2, shifted.end());
    const Ratio paired = ratioOfRounds(theirs, ours, 2, 1), apart = ratioOfRounds(shifted, ours, 2, 1);
    EXPECT_NEAR(paired.value, 2, 0.01);
    EXPECT_LT(paired.high - paired.low, 0.1 * (apart.high - apart.low));
    EXPECT_EQ(ratioOfRounds(std::vector<double>{2, 2}, std::vector<double>{1, 1}, 2, 1).low, 2);
}

TEST(Statistics, IntervalOfEqualProgramsHoldsOneAboutAsOftenAsItSays)
{
    // As two runs of one program on a GPU differ: by where their memory lies, anew each round, and by sample.
    std::mt19937_64 random(42);
    const auto normal = [&](double deviation) {
        const double u = (static_cast<double>(random() >> 11) + 0.5) / 9007199254740992.0;
        const double v = static_cast<double>(random() >> 11) / 9007199254740992.0;
        return deviation * std::sqrt(-2 * std::log(u)) * std::cos(6.283185307179586 * v);
    };
    const auto run = [&](int rounds) {
        std::vector<double> samples;
        for (int round = 0; round < rounds; ++round) {
            const double placement = normal(0.3);
            for (std::size_t turn = 0; turn < turns_a_round; ++turn)
                samples.push_back(100 + placement + normal(0.7));
        }
        return samples;
    };
    constexpr int trials = 400;
    for (const int rounds : {4, 6, 12}) {
        int held = 0;
        for (int i = 0; i < trials; ++i) {
            const Ratio ratio = ratioOfRounds(run(rounds), run(rounds), turns_a_round, 1);
            held += ratio.low <= 1 && ratio.high >= 1;
        }
        EXPECT_GE(held, trials * 93 / 100) << rounds;
        EXPECT_LE(held, trials * 99 / 100) << rounds;
    }
}

TEST(Statistics, ProcessesDifferInEachStretchByWhatRoundsDoNotShow)
{
    const Ratio sharp{1.5, 1.5, 1.5}, wide{1, 0.9, 1 / 0.9};
    const Ratio brief = withProcesses(sharp, 200), lasting = withProcesses(sharp, 20'000);
    EXPECT_NEAR(std::log(brief.high / brief.value), 1.96 * between_processes_us / 200, 1e-5);
    EXPECT_NEAR(std::log(brief.low / brief.value), -1.96 * between_processes_us / 200, 1e-5);
    EXPECT_NEAR(lasting.high, 1.5, 1e-3);
    EXPECT_NEAR(withProcesses(wide, 1000).low, 0.9, 1e-3) << "a small part of a wide interval";
}

TEST(Statistics, SingleSamplesGiveNoWidth)
{
    const Ratio ratio = ratioOfRounds(std::vector{6.0}, std::vector{4.0}, 1, 1);
    EXPECT_DOUBLE_EQ(ratio.value, 1.5);
    EXPECT_EQ(ratio.low, ratio.high);
}

// ---- job.txt

TEST(HarnessJob, WritesSizesOfEveryRankAndTheScaleOfTheRepresentedShape)
{
    const Workload workload = product();
    HarnessJob job;
    job.files = {"candidate.so", "/cache/reference.so", "/data/h200.model"};
    job.ranks = 4;
    job.limit = std::chrono::seconds(30);
    JobShape shape;
    shape.shape = workload.emulated_search_shapes[0];
    shape.shape.parameters["n"] = 10;
    shape.seed = 99;
    shape.dump = shape.time = true;
    shape.skew = 5;
    job.shapes = {shape};
    const auto text = writeHarnessJob(workload, job);
    ASSERT_TRUE(text.has_value()) << text.error().what;
    EXPECT_EQ(*text,
              "cuco-job 1\n"
              "candidate candidate.so\n"
              "reference /cache/reference.so\n"
              "model /data/h200.model\n"
              "ranks 4\n"
              "limit 30\n"
              "tolerance 0.01 0.05\n"
              "shape small 10 4\n"
              "seed 99\n"
              "scale 640 80\n"
              "buffer in a bf16 3 3 2 2\n"
              "buffer out c f32 40 40 40 40\n"
              "iterations 1\n"
              "warmup 0\n"
              "dump 1\n"
              "time 1\n"
              "trace 0\n"
              "skew 5\n");
}

TEST(HarnessJob, NamesTheProgramsThatTakeTurns)
{
    HarnessJob job;
    job.ranks = 2;
    job.baselines = {{"host.cu", "/cache/host.so", true}, {"alone", "/cache/alone.so", false}};
    job.rates = true;
    JobShape shape;
    shape.shape = product().search_shapes.front();
    shape.consecutive = 3;
    shape.rounds = 10;
    shape.least_rounds = 6;
    shape.against = {"host.cu"};
    job.traced = {"profiled.so", {{"CUDA_INJECTION64_PATH", "/cache/profile.so"}}};
    job.shapes = {shape};
    const auto text = writeHarnessJob(product(), job);
    ASSERT_TRUE(text.has_value());
    for (const char* line : {"\nbaseline host.cu /cache/host.so\n", "\nunchecked alone /cache/alone.so\n",
                             "\nrates 1\n", "\nconsecutive 3\n", "\nrounds 10 6\n", "\nagainst host.cu\n",
                             "\ntraced profiled.so\ntraced_variable CUDA_INJECTION64_PATH /cache/profile.so\n"})
        EXPECT_THAT(*text, HasSubstr(line));
    job.baselines[0].name = "two words";
    EXPECT_FALSE(writeHarnessJob(product(), job).has_value());
}

TEST(HarnessJob, RefusesASizeThatIsNegative)
{
    Workload workload = product();
    workload.outputs[0].elements = expression("n - 100");
    HarnessJob job;
    job.shapes = {{workload.emulated_search_shapes[0]}};
    const auto text = writeHarnessJob(workload, job);
    ASSERT_FALSE(text.has_value());
    EXPECT_THAT(text.error().what, HasSubstr("c would have -92 elements"));
}

TEST(HarnessJob, RefusesANameThatWouldBreakItsLine)
{
    const Workload workload = product();
    HarnessJob job;
    job.shapes = {{workload.emulated_search_shapes[0]}};
    job.shapes[0].shape.name = "small\nranks 1";
    EXPECT_FALSE(writeHarnessJob(workload, job).has_value());
}

TEST(HarnessJob, LargestDumpIsTheLargestOutputInBytes)
{
    const Workload workload = product();
    HarnessJob job;
    job.ranks = 2;
    job.shapes = {{workload.emulated_search_shapes[0]}, {workload.emulated_search_shapes[1]}};
    EXPECT_EQ(largestDumpBytes(workload, job), 16u * 4 * 4);
}

// ---- plan

TEST(EvaluationPlan, TakesTheNodesOwnShapesAndTheFirstRankCountThatFits)
{
    NodeProbe probe = emulated();
    probe.max_ranks = 3;
    const auto plan = planEvaluation(product(), probe, {}, {});
    ASSERT_TRUE(plan.has_value());
    EXPECT_EQ(plan->ranks, 2);
    EXPECT_EQ(plan->timed_shapes.size(), 2u);
    probe.modelled = false;
    EXPECT_EQ(planEvaluation(product(), probe, {}, {})->timed_shapes[0].name, "large");
}

TEST(EvaluationPlan, RefusesRanksThatTheWorkloadOrTheNodeLacks)
{
    EvaluationRequest request;
    request.ranks = 3;
    const auto wrong_workload = planEvaluation(product(), emulated(), {}, request);
    ASSERT_FALSE(wrong_workload.has_value());
    EXPECT_THAT(wrong_workload.error().remedy, HasSubstr("4, 2"));
    NodeProbe small = emulated();
    small.max_ranks = 1;
    EXPECT_FALSE(planEvaluation(product(), small, {}, {}).has_value());
    request.ranks = 2;
    EXPECT_FALSE(planEvaluation(product(), small, {}, request).has_value());
}

TEST(EvaluationPlan, VerifiesOddShapesWithSkewAndTracesOnlyTheFirstTimedShape)
{
    const auto plan = planEvaluation(product(), emulated(), {}, {});
    const auto job = modelledJob(*plan, product());
    ASSERT_EQ(job.shapes.size(), 3u);
    EXPECT_EQ(job.shapes[0].shape.name, "odd");
    EXPECT_GT(job.shapes[0].iterations, 2) << "the buffers of an iteration must come again";
    EXPECT_NE(job.shapes[0].skew, 0u);
    EXPECT_FALSE(job.shapes[0].time);
    EXPECT_TRUE(job.shapes[1].trace && job.shapes[1].time && job.shapes[1].dump);
    EXPECT_FALSE(job.shapes[2].trace);
    EXPECT_NE(job.shapes[0].seed, job.shapes[1].seed);
}

TEST(EvaluationPlan, TracesTheFirstTimedShapeOnAGpuWhereAProfileIsWanted)
{
    NodeProbe probe = emulated();
    probe.modelled = false;
    EvaluationRequest timed;
    timed.until = Stage::benchmark;
    for (const auto& shape : candidateJob(*planEvaluation(product(), probe, {}, timed), product()).shapes)
        EXPECT_FALSE(shape.trace);
    const auto plan = planEvaluation(product(), probe, {}, {});
    for (const auto& shape : baselineJob(*plan, product()).shapes)
        EXPECT_FALSE(shape.trace);
    for (const auto& shape : candidateJob(*plan, product()).shapes)
        EXPECT_EQ(shape.trace, shape.shape.name == plan->timed_shapes.front().name);
}

TEST(EvaluationPlan, EndsTheRoundsEarlyUnlessAllOfThemAreWanted)
{
    NodeProbe probe = emulated();
    probe.modelled = false;
    const auto shapeOf = [&](bool all_rounds) {
        EvaluationRequest request;
        request.all_rounds = all_rounds;
        return candidateJob(*planEvaluation(product(), probe, {}, request), product()).shapes.back();
    };
    EXPECT_LT(shapeOf(false).least_rounds, shapeOf(false).rounds);
    EXPECT_EQ(shapeOf(true).least_rounds, shapeOf(true).rounds);
    EXPECT_EQ(shapeOf(true).rounds, shapeOf(false).rounds);
}

TEST(EvaluationPlan, VerifiesOddShapesAndTimesTheOthersOnAGpu)
{
    NodeProbe probe = emulated();
    probe.modelled = false;
    const auto plan = planEvaluation(product(), probe, {}, {});
    const auto job = candidateJob(*plan, product());
    EXPECT_GT(job.shapes.front().consecutive, 1);
    EXPECT_EQ(job.shapes.front().rounds, 0) << "odd shapes are only verified";
    EXPECT_GT(job.shapes.back().rounds, 0);
    EXPECT_FALSE(job.shapes.back().dump) << "outputs are compared on the GPU";
}

TEST(EvaluationPlan, DrawsAnotherSeedForEachEvaluationUnlessOneIsGiven)
{
    EXPECT_NE(planEvaluation(product(), emulated(), {}, {})->seed, planEvaluation(product(), emulated(), {}, {})->seed);
    EvaluationRequest request;
    request.input_seed = 7;
    EXPECT_EQ(planEvaluation(product(), emulated(), {}, request)->seed, 7u);
}

// ---- report

constexpr const char* start_line = R"({"event":"start","ranks":4,"emulated":true,"device":"d","nccl":"2.28.9"})"
                                   "\n";

TEST(HarnessReport, ReadsTimesAndTheEnd)
{
    const auto report =
        parseHarnessReport(std::string(start_line) + R"({"event":"time","shape":"256","samples_us":[10.5,11]})"
                                                     "\n"
                                                     R"({"event":"done"})");
    EXPECT_TRUE(report.started && report.done);
    EXPECT_THAT(report.samples_us.at("256"), ElementsAre(10.5, 11));
    EXPECT_EQ(report.violation, "");
}

TEST(HarnessReport, TakesNoNegativeZeroOrInfiniteTime)
{
    for (const char* sample : {"-1", "0", "\"nan\"", "\"inf\"", "1e999", "\"5\"", "[1]"}) {
        const auto report =
            parseHarnessReport(R"({"event":"time","shape":"256","samples_us":[)" + std::string(sample) + "]}");
        EXPECT_NE(report.violation, "") << sample;
        EXPECT_TRUE(report.samples_us.empty()) << sample;
    }
}

TEST(HarnessReport, ASecondTimeForAShapeIsAViolation)
{
    const std::string line = R"({"event":"time","shape":"256","samples_us":[10]})"
                             "\n";
    const auto report = parseHarnessReport(line + line);
    EXPECT_THAT(report.violation, HasSubstr("twice"));
}

TEST(HarnessReport, AnythingAfterTheEndIsAViolation)
{
    const auto report = parseHarnessReport(std::string(start_line) + "{\"event\":\"done\"}\n" + start_line);
    EXPECT_NE(report.violation, "");
}

TEST(HarnessReport, BrokenLinesAreViolationsAndUnknownEventsAreRemarks)
{
    EXPECT_NE(parseHarnessReport("{\"event\":\"st").violation, "");
    EXPECT_NE(parseHarnessReport("[1]").violation, "");
    EXPECT_NE(parseHarnessReport("{\"event\":3}").violation, "");
    EXPECT_NE(parseHarnessReport(std::string(100'000, '[')).violation, "");
    const auto report = parseHarnessReport("{\"event\":\"weather\"}\n");
    EXPECT_EQ(report.violation, "");
    EXPECT_EQ(report.remarks.size(), 1u);
}

TEST(HarnessReport, ReadsAMismatchWhoseValueIsNoNumber)
{
    const auto report = parseHarnessReport(
        R"({"event":"mismatch","shape":"256","iteration":1,"rank":2,"buffer":"c","element":17,"expected":1.5,)"
        R"("got":"nan","wrong_elements":12,"elements":64,"relative_l2":"inf"})");
    ASSERT_EQ(report.mismatches.size(), 1u) << report.violation;
    EXPECT_TRUE(std::isnan(report.mismatches[0].got));
    EXPECT_EQ(report.mismatches[0].element, 17);
}

TEST(HarnessReport, KeepsProgramsConditionsAndNeighboursApart)
{
    const auto report =
        parseHarnessReport(std::string(start_line) + R"({"event":"rates","link_bytes_per_s":3e11,"hbm_bytes_per_s":4e12}
{"event":"baseline_failed","program":"zero_cta","message":"No.","detail":"Why."}
{"event":"time","shape":"s","program":"candidate","samples_us":[10,11],"event_us":[9,10],"burst":4}
{"event":"time","shape":"s","program":"host.cu","samples_us":[20,21],"event_us":[19,20],"burst":4}
{"event":"conditions","shape":"s","gpus":[{"event":"gpu","pci":"0000:06","sm_mhz":[1980],"memory_mhz":[3201],"temperature_c":[50],"power_w":[300.5],"throttling":["hw_thermal"]}]}
{"event":"processes","gpus":[[{"pid":7,"memory_bytes":1},{"pid":9,"memory_bytes":2147483648}]],"observers":[7]}
{"event":"gpu_fault","rank":0,"message":"Lost."}
{"event":"done"}
)");
    EXPECT_EQ(report.violation, "");
    EXPECT_THAT(report.samples_us.at("s"), ElementsAre(10, 11));
    EXPECT_THAT(report.baseline_samples_us.at("host.cu").at("s"), ElementsAre(20, 21));
    EXPECT_EQ(report.bursts.at("s"), 4);
    EXPECT_EQ(report.baseline_problems.at("zero_cta"), "No. Why.");
    EXPECT_EQ(report.rates->link_bytes_per_s, 3e11);
    EXPECT_THAT(report.conditions.at("s").front().throttling, ElementsAre("hw_thermal"));
    EXPECT_THAT(report.neighbours, ElementsAre("process 9 (2048 MiB) on GPU 0"));
    EXPECT_EQ(report.gpu_fault, "Lost.");
}

// ---- judgement

class GpuJudgement : public testing::Test {
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

class Judgement : public testing::Test {
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

// ---- times

BaselineShape hostAt(std::vector<double> samples_us, double bound_us)
{
    BaselineShape shape;
    shape.samples_us["host.cu"] = std::move(samples_us);
    shape.strongest = "host.cu";
    shape.bound_us = bound_us;
    return shape;
}

TEST(Bounds, AreOfTheComputingsMedianButTheVerdictIsOfItsShortestTime)
{
    Workload workload = product();
    const Shape shape = workload.search_shapes.front();
    const MeasuredRates fast{1e15, 1e15};
    BaselineShape measured;
    measured.compute_alone_us = 100;
    measured.compute_alone_least_us = 95;
    ASSERT_TRUE(setMeasuredBounds(workload, shape, 2, fast, measured));
    EXPECT_NEAR(measured.bound_us, 100, 1e-6);
    EXPECT_NEAR(measured.least_us, 95, 1e-6);

    // A kernel of the workload's own bounds nothing; the links still do.
    workload.compute_alone_bounds = false;
    ASSERT_TRUE(setMeasuredBounds(workload, shape, 2, MeasuredRates{1e12, 1e15}, measured));
    EXPECT_LT(measured.least_us, 1);
    EXPECT_NEAR(measured.bound_us, 100, 1e-6);
}

TEST(Bounds, BetweenHostsCountTheLinkAndRejectNobodyByIt)
{
    Workload workload = product();
    const Shape shape = workload.search_shapes.front();
    BaselineShape on_one_host, on_hosts;
    ASSERT_TRUE(setMeasuredBounds(workload, shape, 2, MeasuredRates{1e6, 1e15}, on_one_host));
    ASSERT_TRUE(setMeasuredBounds(workload, shape, 2, MeasuredRates{1e6, 1e15, false}, on_hosts));
    EXPECT_GT(on_one_host.bound_us, 1);
    EXPECT_EQ(on_hosts.bound_us, on_one_host.bound_us);
    EXPECT_EQ(on_one_host.least_us, on_one_host.bound_us);
    EXPECT_LT(on_hosts.least_us, on_hosts.bound_us / 10);
    EXPECT_NE(on_hosts.bound_source, on_one_host.bound_source);

    const auto report = parseHarnessReport(
        "{\"event\":\"start\",\"hosts\":[\"gpu-a\",\"gpu-b\"]}\n"
        "{\"event\":\"rates\",\"link_bytes_per_s\":1e9,\"hbm_bytes_per_s\":1e12}\n"
        "{\"event\":\"time\",\"shape\":\"s\",\"samples_us\":[5],\"start_uncertainty_us\":11.5}\n"
        "{\"event\":\"processes\",\"gpus\":[[{\"pid\":7,\"memory_bytes\":1}],[{\"pid\":7,\"memory_bytes\":1048576}]],"
        "\"observers\":[7,8]}\n{\"event\":\"done\"}\n");
    EXPECT_EQ(report.violation, "");
    EXPECT_EQ(report.hosts, (std::vector<std::string>{"gpu-a", "gpu-b"}));
    EXPECT_FALSE(report.rates->link_is_limit);
    EXPECT_DOUBLE_EQ(report.start_uncertainty_us, 11.5);
    EXPECT_EQ(report.neighbours, (std::vector<std::string>{"process 7 (1 MiB) on GPU 1"}))
        << "each host's observer is its own";
}

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

// ---- evaluation

TEST(Evaluation, MeansAreGeometricOverTheShapes)
{
    Evaluation evaluation;
    EXPECT_EQ(evaluation.speedup(), std::nullopt);
    evaluation.timings = {timeShape("a", 4, {10}, hostAt({40}, 5), true),
                          timeShape("b", 4, {10}, hostAt({10}, 5), true)};
    EXPECT_DOUBLE_EQ(*evaluation.speedup(), 2);
    EXPECT_DOUBLE_EQ(*evaluation.timeUs(), 10);
}

TEST(Evaluation, ComesBackFromJsonAsItWas)
{
    Evaluation evaluation;
    evaluation.verdict = Verdict::wrong_result;
    evaluation.stage = Stage::verify;
    evaluation.message = "m";
    evaluation.detail = "d";
    evaluation.at = {7, "here"};
    Mismatch mismatch;
    mismatch.buffer = "c";
    mismatch.got = std::nan("");
    mismatch.relative_l2 = std::numeric_limits<double>::infinity();
    evaluation.mismatches = {mismatch};
    auto baselines = hostAt({40, 41}, 5);
    baselines.problems["zero_cta"] = "No.";
    baselines.compute_alone_us = 7;
    baselines.noise_floor = 0.01;
    evaluation.timings = {timeShape("a", 4, {10, 11}, baselines, false)};
    evaluation.timings[0].conditions = {{"0000:06", {1980}, {3201}, {50}, {300.5}, {"hw_thermal"}}};
    evaluation.timings[0].event_us = {9, 10};
    evaluation.remarks = {"The profile is missing."};
    evaluation.input_seed = 0x7fffffffffffffff;
    OverlapReport overlap;
    overlap.ranks.resize(2);
    overlap.ranks[1].rank = 1;
    overlap.ranks[1].exposed_us = 3;
    overlap.makespan_us = 9;
    overlap.hidden_share = 0.25;
    evaluation.overlap = overlap;
    evaluation.modelled = true;
    evaluation.compile_ms = 12;

    const auto json = nlohmann::json::parse(toJson(evaluation).dump());
    const auto back = evaluationFromJson(json);
    ASSERT_TRUE(back.has_value()) << describe(back.error());
    EXPECT_EQ(toJson(*back), toJson(evaluation));
    EXPECT_TRUE(std::isnan(back->mismatches[0].got));
    EXPECT_EQ(back->overlap->ranks[1].exposed_us, 3);
    EXPECT_EQ(back->overlap->ranks[0].hidden_share, std::nullopt);
    EXPECT_EQ(back->timings[0].ci_high, evaluation.timings[0].ci_high);
}

TEST(Evaluation, RefusesJsonOfAnotherKind)
{
    EXPECT_FALSE(evaluationFromJson(nlohmann::json::array()).has_value());
    auto json = toJson(Evaluation{});
    json["verdict"] = "excellent";
    EXPECT_FALSE(evaluationFromJson(json).has_value());
    json = toJson(Evaluation{});
    json["timings"] = {3};
    EXPECT_FALSE(evaluationFromJson(json).has_value());
    json = toJson(Evaluation{});
    json["at"] = {{"line", -1}, {"message", ""}};
    EXPECT_FALSE(evaluationFromJson(json).has_value());
}

TEST(Evaluation, EveryVerdictAndStageHasANameThatLeadsBack)
{
    for (int i = 0; i <= static_cast<int>(Verdict::tampering); ++i) {
        const auto verdict = static_cast<Verdict>(i);
        EXPECT_THAT(std::string(toString(verdict)), Not("unknown"));
        EXPECT_EQ(verdictFromString(toString(verdict)), verdict);
    }
    for (int i = 0; i <= static_cast<int>(Stage::profile); ++i)
        EXPECT_EQ(stageFromString(toString(static_cast<Stage>(i))), static_cast<Stage>(i));
    EXPECT_EQ(verdictFromString("fine"), std::nullopt);
}

}  // namespace
}  // namespace cuco
