// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/subprocess.h"
#include "core/run/run_file.h"
#include "tests/integration/gather_workload.h"
#include "tests/support/temporary_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>
#include <csignal>
#include <nlohmann/json.hpp>
#include <sstream>
#include <thread>

extern char** environ;

namespace cuco {
namespace {

using ::testing::HasSubstr;

class CucoctlRun : public ::testing::Test {
protected:
    void SetUp() override { ASSERT_TRUE(test::writeGatherWorkload(folder.path())); }

    CommandOutcome cucoctl(std::vector<std::string> arguments)
    {
        Command command;
        command.argv = {CUCOCTL_PROGRAM};
        command.argv.insert(command.argv.end(), arguments.begin(), arguments.end());
        command.working_directory = folder.path();
        command.environment = scrubbedEnvironment();
        command.limits.wall = std::chrono::minutes(4);
        auto outcome = runCommand(command);
        EXPECT_TRUE(outcome) << describe(outcome.error());
        return outcome.value_or(CommandOutcome{});
    }
    std::vector<std::string> runArguments(const std::string& out) const
    {
        return {"run",        ".", "--node", "emulated", "--generations", "1", "--islands", "1",
                "--children", "2", "--seed", "1",        "--out",         out};
    }
    nlohmann::json json(std::vector<std::string> arguments)
    {
        arguments.push_back("--json");
        const auto outcome = cucoctl(arguments);
        EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
        return nlohmann::json::parse(outcome.out, nullptr, false);
    }

    testing::TemporaryFolder folder;
};

TEST_F(CucoctlRun, RunsShowsDecidesAndExports)
{
    const auto run = cucoctl(runArguments("a.cuco"));
    ASSERT_EQ(run.exit_code, 0) << run.err;
    EXPECT_THAT(run.err, HasSubstr("c2 "));
    EXPECT_THAT(run.err, HasSubstr("3 of 3 candidates verified"));
    EXPECT_THAT(run.err, HasSubstr("best: c"));
    EXPECT_EQ(run.out, "");

    const auto again = cucoctl(runArguments("a.cuco"));
    EXPECT_EQ(again.exit_code, 2);
    EXPECT_THAT(again.err, HasSubstr("cucoctl resume a.cuco"));

    const auto events = cucoctl({"events", "a.cuco"});
    EXPECT_EQ(events.exit_code, 0) << events.err;
    std::istringstream lines(events.out);
    std::vector<std::string> proposed;
    for (std::string line; std::getline(lines, line);)
        if (const auto event = nlohmann::json::parse(line); event.at("event") == "candidate")
            proposed.push_back(event.at("candidate"));
    EXPECT_EQ(proposed, (std::vector<std::string>{"c0", "c1", "c2"}));
    EXPECT_THAT(cucoctl({"events", "nowhere.cuco"}).err, HasSubstr("nowhere.cuco"));

    const auto shown = json({"show", "a.cuco"});
    EXPECT_EQ(shown["workload"], "gather");
    EXPECT_EQ(shown["state"], "finished");
    EXPECT_EQ(shown["modelled"], true);
    EXPECT_EQ(shown["seed"], 1);
    ASSERT_EQ(shown["baselines"].size(), 1u);
    ASSERT_EQ(shown["candidates"].size(), 3u);
    for (const char* key :
         {"id", "parent", "island", "generation", "proposer", "verdict", "stage", "message", "speedup", "ci_low",
          "ci_high", "time_us", "bound_us", "directive", "tunables", "source_sha256", "decision", "cost_usd"})
        EXPECT_TRUE(shown["candidates"][1].contains(key)) << key;
    EXPECT_EQ(shown["candidates"][1]["verdict"], "verified");
    EXPECT_THAT(cucoctl({"show", "a.cuco"}).out, HasSubstr("STRATEGY"));

    EXPECT_EQ(cucoctl({"candidate", "a.cuco", "c0", "--source"}).out, test::gather_seed);
    const auto diff = cucoctl({"candidate", "a.cuco", "c1", "--diff", "--against", "c0"});
    EXPECT_THAT(diff.out, HasSubstr("-CUCO_TUNE(threads, 64"));
    EXPECT_THAT(cucoctl({"candidate", "a.cuco", "c0", "--diff"}).out, HasSubstr("--- "));
    const auto candidate = json({"candidate", "a.cuco", "c1"});
    EXPECT_FALSE(candidate["evaluation"]["timings"][0]["samples_us"].empty());
    EXPECT_FALSE(candidate["steps"].empty());
    EXPECT_THAT(cucoctl({"candidate", "a.cuco", "c1"}).out, HasSubstr("threads"));

    EXPECT_EQ(cucoctl({"promote", "a.cuco", "c1", "--reason", "fast"}).exit_code, 0);
    EXPECT_EQ(cucoctl({"reject", "a.cuco", "c0", "--reason", "slow"}).exit_code, 0);
    auto candidates = json({"show", "a.cuco"})["candidates"];
    EXPECT_EQ(candidates[1]["decision"], "promoted");
    EXPECT_EQ(candidates[1]["decision_reason"], "fast");
    EXPECT_EQ(candidates[0]["decision"], "rejected");
    EXPECT_EQ(cucoctl({"undo", "a.cuco"}).exit_code, 0);
    EXPECT_TRUE(json({"show", "a.cuco"})["candidates"][0]["decision"].is_null());

    EXPECT_EQ(cucoctl({"trace", "export", "a.cuco", "c1", "--format", "perfetto", "--out", "t.json"}).exit_code, 0);
    const auto trace = nlohmann::json::parse(testing::readText(folder / "t.json"), nullptr, false);
    EXPECT_FALSE(trace["traceEvents"].empty());
    EXPECT_FALSE(json({"overlap", "a.cuco", "--candidate", "host.cu"})["ranks"].empty());
    const auto file = RunFile::open(folder / "a.cuco", RunFile::Access::read).value();
    testing::writeText(folder / "own.json", toJson(file->timeline("c1").value().value()).dump());
    EXPECT_EQ(json({"overlap", "own.json"})["ranks"], json({"overlap", "a.cuco", "--candidate", "c1"})["ranks"]);
    EXPECT_EQ(json({"overlap", "t.json"})["ranks"], json({"overlap", "own.json"})["ranks"]);
    EXPECT_EQ(cucoctl({"overlap", "a.cuco"}).exit_code, 2);
    testing::writeText(folder / "foreign.json", R"({"a":1})");
    const auto foreign = cucoctl({"overlap", "foreign.json"});
    EXPECT_EQ(foreign.exit_code, 2);
    EXPECT_THAT(foreign.err, HasSubstr("traceEvents"));
}

TEST_F(CucoctlRun, StopsCleanlyOnInterruptAndResumes)
{
    std::vector<std::string> arguments = runArguments("b.cuco");
    arguments.insert(arguments.begin(), CUCOCTL_PROGRAM);
    arguments[2] = folder.path().string();
    arguments.back() = (folder / "b.cuco").string();
    std::vector<char*> argv;
    for (std::string& argument : arguments)
        argv.push_back(argument.data());
    argv.push_back(nullptr);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 2, (folder / "err.txt").c_str(), O_WRONLY | O_CREAT, 0600);
    pid_t child = 0;
    ASSERT_EQ(::posix_spawn(&child, CUCOCTL_PROGRAM, &actions, nullptr, argv.data(), environ), 0);
    posix_spawn_file_actions_destroy(&actions);
    while (testing::readText(folder / "err.txt").find("baseline") == std::string::npos &&
           ::waitpid(child, nullptr, WNOHANG) == 0)
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
    ::kill(child, SIGINT);
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFEXITED(status));
    EXPECT_EQ(WEXITSTATUS(status), 1);
    EXPECT_THAT(testing::readText(folder / "err.txt"), HasSubstr("go on with: cucoctl resume"));
    EXPECT_FALSE(std::filesystem::exists(folder / "b.cuco-wal"));
    EXPECT_EQ(json({"show", "b.cuco"})["state"], "stopped");

    const auto resumed = cucoctl({"resume", "b.cuco", "--json"});
    EXPECT_EQ(resumed.exit_code, 0) << resumed.err;
    const auto document = nlohmann::json::parse(resumed.out, nullptr, false);
    EXPECT_EQ(document["state"], "finished");
    EXPECT_EQ(document["candidates"].size(), 3u);
}

TEST_F(CucoctlRun, SaysWhatIsWrongWithAFile)
{
    testing::writeText(folder / "text.cuco", "hello");
    const auto text = cucoctl({"show", "text.cuco"});
    EXPECT_EQ(text.exit_code, 3);
    EXPECT_THAT(text.err, HasSubstr("no run file"));
    EXPECT_EQ(cucoctl({"show", "missing.cuco"}).exit_code, 3);
    EXPECT_EQ(cucoctl({"run", "."}).exit_code, 2);
    EXPECT_EQ(cucoctl({"run", "nothing", "--out", "x.cuco"}).exit_code, 2);
    EXPECT_EQ(cucoctl({"run", ".", "--islands", "0", "--out", "x.cuco"}).exit_code, 2);
    EXPECT_EQ(cucoctl({"run", ".", "--node", "moon", "--out", "x.cuco"}).exit_code, 2);
    EXPECT_FALSE(std::filesystem::exists(folder / "x.cuco"));

    RunConfig config;
    config.workload = "gather";
    auto writer = RunFile::create(folder / "open.cuco", config).value();
    const auto busy = cucoctl({"promote", "open.cuco", "c0"});
    EXPECT_EQ(busy.exit_code, 3);
    EXPECT_THAT(busy.err, HasSubstr(fmt::format("pid {}", ::getpid())));
    EXPECT_EQ(cucoctl({"show", "open.cuco"}).exit_code, 0);
    writer.reset();
    const auto unknown = cucoctl({"candidate", "open.cuco", "c7"});
    EXPECT_EQ(unknown.exit_code, 2);
    EXPECT_THAT(unknown.err, HasSubstr("c7"));
    EXPECT_EQ(cucoctl({"undo", "open.cuco"}).exit_code, 2);
    EXPECT_THAT(cucoctl({"trace", "export", "open.cuco", "c0", "--out", "t.json"}).err, HasSubstr("no timeline"));
}

}  // namespace
}  // namespace cuco
