// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/subprocess.h"
#include "tests/integration/gather_workload.h"
#include "tests/support/temporary_folder.h"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

namespace cuco {
namespace {

using ::testing::HasSubstr;

/// The program as a user runs it.
class Cucoctl : public ::testing::Test {
protected:
    void SetUp() override { ASSERT_TRUE(test::writeGatherWorkload(folder.path())); }

    CommandOutcome run(std::vector<std::string> arguments, std::map<std::string, std::string> variables = {})
    {
        Command command;
        command.argv = {CUCOCTL_PROGRAM};
        command.argv.insert(command.argv.end(), arguments.begin(), arguments.end());
        command.working_directory = folder.path();
        command.environment = std::move(variables);
        command.environment.merge(scrubbedEnvironment());
        command.limits.wall = std::chrono::minutes(4);
        auto outcome = runCommand(command);
        EXPECT_TRUE(outcome.has_value());
        return outcome ? *outcome : CommandOutcome{};
    }
    std::string write(const std::string& name, const std::string& text)
    {
        testing::writeText(folder / name, text);
        return (folder / name).string();
    }

    testing::TemporaryFolder folder;
};

TEST_F(Cucoctl, ListsTheWorkloads)
{
    const auto listed = run({"workloads", "--json"});
    ASSERT_EQ(listed.exit_code, 0) << listed.err;
    const auto document = nlohmann::json::parse(listed.out);
    ASSERT_TRUE(document.is_array() && !document.empty());
    EXPECT_EQ(document[0]["name"], "gemm_allgather");
    EXPECT_FALSE(document[0]["strategies"].empty());
    EXPECT_THAT(run({"workloads"}).out, HasSubstr("gemm_allgather"));
}

TEST_F(Cucoctl, ProbesTheEmulatedNode)
{
    const auto probed = run({"node", "probe", "--node", "emulated", "--json"});
    ASSERT_EQ(probed.exit_code, 0) << probed.err;
    const auto document = nlohmann::json::parse(probed.out);
    EXPECT_EQ(document["usable"], true);
    EXPECT_EQ(document["modelled"], true);
}

TEST_F(Cucoctl, WithoutACompilerSaysWhichPackageAndEndsWithThree)
{
    const auto probed = run({"node", "probe", "--node", "emulated"}, {{"PATH", folder.path().string()}});
    EXPECT_EQ(probed.exit_code, 3);
    EXPECT_THAT(probed.out, HasSubstr("sudo apt install g++"));
    const auto evaluated = run({"eval", ".", "seed.cu", "--node", "emulated"}, {{"PATH", folder.path().string()}});
    EXPECT_EQ(evaluated.exit_code, 3);
    EXPECT_THAT(evaluated.err, HasSubstr("sudo apt install g++"));
    EXPECT_EQ(evaluated.out, "");
}

TEST_F(Cucoctl, EvaluatesSeveralCandidatesInTheirOrderAndTellsEach)
{
    const auto evaluated =
        run({"eval", ".", "seed.cu", write("broken.cu", "no CUDA"), "seed.cu", "--node", "emulated", "--json"});
    EXPECT_EQ(evaluated.exit_code, 1) << evaluated.err;
    const auto documents = nlohmann::json::parse(evaluated.out);
    ASSERT_EQ(documents.size(), 3u);
    EXPECT_EQ(documents[0]["verdict"], "verified");
    EXPECT_THAT(documents[1]["file"].get<std::string>(), HasSubstr("broken.cu"));
    EXPECT_NE(documents[1]["verdict"], "verified");
    EXPECT_EQ(documents[2]["verdict"], "verified");
    const auto told = run({"eval", ".", "seed.cu", "broken.cu", "--node", "emulated"});
    EXPECT_THAT(told.out, ::testing::ContainsRegex("seed.cu: verified .*modelled"));
    EXPECT_THAT(told.out, HasSubstr("broken.cu: "));
}

TEST_F(Cucoctl, WhatTheUserMistypedEndsWithTwo)
{
    EXPECT_EQ(run({}).exit_code, 2);
    EXPECT_EQ(run({"evall"}).exit_code, 2);
    const auto workload = run({"eval", "gemm_allgater", "seed.cu"});
    EXPECT_EQ(workload.exit_code, 2);
    EXPECT_THAT(workload.err, HasSubstr("gemm_allgather"));
    EXPECT_EQ(run({"eval", ".", "nothing.cu", "--node", "emulated"}).exit_code, 2);
    EXPECT_EQ(run({"eval", ".", "seed.cu", "--node", "moon"}).exit_code, 2);
    EXPECT_EQ(run({"eval", ".", "seed.cu", "--node", "emulated", "--ranks", "3"}).exit_code, 2);
    const auto shape = run({"eval", ".", "seed.cu", "--node", "emulated", "--shape", "huge"});
    EXPECT_EQ(shape.exit_code, 2);
    EXPECT_THAT(shape.err, HasSubstr("small"));
    EXPECT_EQ(run({"eval", ".", "seed.cu", "--stage", "party"}).exit_code, 2);
}

TEST_F(Cucoctl, EvaluatesOneCandidateAsOneJsonDocument)
{
    const auto evaluated = run({"eval", ".", "seed.cu", "--node", "emulated", "--json"});
    ASSERT_EQ(evaluated.exit_code, 0) << evaluated.err << evaluated.out;
    const auto document = nlohmann::json::parse(evaluated.out);
    EXPECT_EQ(document["verdict"], "verified");
    EXPECT_EQ(document["stage"], "profile");
    EXPECT_EQ(document["modelled"], true);
    EXPECT_EQ(document["directive"]["backend"], "host");
    EXPECT_EQ(document["tunables"]["threads"], 64);
    EXPECT_EQ(document["source_sha256"].get<std::string>().size(), 64u);
    EXPECT_GT(document["speedup"].get<double>(), 0);
    EXPECT_EQ(document["ci_low"], document["speedup"]);
    EXPECT_GT(document["time_us"].get<double>(), document["bound_us"].get<double>());
    EXPECT_EQ(document["timings"][0]["samples_us"].size(), 1u);
    EXPECT_TRUE(document["overlap"].is_object());
}

TEST_F(Cucoctl, ARejectedCandidateEndsWithOneAndSaysWhy)
{
    const auto wrong = write("wrong.cu", test::gatherWith("out[i] = 2 * in[i];", "out[i] = 3 * in[i];"));
    const auto evaluated = run({"eval", ".", wrong, "--node", "emulated"});
    EXPECT_EQ(evaluated.exit_code, 1) << evaluated.err;
    EXPECT_TRUE(evaluated.out.starts_with("wrong_result: Rank 0")) << evaluated.out;
}

TEST_F(Cucoctl, TheWorkloadsOwnHostSourceIsMeasuredAsTheBaselineAndACopyOfItIsNot)
{
    const auto baseline = run({"eval", ".", "host.cu", "--node", "emulated", "--json"});
    ASSERT_EQ(baseline.exit_code, 0) << baseline.err;
    EXPECT_EQ(nlohmann::json::parse(baseline.out)["speedup"], 1);
    const auto copy = run({"eval", ".", write("copy.cu", test::gather_host), "--node", "emulated", "--json"});
    EXPECT_EQ(copy.exit_code, 1) << copy.err;
    EXPECT_EQ(nlohmann::json::parse(copy.out)["verdict"], "marker_error");
}

TEST_F(Cucoctl, DataThatIsNotThereEndsWithThree)
{
    const auto listed = run({"workloads"}, {{"CUCO_DATA_DIR", folder.path().string()}});
    EXPECT_EQ(listed.exit_code, 3);
    EXPECT_THAT(listed.err, HasSubstr("CUCO_DATA_DIR"));
}

}  // namespace
}  // namespace cuco
