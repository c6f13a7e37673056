// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/subprocess.h"
#include "core/run/run_file.h"
#include "tests/support/temporary_folder.h"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

namespace cuco {
namespace {

using ::testing::HasSubstr;

class CucoctlLlm : public ::testing::Test {
protected:
    void SetUp() override
    {
        auto file = RunFile::create(folder / "run.cuco", {});
        ASSERT_TRUE(file) << describe(file.error());
        LlmCall call;
        call.agent = "judge";
        call.candidate_id = "c1";
        call.provider = "fixture";
        call.request.model = "m";
        call.request.messages = {{.text = "Is it right?"}};
        ChatResponse response;
        response.text = "It is.";
        response.stop_reason = StopReason::finished;
        call.result = response;
        ASSERT_TRUE((*file)->addLlmCall(call));
    }
    CommandOutcome cucoctl(std::vector<std::string> arguments)
    {
        Command command;
        command.argv = {CUCOCTL_PROGRAM, "llm"};
        command.argv.insert(command.argv.end(), arguments.begin(), arguments.end());
        command.working_directory = folder.path();
        command.environment = scrubbedEnvironment();
        auto outcome = runCommand(command);
        EXPECT_TRUE(outcome) << describe(outcome.error());
        return outcome.value_or(CommandOutcome{});
    }

    testing::TemporaryFolder folder;
};

TEST_F(CucoctlLlm, ListsAndShowsCalls)
{
    const auto list = nlohmann::json::parse(cucoctl({"list", "run.cuco", "--json"}).out);
    ASSERT_EQ(list.at("calls").size(), 1u);
    EXPECT_EQ(list["calls"][0]["candidate"], "c1");
    EXPECT_TRUE(list["calls"][0]["error_kind"].is_null());
    EXPECT_THAT(cucoctl({"list", "run.cuco"}).out, HasSubstr("1 call, 0 failed"));
    EXPECT_THAT(cucoctl({"show", "run.cuco", "1"}).out, HasSubstr("=== user\nIs it right?\n=== answer\nIt is.\n"));
    const auto missing = cucoctl({"show", "run.cuco", "2"});
    EXPECT_EQ(missing.exit_code, 2);
    EXPECT_THAT(missing.err, HasSubstr("There is no call 2"));
}

TEST_F(CucoctlLlm, ExportsSpans)
{
    ASSERT_EQ(cucoctl({"export", "run.cuco", "--format", "otlp", "--out", "T.json"}).exit_code, 0);
    const std::string text = testing::readText(folder / "T.json");
    EXPECT_THAT(text, ::testing::Not(HasSubstr("Is it right?")));
    EXPECT_EQ(nlohmann::json::parse(text).at("resourceSpans")[0]["scopeSpans"][0]["spans"].size(), 2u);
    EXPECT_EQ(cucoctl({"export", "run.cuco", "--format", "csv", "--out", "T.json"}).exit_code, 2);
    EXPECT_EQ(cucoctl({"export", "run.cuco", "--out", "no/such/folder/T.json"}).exit_code, 3);
}

}  // namespace
}  // namespace cuco
