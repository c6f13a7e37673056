// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/subprocess.h"
#include "core/run/run_file.h"
#include "tests/integration/gather_workload.h"
#include "tests/support/temporary_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace cuco {
namespace {

using ::testing::HasSubstr;

class CucoctlEvidence : public ::testing::Test {
protected:
    void SetUp() override { ASSERT_TRUE(test::writeGatherWorkload(folder.path())); }

    CommandOutcome run(std::vector<std::string> argv)
    {
        Command command;
        command.argv = std::move(argv);
        command.working_directory = folder.path();
        command.environment = scrubbedEnvironment();
        command.environment["CUCOCTL"] = CUCOCTL_PROGRAM;
        command.limits.wall = std::chrono::minutes(4);
        auto outcome = runCommand(command);
        EXPECT_TRUE(outcome) << describe(outcome.error());
        return outcome.value_or(CommandOutcome{});
    }
    CommandOutcome cucoctl(std::vector<std::string> arguments)
    {
        arguments.insert(arguments.begin(), CUCOCTL_PROGRAM);
        return run(std::move(arguments));
    }
    nlohmann::json json(std::vector<std::string> arguments)
    {
        arguments.push_back("--json");
        const auto outcome = cucoctl(std::move(arguments));
        EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
        return nlohmann::json::parse(outcome.out, nullptr, false);
    }
    static std::string lastLine(const std::string& text)
    {
        const auto end = text.find_last_not_of('\n');
        return text.substr(text.rfind('\n', end) + 1, end - text.rfind('\n', end));
    }
    void search()
    {
        const auto searched = cucoctl({"run", ".", "--node", "emulated", "--generations", "1", "--islands", "1",
                                       "--children", "2", "--out", "a.cuco"});
        ASSERT_EQ(searched.exit_code, 0) << searched.err;
    }

    testing::TemporaryFolder folder;
};

TEST_F(CucoctlEvidence, OfAPromotedCandidateVerifiesItAgain)
{
    search();
    const std::string best = json({"show", "a.cuco"})["best"];
    const auto promoted = cucoctl({"promote", "a.cuco", best, "--reason", "fast"});
    EXPECT_EQ(promoted.exit_code, 0) << promoted.out << promoted.err;
    EXPECT_THAT(promoted.out, HasSubstr("held-back shape held_back"));
    const auto decision = json({"show", "a.cuco"})["decisions"][0];
    EXPECT_EQ(decision["standing"], "stands");
    const auto again = json({"candidate", "a.cuco", best})["remeasurements"];
    ASSERT_EQ(again.size(), 1u);
    EXPECT_EQ(again[0]["evaluation"]["timings"][0]["shape"], "held_back");
    EXPECT_FALSE(again[0]["evaluation"]["timings"][0]["samples_us"].empty());

    const auto written = cucoctl({"candidate", "a.cuco", best, "--evidence", "bundle"});
    ASSERT_EQ(written.exit_code, 0) << written.err;
    const std::string readme = testing::readText(folder / "bundle/README.md");
    EXPECT_THAT(readme, HasSubstr("is **promoted**"));
    EXPECT_THAT(readme, HasSubstr("**modelled**"));
    EXPECT_EQ(nlohmann::json::parse(testing::readText(folder / "bundle/environment.json"))["kind"], "emulated");
    const auto occupied = cucoctl({"candidate", "a.cuco", best, "--evidence", "bundle"});
    EXPECT_EQ(occupied.exit_code, 2);
    EXPECT_THAT(occupied.err, HasSubstr("no empty folder"));

    const auto verified = run({(folder / "bundle/verify.sh").string()});
    EXPECT_EQ(verified.exit_code, 0) << verified.out << verified.err;
    EXPECT_THAT(lastLine(verified.out), HasSubstr("AGREES: the intervals meet, modelled speed-up"));

    std::string source = testing::readText(folder / "bundle/candidate.cu");
    const auto at = source.find("2 * in[i]");
    ASSERT_NE(at, std::string::npos);
    testing::writeText(folder / "bundle/candidate.cu", source.replace(at, 1, "3"));
    const auto differs = run({(folder / "bundle/verify.sh").string()});
    EXPECT_EQ(differs.exit_code, 1) << differs.out << differs.err;
    EXPECT_THAT(lastLine(differs.out), HasSubstr("DIFFERS: the verdict is wrong_result"));
}

TEST_F(CucoctlEvidence, PromotionWithoutItsWorkloadStaysPendingUntilItIsBack)
{
    search();
    const std::string best = json({"show", "a.cuco"})["best"];
    std::filesystem::rename(folder / "workload.json", folder / "hidden.json");
    const auto pending = cucoctl({"promote", "a.cuco", best});
    EXPECT_EQ(pending.exit_code, 3);
    EXPECT_THAT(pending.out, HasSubstr("not yet measured again"));
    EXPECT_THAT(pending.err, HasSubstr("cucoctl resume a.cuco"));
    EXPECT_THAT(cucoctl({"show", "a.cuco"}).out, HasSubstr("not yet measured again"));
    std::filesystem::rename(folder / "hidden.json", folder / "workload.json");
    EXPECT_EQ(cucoctl({"resume", "a.cuco"}).exit_code, 0);
    EXPECT_EQ(json({"show", "a.cuco"})["decisions"][0]["standing"], "stands");
}

TEST_F(CucoctlEvidence, AttributesTheGainToItsEdits)
{
    RunConfig config;
    config.workload = "gather";
    config.workload_folder = folder.path().string();
    config.node = "emulated";
    // Slower by a call that the candidate does without.
    const std::string call = "    CUCO_TRY(ncclAllGather(slot, all, n, ncclFloat, state.context.comm, stream));\n";
    const std::string seed = test::gatherWith(call, call + call);
    std::string edited = test::gather_seed;
    for (const auto& [what, with] :
         {std::pair("__global__", "__device__ float doubled(float x) { return x + x; }\n\n__global__"),
          std::pair("2 * in[i]", "doubled(in[i])")})
        edited.replace(edited.find(what), std::string(what).size(), with);
    {
        auto file = RunFile::create(folder / "b.cuco", config).value();
        for (const auto& [number, source] : {std::pair(0, seed), std::pair(1, edited)}) {
            Candidate candidate;
            candidate.number = number;
            candidate.id = fmt::format("c{}", number);
            candidate.generation = number;
            if (number > 0)
                candidate.parents = {"c0"};
            candidate.source_sha256 = sha256Hex(source);
            ASSERT_TRUE(file->addCandidate(candidate, source, {}));
        }
    }
    const auto document = json({"attribute", "b.cuco", "c1"});
    EXPECT_EQ(document["modelled"], true);
    EXPECT_EQ(document["against"], "c0");
    ASSERT_EQ(document["hunks"].size(), 3u) << document.dump(1);
    ASSERT_EQ(document["effects"].size(), 4u) << document.dump(1);
    EXPECT_EQ(document["effects"][0]["verdict"], "compile_error");
    EXPECT_EQ(document["effects"][0]["taken_back"], false);
    EXPECT_EQ(document["effects"][1]["hunks"], nlohmann::json({1, 2}));
    EXPECT_NEAR(document["effects"][1]["share"], 0, 0.1);
    EXPECT_EQ(document["effects"][2]["verdict"], "verified");
    EXPECT_NEAR(document["effects"][3]["share"], 1, 0.1);
    EXPECT_GT(document["effects"][3]["time_us"], document["with_all"]["time_us"]);
    EXPECT_EQ(cucoctl({"attribute", "b.cuco", "c0"}).exit_code, 2);

    const auto written = cucoctl({"candidate", "b.cuco", "c1", "--evidence", "bundle", "--attribution"});
    ASSERT_EQ(written.exit_code, 0) << written.err;
    EXPECT_THAT(testing::readText(folder / "bundle/attribution.md"), HasSubstr("| 1+2 |"));
    EXPECT_THAT(testing::readText(folder / "bundle/attribution.md"), HasSubstr("**modelled**"));
    EXPECT_THAT(testing::readText(folder / "bundle/README.md"), HasSubstr("attribution.md"));

    // What begins its island is compared with what it is told to be.
    const auto alone = cucoctl({"candidate", "b.cuco", "c0", "--evidence", "alone", "--attribution"});
    EXPECT_EQ(alone.exit_code, 3);
    EXPECT_THAT(alone.err, HasSubstr("--against"));
    EXPECT_FALSE(std::filesystem::exists(folder / "alone"));
    const auto told = cucoctl({"candidate", "b.cuco", "c0", "--evidence", "alone", "--attribution", "--against", "c1"});
    ASSERT_EQ(told.exit_code, 0) << told.err;
    EXPECT_THAT(testing::readText(folder / "alone/attribution.md"), HasSubstr("c1"));
    EXPECT_EQ(cucoctl({"candidate", "b.cuco", "c1", "--against", "c0"}).exit_code, 2);
}

}  // namespace
}  // namespace cuco
