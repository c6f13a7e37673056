// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/subprocess.h"
#include "tests/support/analysis_samples.h"
#include "tests/support/temporary_folder.h"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

namespace cuco {
namespace {

using namespace cuco::testing;
using ::testing::HasSubstr;

/// `cucoctl analyze` in a folder of its own.
class CucoctlAnalyze : public ::testing::Test {
protected:
    CommandOutcome run(std::vector<std::string> arguments, const std::string& library = {})
    {
        Command command;
        command.argv = {CUCOCTL_PROGRAM, "analyze"};
        command.argv.insert(command.argv.end(), arguments.begin(), arguments.end());
        command.working_directory = folder.path();
        command.environment = scrubbedEnvironment();
        if (!library.empty()) {
            command.environment["CUCO_LIBCLANG"] = library;
        }
        command.limits.wall = std::chrono::minutes(2);
        auto outcome = runCommand(command);
        EXPECT_TRUE(outcome.has_value());
        return outcome ? *outcome : CommandOutcome{};
    }
    const std::string workloads = std::string(CUCO_TEST_ROOT) + "/workloads/";
    TemporaryFolder folder;
};

TEST_F(CucoctlAnalyze, TellsWhatAWorkloadsSourceDoes)
{
    CUCO_NEEDS_LIBCLANG();
    const auto text = run({workloads + "moe_layer/host.cu", "--workload", "moe_layer"});
    EXPECT_EQ(text.exit_code, 0) << text.err;
    EXPECT_THAT(text.out, HasSubstr("ncclAlltoAll sent_rows -> received_rows"));
    EXPECT_THAT(text.out, HasSubstr("backend=host"));
    const auto json = run({workloads + "moe_layer/host.cu", "--workload", "moe_layer", "--json"});
    ASSERT_EQ(json.exit_code, 0) << json.err;
    const auto document = nlohmann::json::parse(json.out);
    EXPECT_EQ(document["communication"].size(), 4u);
    EXPECT_EQ(document["communication"][0]["operation"], "ncclAllGather");
    EXPECT_EQ(document["directive_evidence"]["backend"]["value"], "host");
    EXPECT_TRUE(document["unresolved"].empty()) << document["unresolved"];
}

TEST_F(CucoctlAnalyze, FindsHeadersInTheFoldersThatAreNamed)
{
    CUCO_NEEDS_LIBCLANG();
    writeText(folder / "headers/mine.cuh", "#include <nccl.h>\ninline int n = 3;\n");
    writeText(folder / "one.cu",
              "#include \"mine.cuh\"\nvoid f(float* a, ncclComm_t c) { ncclSend(a, n, ncclFloat, 1, c, 0); }\n");
    const auto without = nlohmann::json::parse(run({"one.cu", "--json"}).out);
    ASSERT_EQ(without["unresolved"][0]["kind"], "include");
    const auto with = nlohmann::json::parse(run({"one.cu", "--json", "-I", "headers"}).out);
    EXPECT_TRUE(with["unresolved"].empty()) << with["unresolved"];
    EXPECT_EQ(with["communication"][0]["count"], "n");
}

TEST_F(CucoctlAnalyze, SaysWhatToInstallWithoutLibclang)
{
    writeText(folder / "one.cu", "int a;\n");
    const auto outcome = run({"one.cu"}, "/nowhere/libclang-19.so.1");
    EXPECT_EQ(outcome.exit_code, 3);
    EXPECT_THAT(outcome.err, HasSubstr("libclang1-19"));
    EXPECT_EQ(outcome.out, "");
}

TEST_F(CucoctlAnalyze, WhatTheUserMistypedEndsWithTwo)
{
    EXPECT_EQ(run({}).exit_code, 2);
    const auto missing = run({"nothing.cu"});
    EXPECT_EQ(missing.exit_code, 2);
    EXPECT_THAT(missing.err, HasSubstr("nothing.cu"));
    writeText(folder / "one.cu", "int a;\n");
    EXPECT_EQ(run({"one.cu", "--workload", "no_such"}).exit_code, 2);
}

TEST_F(CucoctlAnalyze, RefusesWhatIsTooLarge)
{
    writeText(folder / "large.cu", std::string(max_analysed_bytes + 1, '\n'));
    const auto outcome = run({"large.cu"});
    EXPECT_EQ(outcome.exit_code, 3);
    EXPECT_THAT(outcome.err, HasSubstr("large.cu"));
}

TEST_F(CucoctlAnalyze, SourcesThatNeverEndAreEnded)
{
    CUCO_NEEDS_LIBCLANG();
    // Each level of the template makes two of the next.
    AnalysisRequest request = analysisRequest(
        "template <int n, int k> struct T { static constexpr int v = T<n - 1, 2 * k>::v + T<n - 1, 2 * k + 1>::v; };\n"
        "template <int k> struct T<0, k> { static constexpr int v = k; };\nint a = T<25, 0>::v;\n");
    request.limit = std::chrono::milliseconds(500);
    const auto analysis = analyzeCuda(request);
    ASSERT_FALSE(analysis.has_value());
    EXPECT_THAT(analysis.error().what, HasSubstr("took longer"));
}

}  // namespace
}  // namespace cuco
