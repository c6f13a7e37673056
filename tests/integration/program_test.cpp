// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/files.h"
#include "core/base/subprocess.h"
#include "tests/support/temporary_folder.h"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include <filesystem>

namespace cuco {
namespace {

using ::testing::HasSubstr;
namespace fs = std::filesystem;

const fs::path ring = fs::path(CUCO_TEST_ROOT) / "workloads" / "examples" / "mpi_ring";

/// The example, built and run by the real mpicxx and mpirun.
class Program : public ::testing::Test {
protected:
    void SetUp() override
    {
        if (!findProgram("mpicxx") || !findProgram("mpirun"))
            GTEST_SKIP() << "MPI is not installed: apt install openmpi-bin libopenmpi-dev";
        fs::copy(ring, folder.path() / "ring");
        change("workload.json", "\"rounds\": 3", "\"rounds\": 1");
    }

    void change(const std::string& name, const std::string& from, const std::string& to)
    {
        const auto file = folder.path() / "ring" / name;
        auto text = readFile(file);
        ASSERT_TRUE(text);
        const auto at = text->find(from);
        ASSERT_NE(at, text->npos) << from;
        ASSERT_TRUE(writeFileAtomically(file, text->replace(at, from.size(), to)));
    }

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

    nlohmann::json evaluate(const std::string& candidate)
    {
        const auto outcome = cucoctl({"eval", "ring", "ring/" + candidate, "--ranks", "2", "--json"});
        error = outcome.err;
        return nlohmann::json::parse(outcome.out, nullptr, false);
    }

    testing::TemporaryFolder folder;
    std::string error;
};

TEST_F(Program, IsBuiltRunInTurnsAndSaysThatItsTimesAreItsOwn)
{
    const auto document = evaluate("seed.cpp");
    ASSERT_TRUE(document.is_object()) << error;
    EXPECT_EQ(document["verdict"], "verified") << document["message"];
    EXPECT_EQ(document["self_reported"], true);
    EXPECT_EQ(document["modelled"], false);
    ASSERT_EQ(document["timings"].size(), 1u);
    const auto& timing = document["timings"][0];
    EXPECT_EQ(timing["samples_us"].size(), 2u);
    EXPECT_EQ(timing["baseline_samples_us"].size(), 2u);
    EXPECT_EQ(timing["baseline"], "host.cpp");
    EXPECT_EQ(timing["bound_us"], 0);
    EXPECT_GT(document["speedup"], 0);
    EXPECT_TRUE(document["overlap"].is_null());

    const auto told = cucoctl({"eval", "ring", "ring/seed.cpp", "--ranks", "2"});
    EXPECT_THAT(told.out, HasSubstr("SELF-REPORTED"));
}

TEST_F(Program, IsRejectedForWhatItPrintsAndForWhatItDoes)
{
    const std::string here = "\n// A block is passed on while";
    change("seed.cpp", here, "\n#include <cstdlib>\nstatic const int ended = (std::exit(0), 0);" + here);
    auto document = evaluate("seed.cpp");
    EXPECT_EQ(document["verdict"], "wrong_result") << document.dump(2);
    EXPECT_EQ(document["message"], "Rank 0 did not say that it passed.");

    change("seed.cpp", "(std::exit(0), 0)", "(std::puts(\"rank 0: 1 ms\"), 0)");
    document = evaluate("seed.cpp");
    EXPECT_EQ(document["verdict"], "timing_mismatch") << document.dump(2);
    EXPECT_THAT(document["message"].get<std::string>(), HasSubstr("Rank 0 told two times."));

    change("seed.cpp", "(std::puts(\"rank 0: 1 ms\"), 0)", "not_declared");
    document = evaluate("seed.cpp");
    EXPECT_EQ(document["verdict"], "compile_error");
    EXPECT_GT(document["at"]["line"], 0);

    change("seed.cpp", "not_declared", "0");
    change("seed.cpp", "multiplyBlock(ring, a, owner, block.data(), ring.count(owner) * chunk / chunks,",
           "multiplyBlock(ring, a, owner, block.data(), ring.count(owner) * chunk / chunks + 1,");
    document = evaluate("seed.cpp");
    EXPECT_EQ(document["verdict"], "crash") << "it prints FAIL and ends with 1";
}

TEST_F(Program, ThatNeverEndsIsATimeout)
{
    change("workload.json", "\"run\": 60", "\"run\": 3");
    change("seed.cpp", "        MPI_Waitall(open",
           "        for (volatile bool on = true; on;) {\n        }\n        MPI_Waitall(open");
    const auto document = evaluate("seed.cpp");
    EXPECT_EQ(document["verdict"], "timeout") << document.dump(2);
}

TEST_F(Program, IsSearchedByTheTunableProposer)
{
    const auto run = cucoctl({"run", "ring", "--generations", "1", "--islands", "1", "--children", "2", "--ranks", "2",
                              "--seed", "1", "--out", "ring.cuco"});
    ASSERT_EQ(run.exit_code, 0) << run.err;
    EXPECT_THAT(run.err, HasSubstr("3 of 3 candidates verified"));
    const auto shown = nlohmann::json::parse(cucoctl({"show", "ring.cuco", "--json"}).out, nullptr, false);
    ASSERT_EQ(shown["candidates"].size(), 3u);
    EXPECT_EQ(shown["modelled"], false);
    EXPECT_EQ(shown["self_reported"], true);
    EXPECT_THAT(run.err, HasSubstr("(self-reported)"));
    const std::string child = shown["candidates"][1]["id"];
    const auto candidate =
        nlohmann::json::parse(cucoctl({"candidate", "ring.cuco", child, "--json"}).out, nullptr, false);
    EXPECT_THAT(candidate.dump(), HasSubstr("\"self_reported\":true"));
}

TEST_F(Program, IsRefusedOnTheEmulatedNode)
{
    const auto outcome = cucoctl({"eval", "ring", "ring/seed.cpp", "--node", "emulated"});
    EXPECT_EQ(outcome.exit_code, 2);
    EXPECT_THAT(outcome.err, HasSubstr("cannot be run on the emulated node"));
}

}  // namespace
}  // namespace cuco
