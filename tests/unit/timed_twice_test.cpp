// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/files.h"
#include "core/design/directive.h"
#include "core/evaluation/evaluation_plan.h"
#include "core/evaluation/evaluator.h"
#include "core/workload/workload.h"
#include "tests/support/temporary_folder.h"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <optional>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace cuco {
namespace {

using nlohmann::json;
using ::testing::AllOf;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::TemporaryFolder;

constexpr double alone_us = 1000;  // every baseline without the candidate

/// What the harness tells of one run of the candidate.
struct Told {
    double candidate_us = 800, event_us = 800, baseline_us = alone_us;
    json instead = nullptr;  ///< the event that ends the run before anything is timed
};

const Told right;
const Told slow_baseline{.baseline_us = 1.5 * alone_us};
const Told clocks_apart{.event_us = 100};

Told failed(const char* kind)
{
    return {.instead = {{"event", "failure"}, {"kind", kind}, {"rank", 1}, {"shape", "odd"}, {"message", "It fails."}}};
}

Told wrong()
{
    return {.instead = {{"event", "mismatch"},
                        {"shape", "odd"},
                        {"rank", 1},
                        {"buffer", "c"},
                        {"element", 17},
                        {"expected", 1.5},
                        {"got", 0},
                        {"wrong_elements", 12},
                        {"elements", 64},
                        {"relative_l2", 0.2}}};
}

/// The job of the harness as far as its report depends on it. The computing alone is left out: so there is no bound.
struct AskedShape {
    std::string name;
    std::uint64_t seed = 0;
    int iterations = 0, rounds = 0;
};
struct AskedJob {
    int ranks = 0;
    bool of_baselines = false;
    std::vector<std::string> baselines;
    std::vector<AskedShape> shapes;
};

AskedJob readJob(const std::string& text)
{
    AskedJob job;
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
        std::istringstream words(line);
        std::string what;
        words >> what;
        if (what == "ranks")
            words >> job.ranks;
        else if (what == "rates")
            job.of_baselines = true;
        else if (what == "baseline")
            words >> job.baselines.emplace_back();
        else if (what == "shape")
            words >> job.shapes.emplace_back().name;
        else if (what == "seed")
            words >> job.shapes.back().seed;
        else if (what == "rounds")
            words >> job.shapes.back().rounds;
        else if (int count = 0; (what == "iterations" || what == "consecutive") && words >> count)
            job.shapes.back().iterations += count;
    }
    return job;
}

std::string reportOf(const AskedJob& job, const Told& told)
{
    std::string text;
    const auto say = [&](const json& event) { text += event.dump() + "\n"; };
    const auto time = [&](const AskedShape& shape, const std::string& program, double us, double event_us) {
        const std::size_t turns = turns_a_round * std::size_t(shape.rounds);
        say({{"event", "time"},
             {"shape", shape.name},
             {"program", program},
             {"samples_us", std::vector<double>(turns, us)},
             {"event_us", std::vector<double>(turns, event_us)}});
    };
    say({{"event", "start"}});
    say({{"event", "spent"}, {"ms", {{"set_up", 10}}}});
    if (!told.instead.is_null()) {
        say(told.instead);
        say({{"event", "done"}});
        return text;
    }
    for (const auto& shape : job.shapes) {
        for (int iteration = 0; iteration < shape.iterations; ++iteration)
            for (int rank = 0; rank < job.ranks; ++rank)
                say({{"event", "checked"}, {"shape", shape.name}, {"iteration", iteration}, {"rank", rank}});
        if (shape.rounds == 0)
            continue;
        time(shape, "candidate", told.candidate_us, told.event_us);
        for (const auto& baseline : job.baselines)
            time(shape, baseline, told.baseline_us, told.baseline_us);
    }
    say({{"event", "done"}});
    return text;
}

class Folder : public JobFolder {
public:
    const std::filesystem::path& path() const override { return folder_.path(); }

private:
    TemporaryFolder folder_;
};

/// A node with GPUs that answers each job with a report of it. Runs of the candidate go as the test has told it; the
/// last of them comes again for as long as it is asked.
class AnsweringNode : public Node {
public:
    std::vector<Told> told;
    std::vector<std::uint64_t> seeds;  ///< of the candidate's runs
    std::vector<bool> diagnosed;       ///< of the candidate's runs: each launch is waited for

    const std::string& name() const override { return name_; }
    NodeKind kind() const override { return NodeKind::local; }
    Result<NodeProbe> probe(std::stop_token /*stop*/) override
    {
        NodeProbe probe;
        probe.usable = true;
        probe.max_ranks = 2;
        probe.capabilities = {"lsa"};
        return probe;
    }
    Result<std::shared_ptr<JobFolder>> createJob() override { return std::make_shared<Folder>(); }
    Result<void> put(const JobFolder& job, const std::string& file_name, std::string_view bytes) override
    {
        return writeFileAtomically(job.path() / file_name, bytes);
    }
    Result<std::string> fetch(const JobFolder& job, const std::string& file_name, std::uint64_t max_bytes) override
    {
        return readFile(job.path() / file_name, max_bytes);
    }
    Result<CommandOutcome> run(const Command& command, std::stop_token /*stop*/) override
    {
        const auto text = readFile(command.working_directory / "job.txt");
        if (!text)
            return std::unexpected(text.error());
        const AskedJob job = readJob(*text);
        CommandOutcome outcome;
        outcome.exit_code = 0;
        if (job.of_baselines) {
            outcome.report = reportOf(job, {.candidate_us = alone_us, .event_us = alone_us});
            return outcome;
        }
        outcome.report = reportOf(job, told.at(std::min(seeds.size(), told.size() - 1)));
        seeds.push_back(job.shapes.front().seed);
        diagnosed.push_back(command.environment.contains("CUDA_LAUNCH_BLOCKING"));
        return outcome;
    }
    std::vector<std::string> sandbox(const JobFolder& /*job*/, bool /*gpus*/,
                                     const std::vector<std::filesystem::path>& /*readable*/) const override
    {
        return {};
    }

private:
    std::string name_ = "answering";
};

/// Builds nothing: its node runs nothing.
class NoToolchain : public Toolchain {
public:
    Result<void> prepare(Node& /*node*/, const Workload& /*workload*/, std::stop_token /*stop*/) override { return {}; }
    Result<std::expected<void, BuildFault>> build(Node& /*node*/, const JobFolder& /*job*/,
                                                  const std::string& /*source*/, std::stop_token /*stop*/) override
    {
        return std::expected<void, BuildFault>();
    }
    Result<std::filesystem::path> buildOwn(Node& /*node*/, const std::filesystem::path& source,
                                           std::stop_token /*stop*/) override
    {
        return source;
    }
    Command harnessCommand(const Node& /*node*/, const JobFolder& job, const std::string& /*mode*/) const override
    {
        Command command;
        command.working_directory = job.path();
        return command;
    }
    HarnessFiles files() const override { return {}; }
    DeviceRates rates() const override { return {}; }
};

class TimedTwice : public ::testing::Test {
protected:
    void SetUp() override
    {
        // The lease of this user's GPUs is not waited for.
        if (const char* now = std::getenv("XDG_CACHE_HOME"))
            cache_before_ = now;
        ::setenv("XDG_CACHE_HOME", cache_.path().c_str(), 1);
        auto workload = loadWorkload(CUCO_TEST_ROOT "/workloads/gemm_allgather");
        auto space = DesignSpace::load(CUCO_TEST_ROOT "/resources/design_space.json");
        ASSERT_TRUE(workload && space);
        request.source = testing::readText(workload->seed_source);
        request.until = Stage::benchmark;
        EvaluationDefaults defaults;
        defaults.until = Stage::benchmark;
        defaults.shapes = {workload->search_shapes.front()};
        evaluator_ = std::make_unique<Evaluator>(node, std::make_unique<NoToolchain>(), std::move(*workload),
                                                 std::move(*space), std::move(defaults));
        const auto prepared = evaluator_->prepare({});
        ASSERT_TRUE(prepared) << describe(prepared.error());
    }

    void TearDown() override
    {
        if (cache_before_)
            ::setenv("XDG_CACHE_HOME", cache_before_->c_str(), 1);
        else
            ::unsetenv("XDG_CACHE_HOME");
    }

    Evaluation evaluated(std::vector<Told> told)
    {
        node->told = std::move(told);
        const auto result = evaluator_->evaluate(request, {});
        EXPECT_TRUE(result) << describe(result.error());
        return result ? result->evaluation : Evaluation();
    }

    std::size_t runs() const { return node->seeds.size(); }

    EvaluationRequest request;
    const std::shared_ptr<AnsweringNode> node = std::make_shared<AnsweringNode>();

private:
    TemporaryFolder cache_;
    std::optional<std::string> cache_before_;
    std::unique_ptr<Evaluator> evaluator_;
};

TEST_F(TimedTwice, TimesThatAddUpAreTakenOnce)
{
    const auto evaluation = evaluated({right});
    EXPECT_TRUE(evaluation.verified()) << evaluation.message;
    EXPECT_EQ(runs(), 1u);
    EXPECT_THAT(evaluation.remarks, IsEmpty());
    EXPECT_DOUBLE_EQ(*evaluation.speedup(), 1.25);
}

TEST_F(TimedTwice, ABaselineThatWasSlowOnceIsNoVerdict)
{
    const auto evaluation = evaluated({slow_baseline, {.candidate_us = 820, .event_us = 815}});
    EXPECT_TRUE(evaluation.verified()) << evaluation.message;
    EXPECT_EQ(evaluation.stage, Stage::benchmark);
    EXPECT_EQ(evaluation.message, "");
    EXPECT_EQ(runs(), 2u);
    ASSERT_EQ(evaluation.timings.size(), 1u);
    EXPECT_THAT(evaluation.timings[0].samples_us, Each(820));
    EXPECT_THAT(evaluation.timings[0].event_us, Each(815));
    EXPECT_THAT(evaluation.timings[0].baseline_samples_us, Each(alone_us));
}

TEST_F(TimedTwice, ClocksThatDisagreedOnceAreNoVerdict)
{
    const auto evaluation = evaluated({clocks_apart, right});
    EXPECT_TRUE(evaluation.verified()) << evaluation.message;
    EXPECT_EQ(runs(), 2u);
    EXPECT_THAT(evaluation.remarks, ElementsAre(HasSubstr("by the events of its stream")));
}

TEST_F(TimedTwice, TheSecondTimeHasOtherInputsAndTheEvaluationTellsWhich)
{
    const auto evaluation = evaluated({slow_baseline, right});
    ASSERT_EQ(runs(), 2u);
    EXPECT_NE(node->seeds[1], node->seeds[0]);
    EXPECT_EQ(evaluation.input_seed, node->seeds[1]);
}

TEST_F(TimedTwice, ARemarkSaysThatItWasAndWhy)
{
    EXPECT_THAT(evaluated({slow_baseline, right}).remarks,
                ElementsAre(AllOf(HasSubstr("timed twice"), HasSubstr("1500 µs in its turns"))));
}

TEST_F(TimedTwice, TimesThatNeverAddUpAreTheVerdictAfterTwoRuns)
{
    const auto evaluation = evaluated({slow_baseline, clocks_apart});
    EXPECT_EQ(evaluation.verdict, Verdict::timing_mismatch);
    EXPECT_EQ(runs(), 2u);
    EXPECT_THAT(evaluation.message, HasSubstr("by the events of its stream")) << "it is of the second time";
    EXPECT_THAT(evaluation.remarks, ElementsAre(HasSubstr("1500 µs in its turns"))) << "and the first time's beside it";
    ASSERT_EQ(evaluation.timings.size(), 1u);
    EXPECT_THAT(evaluation.timings[0].event_us, Each(clocks_apart.event_us));
    EXPECT_EQ(evaluation.input_seed, node->seeds[1]);
}

TEST_F(TimedTwice, WhatItSpentIsThatOfBothTimes)
{
    EXPECT_EQ(evaluated({slow_baseline, right}).spent_ms.at("set_up"), 20);
}

TEST_F(TimedTwice, WhatGoesWrongTheSecondTimeIsTheVerdict)
{
    EXPECT_EQ(evaluated({slow_baseline, wrong()}).verdict, Verdict::wrong_result);
    EXPECT_EQ(runs(), 2u);
}

TEST_F(TimedTwice, ACrashTheSecondTimeIsDiagnosedAsOneTheFirstTimeIs)
{
    request.diagnose = true;
    const auto evaluation = evaluated({slow_baseline, failed("crash")});
    EXPECT_EQ(evaluation.verdict, Verdict::crash);
    EXPECT_THAT(node->diagnosed, ElementsAre(false, false, true));
    EXPECT_THAT(evaluation.detail, HasSubstr("Run again with each launch waited for"));
}

TEST_F(TimedTwice, AWrongResultIsNotRunAgain)
{
    const auto evaluation = evaluated({wrong(), right});
    EXPECT_EQ(evaluation.verdict, Verdict::wrong_result);
    EXPECT_EQ(runs(), 1u);
}

TEST_F(TimedTwice, ACrashIsNotRunAgain)
{
    const auto evaluation = evaluated({failed("crash"), right});
    EXPECT_EQ(evaluation.verdict, Verdict::crash);
    EXPECT_EQ(runs(), 1u);
}

TEST_F(TimedTwice, WorkThatWentOnAfterItsEndIsNotRunAgain)
{
    const auto evaluation = evaluated({failed("timing_mismatch"), right});
    EXPECT_EQ(evaluation.verdict, Verdict::timing_mismatch);
    EXPECT_EQ(runs(), 1u) << "the harness saw it: nobody's times are doubted";
}

}  // namespace
}  // namespace cuco
