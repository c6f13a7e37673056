// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/files.h"
#include "core/evaluation/evaluator_factory.h"
#include "core/nodes/cache_folder.h"
#include "tests/integration/gather_workload.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <set>
#include <thread>

namespace cuco {
namespace {

using test::gather_seed;
using test::gatherWith;
using testing::HasSubstr;

/// Real sources through the real evaluator on the emulated node. The harness is built once for all.
class EmulatedEvaluation : public testing::Test {
protected:
    static void SetUpTestSuite()
    {
        std::string name = testing::TempDir() + "cuco-gather-XXXXXX";
        ASSERT_NE(::mkdtemp(name.data()), nullptr);
        folder = name;
        ASSERT_TRUE(test::writeGatherWorkload(folder));
        const auto workload = loadWorkload(folder);
        ASSERT_TRUE(workload.has_value()) << describe(workload.error());
        const auto paths = DataPaths::find();
        ASSERT_TRUE(paths.has_value()) << describe(paths.error());
        auto made = makeEvaluator(*paths, *makeNode("emulated"), *workload, {});
        ASSERT_TRUE(made.has_value()) << describe(made.error());
        evaluator = std::move(*made);
        const auto prepared = evaluator->prepare({});
        ASSERT_TRUE(prepared.has_value()) << describe(prepared.error());
    }
    static void TearDownTestSuite()
    {
        evaluator.reset();
        std::filesystem::remove_all(folder);
    }
    void SetUp() override
    {
        ASSERT_NE(evaluator, nullptr);
        ASSERT_FALSE(evaluator->baselines().empty());
    }

    static EvaluationResult resultOf(const std::string& source, Stage until = Stage::profile)
    {
        EXPECT_FALSE(source.empty()) << "the test changes a text that is not in the seed";
        EvaluationRequest request;
        request.source = source;
        request.until = until;
        auto result = evaluator->evaluate(request, {});
        EXPECT_TRUE(result.has_value()) << describe(result.error());
        return result ? std::move(*result) : EvaluationResult{};
    }
    static Evaluation evaluationOf(const std::string& source) { return resultOf(source).evaluation; }

    inline static std::filesystem::path folder;
    inline static std::unique_ptr<Evaluator> evaluator;
};

constexpr const char* launch =
    "twice<<<unsigned((n + threads - 1) / threads), unsigned(threads), 0, stream>>>(mine, slot, n);";
constexpr const char* store = "out[i] = 2 * in[i];";

TEST_F(EmulatedEvaluation, VerifiesARightCandidateWithTimesAndATimeline)
{
    const auto result = resultOf(gather_seed);
    const auto& evaluation = result.evaluation;
    ASSERT_EQ(evaluation.verdict, Verdict::verified) << evaluation.message << "\n" << evaluation.detail;
    EXPECT_EQ(evaluation.stage, Stage::profile);
    EXPECT_TRUE(evaluation.modelled);
    ASSERT_EQ(evaluation.timings.size(), 1u);
    const auto& timing = evaluation.timings[0];
    EXPECT_EQ(timing.shape, "small");
    EXPECT_GT(timing.time_us, timing.bound_us);
    EXPECT_GT(timing.bound_us, 0);
    EXPECT_EQ(timing.baseline, "host.cu");
    EXPECT_GT(timing.speedup, 0);
    EXPECT_EQ(timing.ci_low, timing.speedup);
    ASSERT_TRUE(result.timeline.has_value());
    EXPECT_EQ(result.timeline->source, TimeSource::modelled);
    ASSERT_TRUE(evaluation.overlap.has_value());
    EXPECT_EQ(evaluation.overlap->ranks.size(), 2u);
    EXPECT_GT(evaluation.overlap->ranks[0].communication_us, 0);
}

TEST_F(EmulatedEvaluation, MeasuresTheBaselineOfTheWorkload)
{
    const auto& baseline = evaluator->baselines().front().result;
    EXPECT_TRUE(baseline.evaluation.verified());
    ASSERT_EQ(baseline.evaluation.timings.size(), 1u);
    EXPECT_DOUBLE_EQ(baseline.evaluation.timings[0].speedup, 1);
    EXPECT_TRUE(baseline.timeline.has_value());
}

TEST_F(EmulatedEvaluation, GivesTheSameModelledTimeTwice)
{
    const auto first = evaluationOf(gather_seed), second = evaluationOf(gather_seed);
    ASSERT_TRUE(first.verified() && second.verified());
    EXPECT_EQ(first.timings[0].samples_us, second.timings[0].samples_us);
}

TEST_F(EmulatedEvaluation, StopsAfterTheStageThatWasAskedFor)
{
    const auto verified = resultOf(gather_seed, Stage::verify);
    EXPECT_EQ(verified.evaluation.stage, Stage::verify);
    EXPECT_TRUE(verified.evaluation.timings.empty());
    const auto timed = resultOf(gather_seed, Stage::benchmark);
    EXPECT_EQ(timed.evaluation.timings.size(), 1u);
    EXPECT_FALSE(timed.timeline.has_value());
}

TEST_F(EmulatedEvaluation, RejectsBrokenMarkers)
{
    EXPECT_EQ(evaluationOf(gatherWith("// EVOLVE-BLOCK-END", "")).verdict, Verdict::marker_error);
}

TEST_F(EmulatedEvaluation, RejectsChangedFrozenCode)
{
    EXPECT_EQ(evaluationOf(gatherWith("++s.calls;", "")).verdict, Verdict::frozen_code_changed);
}

TEST_F(EmulatedEvaluation, CompileErrorNamesTheUsersLine)
{
    const auto evaluation = evaluationOf(gatherWith(store, "out[i] = missing[i];"));
    EXPECT_EQ(evaluation.verdict, Verdict::compile_error);
    EXPECT_EQ(evaluation.stage, Stage::compile);
    const auto at = gather_seed.find(store);
    const auto line = 1 + std::count(gather_seed.begin(), gather_seed.begin() + static_cast<std::ptrdiff_t>(at), '\n');
    EXPECT_EQ(evaluation.at.line, static_cast<std::size_t>(line));
    EXPECT_THAT(evaluation.message, HasSubstr("missing"));
    EXPECT_THAT(evaluation.message, HasSubstr("Line " + std::to_string(line)));
}

TEST_F(EmulatedEvaluation, InlinePtxIsNotEmulableRatherThanFailed)
{
    EXPECT_EQ(evaluationOf(gatherWith(store, "asm volatile(\"nanosleep.u32 1;\"); out[i] = 2 * in[i];")).verdict,
              Verdict::not_emulable);
}

TEST_F(EmulatedEvaluation, RejectsWrongNumbersWithTheFirstWrongElementOfEachRank)
{
    const auto evaluation = evaluationOf(gatherWith(store, "out[i] = i == 3 ? 7 : 2 * in[i];"));
    ASSERT_EQ(evaluation.verdict, Verdict::wrong_result) << evaluation.message;
    EXPECT_EQ(evaluation.stage, Stage::verify);
    ASSERT_EQ(evaluation.mismatches.size(), 2u);
    EXPECT_EQ(evaluation.mismatches[0].element, 3);
    EXPECT_EQ(evaluation.mismatches[0].got, 7);
    EXPECT_TRUE(evaluation.timings.empty());
}

TEST_F(EmulatedEvaluation, RejectsACandidateThatDoesNothing)
{
    EXPECT_EQ(evaluationOf(gatherWith(launch, "return 0;")).verdict, Verdict::wrong_result);
}

TEST_F(EmulatedEvaluation, RejectsACandidateThatIsRightTheFirstTimeOnly)
{
    const auto evaluation = evaluationOf(gatherWith(launch, std::string("if (state.calls > 1) return 0;\n") + launch));
    ASSERT_EQ(evaluation.verdict, Verdict::wrong_result) << evaluation.message;
    EXPECT_EQ(evaluation.mismatches[0].iteration, 1);
}

TEST_F(EmulatedEvaluation, RejectsAStoreOutOfBounds)
{
    const auto evaluation = evaluationOf(gatherWith(store, "out[i + 3 * n] = 2 * in[i];"));
    EXPECT_EQ(evaluation.verdict, Verdict::out_of_bounds) << evaluation.message;
}

TEST_F(EmulatedEvaluation, RejectsANullDereferenceOfTheHost)
{
    const auto evaluation = evaluationOf(gatherWith(launch, "*reinterpret_cast<volatile int*>(n - n) = 1;"));
    EXPECT_EQ(evaluation.verdict, Verdict::crash) << evaluation.message;
}

TEST_F(EmulatedEvaluation, RejectsANullDereferenceOfAKernel)
{
    const auto evaluation = evaluationOf(gatherWith(store, "out = nullptr; out[i] = 2 * in[i];"));
    EXPECT_THAT(evaluation.verdict, testing::AnyOf(Verdict::crash, Verdict::out_of_bounds)) << evaluation.message;
}

TEST_F(EmulatedEvaluation, RejectsAHostThatTakesAllMemory)
{
    const auto evaluation = evaluationOf(gatherWith(launch, "for (;;) *new volatile char[1 << 24] = 1;"));
    EXPECT_EQ(evaluation.verdict, Verdict::crash) << evaluation.message;
}

TEST_F(EmulatedEvaluation, RejectsAFailedCallOfTheCandidate)
{
    const auto evaluation = evaluationOf(gatherWith(launch, "CUCO_TRY(cudaSetDevice(99));"));
    EXPECT_EQ(evaluation.verdict, Verdict::setup_failed) << evaluation.message;
}

TEST_F(EmulatedEvaluation, RejectsRanksThatWaitForOneAnother)
{
    const auto evaluation =
        evaluationOf(gatherWith(launch, std::string("if (state.context.rank == 1) return 0;\n") + launch));
    EXPECT_EQ(evaluation.verdict, Verdict::deadlock) << evaluation.message;
}

TEST_F(EmulatedEvaluation, RejectsAHostThatNeverReturns)
{
    const auto evaluation = evaluationOf(gatherWith(launch, "for (volatile int i = 0;; i = i + 1) {}"));
    EXPECT_EQ(evaluation.verdict, Verdict::timeout) << evaluation.message;
}

TEST_F(EmulatedEvaluation, RejectsAKernelThatNeverReturns)
{
    const auto evaluation = evaluationOf(gatherWith(store, "for (volatile int k = 0;; k = k + 1) {}"));
    EXPECT_THAT(evaluation.verdict, testing::AnyOf(Verdict::timeout, Verdict::deadlock)) << evaluation.message;
}

TEST_F(EmulatedEvaluation, AnExitOfTheCandidateIsACrash)
{
    const auto evaluation = evaluationOf(gatherWith(launch, "__builtin_exit(0);"));
    EXPECT_EQ(evaluation.verdict, Verdict::crash) << evaluation.message;
}

TEST_F(EmulatedEvaluation, AForgedTimeIsTampering)
{
    std::string source = gatherWith(launch,
                                    "static const char line[] = "
                                    "\"{\\\"event\\\":\\\"time\\\",\\\"shape\\\":\\\"small\\\","
                                    "\\\"samples_us\\\":[0.001]}\\n\";\n"
                                    "    if (state.context.rank == 0 && state.calls == 1)\n"
                                    "        write(3, line, sizeof line - 1);\n"
                                    "    " +
                                        std::string(launch));
    const std::string tunable = "CUCO_TUNE(threads";
    source.insert(source.find(tunable), "extern \"C\" long write(int, const void*, unsigned long);\n");
    const auto evaluation = evaluationOf(source);
    EXPECT_EQ(evaluation.verdict, Verdict::tampering) << evaluation.message;
}

TEST_F(EmulatedEvaluation, TakesSeveralCandidatesAtOnce)
{
    std::vector<Evaluation> evaluations(3);
    {
        std::vector<std::jthread> threads;
        for (std::size_t i = 0; i < evaluations.size(); ++i)
            threads.emplace_back([&, i] {
                evaluations[i] = evaluationOf(i == 1 ? gatherWith(store, "out[i] = 3 * in[i];") : gather_seed);
            });
    }
    EXPECT_EQ(evaluations[0].verdict, Verdict::verified);
    EXPECT_EQ(evaluations[1].verdict, Verdict::wrong_result);
    EXPECT_EQ(evaluations[2].verdict, Verdict::verified);
}

TEST_F(EmulatedEvaluation, CanBeStopped)
{
    std::stop_source stop;
    std::jthread stopper([&] {
        std::this_thread::sleep_for(std::chrono::milliseconds(300));
        stop.request_stop();
    });
    EvaluationRequest request;
    request.source = gatherWith(launch, "for (volatile int i = 0;; i = i + 1) {}");
    const auto result = evaluator->evaluate(request, stop.get_token());
    ASSERT_FALSE(result.has_value());
    EXPECT_THAT(result.error().what, HasSubstr("stopped"));
}

TEST_F(EmulatedEvaluation, KeepsWhatABaselineSaidAndBelievesNoDamagedReport)
{
    std::string name = testing::TempDir() + "cuco-kept-XXXXXX";
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    const std::filesystem::path fresh = name;
    ASSERT_TRUE(test::writeGatherWorkload(fresh));
    ASSERT_TRUE(writeFileAtomically(fresh / "host.cu", test::gather_host + ("// " + name + "\n")).has_value());
    const auto kept = [] {
        std::set<std::filesystem::path> files;
        for (const auto& entry : std::filesystem::directory_iterator(*cacheFolder("modelled")))
            files.insert(entry.path());
        return files;
    };
    const auto samples = [&] {
        auto other = makeEvaluator(*DataPaths::find(), *makeNode("emulated"), *loadWorkload(fresh), {});
        EXPECT_TRUE((*other)->prepare({}).has_value());
        return (*other)->baselines().front().result.evaluation.timings.at(0).samples_us;
    };
    const auto before = kept();
    const auto first = samples();
    std::vector<std::filesystem::path> added;
    std::ranges::set_difference(kept(), before, std::back_inserter(added));
    ASSERT_EQ(added.size(), 1u);
    const std::string report = readFile(added.front()).value();
    EXPECT_EQ(samples(), first);

    const auto end = report.find("{\"event\":\"done\"");
    ASSERT_NE(end, std::string::npos);
    ASSERT_TRUE(writeFileAtomically(added.front(), report.substr(0, end)).has_value());
    EXPECT_EQ(samples(), first);
    EXPECT_EQ(readFile(added.front()).value(), report);
    std::filesystem::remove(added.front());
    std::filesystem::remove_all(fresh);
}

TEST_F(EmulatedEvaluation, ABaselineThatIsWrongIsAnError)
{
    std::string name = testing::TempDir() + "cuco-broken-XXXXXX";
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    const std::filesystem::path broken = name;
    ASSERT_TRUE(test::writeGatherWorkload(broken));
    std::string host = test::gather_host;
    host.replace(host.find("2 * in[i]"), 9, "5 * in[i]");
    ASSERT_TRUE(writeFileAtomically(broken / "host.cu", host).has_value());
    auto other = makeEvaluator(*DataPaths::find(), *makeNode("emulated"), *loadWorkload(broken), {});
    ASSERT_TRUE(other.has_value());
    const auto prepared = (*other)->prepare({});
    ASSERT_FALSE(prepared.has_value());
    EXPECT_THAT(prepared.error().what, HasSubstr("own baseline is not right"));
    std::filesystem::remove_all(broken);
}

}  // namespace
}  // namespace cuco
