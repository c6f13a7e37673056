// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/agents/scratchpad.h"
#include "core/base/subprocess.h"
#include "core/run/run_file.h"
#include "tests/support/temporary_folder.h"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

namespace cuco {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class CucoctlScratchpad : public ::testing::Test {
protected:
    CucoctlScratchpad()
    {
        writeRun("run.cuco", "llm",
                 {toStep({8, false, "Chunks help.\nEngines too.\n"}), toStep({16, false, "Chunks help.\n"})});
    }

    void writeRun(const std::string& name, const std::string& proposer, std::vector<AgentStep> steps)
    {
        RunConfig config;
        config.workload = "gemm_allgather";
        config.proposer = proposer;
        auto file = RunFile::create(folder / name, config);
        ASSERT_TRUE(file) << describe(file.error());
        // What a person wrote as something else is no version.
        AgentStep other;
        other.agent = "person";
        other.title = "Scratchpads are fine";
        steps.push_back(other);
        ASSERT_TRUE((*file)->addSteps(steps));
        ASSERT_TRUE((*file)->setState(RunState::paused, {}));
    }

    CommandOutcome cucoctl(std::vector<std::string> arguments)
    {
        Command command;
        command.argv = {CUCOCTL_PROGRAM, "scratchpad"};
        command.argv.insert(command.argv.end(), arguments.begin(), arguments.end());
        command.working_directory = folder.path();
        command.environment = scrubbedEnvironment();
        auto outcome = runCommand(command);
        EXPECT_TRUE(outcome) << describe(outcome.error());
        return outcome.value_or(CommandOutcome{});
    }

    testing::TemporaryFolder folder;
};

TEST_F(CucoctlScratchpad, ListsVersionsAndPrintsOneAndWhatChangedInIt)
{
    const auto list = cucoctl({"run.cuco"});
    EXPECT_EQ(list.exit_code, 0) << list.err;
    EXPECT_THAT(list.out, HasSubstr("a model  16 candidates"));
    EXPECT_THAT(list.out, Not(HasSubstr("a person")));
    EXPECT_EQ(cucoctl({"run.cuco", "--show", "last"}).out, "Chunks help.\n");
    EXPECT_EQ(cucoctl({"run.cuco", "--show", "1"}).out, "Chunks help.\nEngines too.\n");
    EXPECT_THAT(cucoctl({"run.cuco", "--diff", "last"}).out, HasSubstr("\n-Engines too.\n"));
    EXPECT_THAT(cucoctl({"run.cuco", "--diff", "1"}).out, HasSubstr("+++ version 1\n"));
    EXPECT_THAT(cucoctl({"run.cuco", "--diff", "1", "--against", "2"}).out, HasSubstr("\n+Engines too.\n"));
}

TEST_F(CucoctlScratchpad, SavesWhatAPersonWroteAsTheNextVersion)
{
    testing::writeText(folder / "notes.md", "Try GIN.\n");
    const auto saved = cucoctl({"run.cuco", "--edit", "notes.md"});
    EXPECT_EQ(saved.exit_code, 0) << saved.err;
    EXPECT_THAT(saved.err, HasSubstr("prompts of all later proposals"));
    const auto versions = nlohmann::json::parse(cucoctl({"run.cuco", "--json"}).out).at("versions");
    ASSERT_EQ(versions.size(), 3);
    EXPECT_EQ(versions.back().at("number"), 3);
    EXPECT_EQ(versions.back().at("by_person"), true);
    EXPECT_EQ(versions.back().at("candidates"), 0);
    EXPECT_EQ(versions.back().at("text"), "Try GIN.\n");
    EXPECT_GT(versions.back().at("time_ms").get<std::int64_t>(), 0);
}

TEST_F(CucoctlScratchpad, RefusesWhatCannotBeNotesAndKeepsTheVersions)
{
    testing::writeText(folder / "long.md", std::string(33 << 10, 'x'));
    testing::writeText(folder / "bytes.md", "\xff\xfe");
    for (const auto& [file, sentence] :
         {std::pair{"long.md", "Shorten them to 32768."}, std::pair{"bytes.md", "no text in UTF-8"},
          std::pair{"missing.md", "missing.md"}}) {
        const auto refused = cucoctl({"run.cuco", "--edit", file});
        EXPECT_EQ(refused.exit_code, 2) << file;
        EXPECT_THAT(refused.err, HasSubstr(sentence));
    }
    EXPECT_EQ(nlohmann::json::parse(cucoctl({"run.cuco", "--json"}).out).at("versions").size(), 2);
}

TEST_F(CucoctlScratchpad, SaysWhichVersionsThereAre)
{
    for (const char* name : {"0", "3", "two", "2nd"}) {
        const auto refused = cucoctl({"run.cuco", "--show", name});
        EXPECT_EQ(refused.exit_code, 2) << name;
        EXPECT_THAT(refused.err, HasSubstr("Choose a number from 1 to 2, or last."));
    }
    EXPECT_EQ(cucoctl({"run.cuco", "--show", "1", "--diff", "2"}).exit_code, 2);
    EXPECT_EQ(cucoctl({"run.cuco", "--against", "2"}).exit_code, 2);
}

TEST_F(CucoctlScratchpad, ARunWithoutModelsHasNoNotes)
{
    writeRun("tunable.cuco", "tunable", {});
    testing::writeText(folder / "notes.md", "Try GIN.\n");
    EXPECT_EQ(cucoctl({"tunable.cuco"}).exit_code, 0);
    EXPECT_THAT(cucoctl({"tunable.cuco", "--show", "last"}).err, HasSubstr("no notes yet"));
    const auto refused = cucoctl({"tunable.cuco", "--edit", "notes.md"});
    EXPECT_EQ(refused.exit_code, 2);
    EXPECT_THAT(refused.err, HasSubstr("asks no model"));
}

TEST_F(CucoctlScratchpad, ARunThatAnotherProgramWritesCanBeReadOnly)
{
    testing::writeText(folder / "notes.md", "Try GIN.\n");
    const auto writer = RunFile::open(folder / "run.cuco", RunFile::Access::write);
    ASSERT_TRUE(writer) << describe(writer.error());
    EXPECT_EQ(cucoctl({"run.cuco", "--show", "last"}).exit_code, 0);
    const auto refused = cucoctl({"run.cuco", "--edit", "notes.md"});
    EXPECT_EQ(refused.exit_code, 3);
    EXPECT_FALSE(refused.err.empty());
    EXPECT_EQ(cucoctl({"nothing.cuco"}).exit_code, 3);
}

}  // namespace
}  // namespace cuco
