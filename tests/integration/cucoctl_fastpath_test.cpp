// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/subprocess.h"
#include "core/run/run_file.h"
#include "tests/support/temporary_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace cuco {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

namespace fs = std::filesystem;
const fs::path root = CUCO_TEST_ROOT;

class FastPathCommand : public ::testing::Test {
protected:
    CommandOutcome run(const std::vector<std::string>& arguments)
    {
        Command command;
        command.argv = {CUCOCTL_PROGRAM, "fastpath"};
        command.argv.insert(command.argv.end(), arguments.begin(), arguments.end());
        command.working_directory = folder.path();
        command.environment = scrubbedEnvironment();
        command.limits.wall = std::chrono::minutes(5);
        auto outcome = runCommand(command);
        EXPECT_TRUE(outcome) << describe(outcome.error());
        return outcome.value_or(CommandOutcome{});
    }
    std::string answers(const std::string& name)
    {
        const auto to = folder.path() / "answers";
        fs::copy(root / "tests/recorded_answers" / name, to);
        return to.string();
    }

    testing::TemporaryFolder folder;
    const std::string out = (folder.path() / "out.cu").string();
    const std::string run_file = (folder.path() / "run.cuco").string();
};

struct Conversion {
    std::string workload, backend;
    friend void PrintTo(const Conversion& conversion, std::ostream* out)
    {
        *out << conversion.workload << " to " << conversion.backend;
    }
};

class RecordedConversion : public FastPathCommand, public ::testing::WithParamInterface<Conversion> {};

TEST_P(RecordedConversion, GivesAProgramThatIsRightOnTheEmulatedNode)
{
    const auto& [workload, backend] = GetParam();
    const std::string recorded = workload + "_" + backend;
    const auto result = run({(root / "workloads" / workload / "host.cu").string(), "--workload", workload, "--backend",
                             backend, "--node", "emulated", "--provider", "manual", "--answers", answers(recorded),
                             "--run-file", run_file, "--out", out});
    ASSERT_EQ(result.exit_code, 0) << result.err;
    const auto file = RunFile::open(run_file, RunFile::Access::read).value();
    const auto snapshot = file->snapshot().value();
    const Candidate& last = snapshot.candidates.back();
    EXPECT_EQ(last.strategy, "annotation");
    EXPECT_TRUE(last.evaluation->verified()) << last.evaluation->message;
    EXPECT_EQ(last.directive.backend, backend);
    EXPECT_FALSE(last.tunables.empty());
    EXPECT_EQ(testing::readText(out), file->source(last.id).value());
    EXPECT_THAT(testing::readText(out), Not(HasSubstr("ncclAllGather(")));
    // Every answer is in the trace.
    const auto given = std::distance(fs::directory_iterator(root / "tests/recorded_answers" / (recorded)), {});
    EXPECT_EQ(static_cast<std::ptrdiff_t>(file->llmCalls().value().size()), given);
}

INSTANTIATE_TEST_SUITE_P(All, RecordedConversion,
                         ::testing::Values(Conversion{"gemm_allgather", "lsa"}, Conversion{"gemm_allgather", "gin"},
                                           Conversion{"ring_attention", "lsa"}, Conversion{"kv_transfer", "lsa"},
                                           Conversion{"moe_layer", "lsa"}),
                         [](const auto& conversion) {
                             return conversion.param.workload + "_" + conversion.param.backend;
                         });

TEST_F(FastPathCommand, TakesTheWorkloadsSeedWithoutAProviderAndSaysSo)
{
    const auto result = run({(root / "workloads/gemm_allgather/host.cu").string(), "--workload", "gemm_allgather",
                             "--node", "emulated", "--out", out});
    EXPECT_EQ(result.exit_code, 0) << result.err;
    EXPECT_THAT(result.err, HasSubstr("the workload's own seed is taken"));
    EXPECT_EQ(testing::readText(out), testing::readText(root / "workloads/gemm_allgather/seed_lsa.cu"));
}

TEST_F(FastPathCommand, PausesWithoutAKeyAndWritesNothing)
{
    const auto result =
        run({(root / "workloads/gemm_allgather/host.cu").string(), "--workload", "gemm_allgather", "--node", "emulated",
             "--provider", "anthropic", "--model", "some-model", "--run-file", run_file, "--out", out});
    EXPECT_EQ(result.exit_code, 1) << result.err;
    EXPECT_THAT(result.err, HasSubstr("ANTHROPIC_API_KEY"));
    EXPECT_FALSE(fs::exists(out));
    EXPECT_EQ(RunFile::open(run_file, RunFile::Access::read).value()->snapshot()->state, RunState::paused);
}

TEST_F(FastPathCommand, RefusesToGoOnWithARunFileThatHoldsASearch)
{
    RunConfig search;
    search.workload = "gemm_allgather";
    ASSERT_TRUE(RunFile::create(run_file, search));
    const auto result = run({(root / "workloads/gemm_allgather/host.cu").string(), "--workload", "gemm_allgather",
                             "--run-file", run_file, "--out", out});
    EXPECT_EQ(result.exit_code, 2);
    EXPECT_THAT(result.err, HasSubstr("holds a search"));
}

TEST_F(FastPathCommand, NeverCallsAProgramThatARunFileNamesWithoutConsent)
{
    RunConfig foreign;
    foreign.workload = "gemm_allgather";
    foreign.proposer = "fastpath";
    foreign.islands = foreign.children = 1;
    foreign.provider.provider = "command";
    foreign.provider.model = "m";
    foreign.provider.command = {"/bin/sh", "-c", "touch " + (folder.path() / "called").string()};
    ASSERT_TRUE(RunFile::create(run_file, foreign));
    const std::vector<std::string> arguments{(root / "workloads/gemm_allgather/host.cu").string(),
                                             "--workload",
                                             "gemm_allgather",
                                             "--run-file",
                                             run_file,
                                             "--out",
                                             out};
    const auto result = run(arguments);
    EXPECT_EQ(result.exit_code, 1) << result.err;
    EXPECT_THAT(result.err, HasSubstr("--trust-provider"));
    EXPECT_FALSE(fs::exists(folder.path() / "called"));
    auto trusting = arguments;
    trusting.push_back("--trust-provider");
    run(trusting);
    EXPECT_TRUE(fs::exists(folder.path() / "called"));
}

TEST_F(FastPathCommand, RefusesAnUnknownWorkloadAMissingSourceAndAProviderWithoutAModel)
{
    EXPECT_EQ(run({"missing.cu", "--workload", "gemm_allgather", "--out", out}).exit_code, 2);
    const auto host = (root / "workloads/gemm_allgather/host.cu").string();
    EXPECT_EQ(run({host, "--workload", "no_such", "--out", out}).exit_code, 2);
    EXPECT_EQ(run({host, "--workload", "gemm_allgather", "--provider", "openai", "--out", out}).exit_code, 2);
    EXPECT_EQ(run({host, "--workload", "gemm_allgather", "--backend", "mpi", "--out", out}).exit_code, 2);
}

}  // namespace
}  // namespace cuco
