// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/subprocess.h"
#include "tests/support/patch_samples.h"
#include "tests/support/temporary_folder.h"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

namespace cuco {
namespace {

using namespace cuco::testing;
using ::testing::HasSubstr;

/// `cucoctl patch` in a folder of its own with the sample source.
class CucoctlPatch : public ::testing::Test {
protected:
    void SetUp() override { writeText(folder / "ring.cu", ring_source); }

    CommandOutcome run(std::vector<std::string> arguments)
    {
        Command command;
        command.argv = {CUCOCTL_PROGRAM, "patch"};
        command.argv.insert(command.argv.end(), arguments.begin(), arguments.end());
        command.working_directory = folder.path();
        command.environment = scrubbedEnvironment();
        command.limits.wall = std::chrono::minutes(1);
        auto outcome = runCommand(command);
        EXPECT_TRUE(outcome.has_value());
        return outcome ? *outcome : CommandOutcome{};
    }
    CommandOutcome apply(const std::string& answer, bool json = false)
    {
        writeText(folder / "answer.txt", answer);
        std::vector<std::string> arguments{"apply",      "--original", "ring.cu", "--response",
                                           "answer.txt", "--out",      "new.cu"};
        if (json) {
            arguments.push_back("--json");
        }
        return run(arguments);
    }
    CommandOutcome check(const std::string& candidate, bool json = false)
    {
        writeText(folder / "candidate.cu", candidate);
        std::vector<std::string> arguments{"check", "--original", "ring.cu", "--candidate", "candidate.cu"};
        if (json) {
            arguments.push_back("--json");
        }
        return run(arguments);
    }

    TemporaryFolder folder;
};

TEST_F(CucoctlPatch, AppliesAnAnswerAsTheModelWroteIt)
{
    const std::string answer = "<NAME>no_check</NAME>\nThe check costs time.\n```cuda\n" +
                               block("    CUCO_TRY(cudaGetLastError());\n", "") + "```\n";
    const auto applied = apply(answer);
    EXPECT_EQ(applied.exit_code, 0) << applied.err;
    EXPECT_THAT(applied.out, HasSubstr("diff: no_check"));
    EXPECT_THAT(applied.out, HasSubstr("line 22, ring: −1 +0"));
    const std::string wanted = replaced(ring_source, "    CUCO_TRY(cudaGetLastError());\n", "");
    EXPECT_EQ(readText(folder / "new.cu"), wanted);

    const auto document = nlohmann::json::parse(apply(answer, true).out);
    EXPECT_EQ(document["applied"], true);
    EXPECT_EQ(document["kind"], "diff");
    EXPECT_EQ(document["name"], "no_check");
    EXPECT_EQ(document["edits"][0]["line"], 22);
    EXPECT_EQ(document["edits"][0]["match"], "exact");
    EXPECT_EQ(document["edits"][0]["evolve_block"], "ring");
    EXPECT_EQ(document["source_sha256"], sha256Hex(wanted));
}

TEST_F(CucoctlPatch, SaysWhyAnAnswerDoesNotApplyAndWritesNothing)
{
    const auto applied = apply(block("#include \"candidate.h\"\n", ""));
    EXPECT_EQ(applied.exit_code, 1);
    EXPECT_EQ(applied.out, "");
    EXPECT_THAT(applied.err, HasSubstr("Block 1: SEARCH takes in line 2, `#include \"candidate.h\"`, which is frozen"));
    EXPECT_FALSE(std::filesystem::exists(folder / "new.cu"));

    const auto document = nlohmann::json::parse(apply(block("#include \"candidate.h\"\n", ""), true).out);
    EXPECT_EQ(document["applied"], false);
    EXPECT_EQ(document["fault"]["kind"], "frozen_code");
    EXPECT_EQ(document["fault"]["block"], 1);
    EXPECT_EQ(document["fault"]["lines"], nlohmann::json::array({2}));
    // Bytes that are no UTF-8 do not break the document.
    EXPECT_EQ(nlohmann::json::parse(apply(block("\xff\xfe;\n", ""), true).out)["fault"]["kind"], "not_found");
}

TEST_F(CucoctlPatch, ChecksThatFrozenCodeIsUntouched)
{
    const auto same = check(ring_source);
    EXPECT_EQ(same.exit_code, 0) << same.err;
    EXPECT_THAT(same.out, HasSubstr("ring, lines 9 to 24: as in the original"));
    const auto document = nlohmann::json::parse(check(replaced(ring_source, "return 0;", "return 1;"), true).out);
    EXPECT_EQ(document["frozen_untouched"], true);
    EXPECT_EQ(document["evolve_blocks"][0]["name"], "ring");
    EXPECT_EQ(document["evolve_blocks"][0]["changed"], true);
}

TEST_F(CucoctlPatch, NamesTheFirstFrozenLineThatDiffers)
{
    const std::string touched = replaced(ring_source, "*io, stream);", "*io, nullptr);");
    const auto refused = check(touched);
    EXPECT_EQ(refused.exit_code, 1);
    EXPECT_THAT(refused.err, HasSubstr("candidate.cu:29: "));
    EXPECT_THAT(refused.err, HasSubstr("    return candidate::run(state, *io, nullptr);"));
    const auto document = nlohmann::json::parse(check(touched, true).out);
    EXPECT_EQ(document["frozen_untouched"], false);
    EXPECT_EQ(document["line"], 29);

    const auto no_end = check(replaced(ring_source, "// EVOLVE-BLOCK-END\n", ""));
    EXPECT_EQ(no_end.exit_code, 1);
    EXPECT_THAT(no_end.err, HasSubstr("has no EVOLVE-BLOCK-END"));
}

TEST_F(CucoctlPatch, WhatTheUserMistypedEndsWithTwo)
{
    EXPECT_EQ(run({}).exit_code, 2);
    EXPECT_EQ(run({"apply", "--original", "ring.cu"}).exit_code, 2);
    const auto missing = run({"check", "--original", "ring.cu", "--candidate", "nothing.cu"});
    EXPECT_EQ(missing.exit_code, 2);
    EXPECT_THAT(missing.err, HasSubstr("nothing.cu"));
    writeText(folder / "plain.cu", "int a;\n");
    const auto plain = run({"check", "--original", "plain.cu", "--candidate", "ring.cu"});
    EXPECT_EQ(plain.exit_code, 2);
    EXPECT_THAT(plain.err, HasSubstr("no evolve block"));
}

}  // namespace
}  // namespace cuco
