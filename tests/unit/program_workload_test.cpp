// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/files.h"
#include "core/evaluation/program_evaluator.h"
#include "core/evaluation/program_output.h"
#include "core/nodes/local_node.h"
#include "core/workload/workload.h"
#include "tests/support/temporary_folder.h"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include <cstdlib>

namespace cuco {
namespace {

using nlohmann::json;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class ProgramManifest : public ::testing::Test {
protected:
    void SetUp() override
    {
        ASSERT_TRUE(writeFileAtomically(folder.path() / "host.cpp", "int main() {}\n"));
        ASSERT_TRUE(writeFileAtomically(folder.path() / "seed.cpp", "int main() {}\n"));
        manifest = json::parse(R"json({
            "format": 1, "kind": "program", "name": "ring", "title": "Ring", "summary": "A ring.", "ranks": [2, 4],
            "sources": {"host": "host.cpp", "seed": "seed.cpp", "name": "program.cpp"},
            "build": ["mpicxx", "{source}", "-o", "{binary}"],
            "run": ["mpirun", "-n", "{ranks}", "{binary}"],
            "results": {"pass": "^rank ([0-9]+): PASS$", "time": "^rank ([0-9]+): (\\S+) ms$", "unit": "ms"}
        })json");
    }

    Result<Workload> load()
    {
        EXPECT_TRUE(writeFileAtomically(folder.path() / "workload.json", manifest.dump()));
        return loadWorkload(folder.path());
    }

    std::string fault()
    {
        const auto loaded = load();
        return loaded ? "none" : describe(loaded.error());
    }

    testing::TemporaryFolder folder;
    json manifest;
};

TEST_F(ProgramManifest, IsReadWithItsCommandsAndPatterns)
{
    manifest["environment"] = {{"OMPI_MCA_btl", "self"}};
    manifest["timeouts_s"] = {{"run", 7}};
    const auto workload = load();
    ASSERT_TRUE(workload) << describe(workload.error());
    ASSERT_TRUE(workload->program);
    EXPECT_EQ(workload->program->unit_us, 1e3);
    EXPECT_EQ(workload->program->environment.at("OMPI_MCA_btl"), "self");
    EXPECT_EQ(workload->run_timeout, std::chrono::seconds(7));
    EXPECT_THAT(withPlaces(workload->program->run, {"a.cpp", "/job/{ranks}", 4}),
                ElementsAre("mpirun", "-n", "4", "/job/{ranks}"));
}

TEST_F(ProgramManifest, NamesTheFieldThatIsMissing)
{
    for (const char* field : {"name", "ranks", "sources", "build", "run", "results"}) {
        const json whole = manifest;
        manifest.erase(field);
        EXPECT_THAT(fault(), HasSubstr(std::string("\"") + field + "\"")) << field;
        manifest = whole;
    }
    for (const char* field : {"pass", "time", "unit"}) {
        const json whole = manifest;
        manifest["results"].erase(field);
        EXPECT_THAT(fault(), HasSubstr(std::string("\"results.") + field + "\"")) << field;
        manifest = whole;
    }
}

TEST_F(ProgramManifest, NamesTheFieldThatContradictsOrIsUnknown)
{
    const auto faultWith = [&](const char* pointer, const json& value) {
        const json whole = manifest;
        manifest[json::json_pointer(pointer)] = value;
        const std::string text = fault();
        manifest = whole;
        return text;
    };
    EXPECT_THAT(faultWith("/kind", "kernel"), HasSubstr("\"kind\""));
    EXPECT_THAT(faultWith("/tolerance", json::object()), HasSubstr("\"tolerance\""));
    EXPECT_THAT(faultWith("/build", {"mpicxx", "{source}"}), HasSubstr("must contain {binary}"));
    EXPECT_THAT(faultWith("/run", {"mpirun", "{binary}"}), HasSubstr("must contain {ranks}"));
    EXPECT_THAT(faultWith("/run", {"mpirun", "{ranks}", "{binary}", "{user}"}), HasSubstr("unknown placeholder"));
    EXPECT_THAT(faultWith("/sources/name", "../x.cpp"), HasSubstr("\"sources.name\""));
    EXPECT_THAT(faultWith("/sources/host", "/etc/passwd"), HasSubstr("outside"));
    EXPECT_THAT(faultWith("/results/pass", "PASS"), HasSubstr("one group"));
    EXPECT_THAT(faultWith("/results/time", "([0-9]+)"), HasSubstr("two groups"));
    EXPECT_THAT(faultWith("/results/time", "(([0-9]+)"), HasSubstr("no regular expression"));
    EXPECT_THAT(faultWith("/results/unit", "hours"), HasSubstr("\"results.unit\""));
    EXPECT_THAT(faultWith("/environment", {{"LD_PRELOAD", "x"}}), HasSubstr("LD_PRELOAD"));
    EXPECT_THAT(faultWith("/rounds", 0), HasSubstr("\"rounds\""));
}

/// This machine, said to have two GPUs; what it is told to run, it runs.
class MachineWithGpus : public LocalNode {
public:
    Result<NodeProbe> probe(std::stop_token /*stop*/) override
    {
        NodeProbe probe;
        probe.usable = true;
        probe.max_ranks = 2;
        return probe;
    }
};

class ProgramOnGpus : public ProgramManifest {
protected:
    void SetUp() override
    {
        ProgramManifest::SetUp();
        // A shell script: its markers are commands that it does not find.
        const std::string script = R"(// EVOLVE-BLOCK-START
// EVOLVE-BLOCK-END
for rank in 0 1; do
    [ "$CUDA_VISIBLE_DEVICES $NCCL_NVLS_ENABLE $OWN $OTHER" = "2,3 0 of the workload " ] && echo "rank $rank: PASS"
    echo "rank $rank: 1 ms"
done
)";
        for (const char* source : {"host.cpp", "seed.cpp"})
            ASSERT_TRUE(writeFileAtomically(folder.path() / source, script));
        manifest["ranks"] = {2};
        manifest["build"] = {"cp", "{source}", "{binary}"};
        manifest["run"] = {"sh", "{binary}", "{ranks}"};
        manifest["environment"] = {{"OWN", "of the workload"}, {"NCCL_NVLS_ENABLE", "1"}};
        manifest["rounds"] = 2;
        for (const auto& [name, value] :
             {std::pair("CUDA_VISIBLE_DEVICES", "2,3"), {"NCCL_NVLS_ENABLE", "0"}, {"OTHER", "nothing of its"}})
            ::setenv(name, value, 1);
    }

    void TearDown() override
    {
        for (const char* name : {"CUDA_VISIBLE_DEVICES", "NCCL_NVLS_ENABLE", "OTHER"})
            ::unsetenv(name);
    }

    std::string faultOfItsOwnProgram()
    {
        auto workload = load();
        if (!workload)
            return describe(workload.error());
        ProgramEvaluator evaluator(std::make_shared<MachineWithGpus>(), *workload, {}, {});
        const auto prepared = evaluator.prepare({});
        return prepared ? "none" : describe(prepared.error());
    }
};

TEST_F(ProgramOnGpus, IsToldWhichGpusToUseAndHowNcclIsToWork)
{
    manifest["gpus"] = true;
    EXPECT_EQ(faultOfItsOwnProgram(), "none");
}

TEST_F(ProgramOnGpus, WithoutThemIsToldNothingOfThem)
{
    manifest["gpus"] = false;
    EXPECT_THAT(faultOfItsOwnProgram(), HasSubstr("did not say that it passed"));
}

class ProgramOutput : public ::testing::Test {
protected:
    ProgramOutput()
    {
        const auto polynomial = std::regex::ECMAScript | std::regex_constants::__polynomial;
        spec.pass.regex = std::regex("^rank ([0-9]+): PASS$", polynomial);
        spec.time.regex = std::regex("^rank ([0-9]+): (\\S+) ms$", polynomial);
        spec.unit_us = 1e3;
        outcome.exit_code = 0;
        outcome.wall = std::chrono::seconds(1);
    }

    std::string faultOf(const std::string& text)
    {
        outcome.out = text;
        const auto times = readProgramOutput(spec, 2, outcome, {});
        return times ? "none" : std::string(toString(times.error().verdict)) + ": " + times.error().message;
    }

    static constexpr const char* passed = "rank 0: PASS\nrank 1: PASS\n";
    ProgramSpec spec;
    CommandOutcome outcome;
};

TEST_F(ProgramOutput, TheMakespanIsTheSlowestRanksTime)
{
    outcome.out = std::string("hello\nrank 1: 4.5 ms\r\nrank 0: 3e0 ms\n") + passed;
    const auto times = readProgramOutput(spec, 2, outcome, {});
    ASSERT_TRUE(times) << times.error().message;
    EXPECT_THAT(times->rank_us, ElementsAre(3000, 4500));
    EXPECT_EQ(times->makespan_us, 4500);
}

TEST_F(ProgramOutput, EveryRankMustSayThatItPassedOnce)
{
    EXPECT_EQ(faultOf("rank 0: PASS\nrank 0: 1 ms\nrank 1: 1 ms\n"),
              "wrong_result: Rank 1 did not say that it passed.");
    EXPECT_EQ(faultOf("rank 0: PASS\nrank 0: PASS\n"), "wrong_result: Rank 0 said twice that it passed.");
    EXPECT_EQ(faultOf(""), "wrong_result: Rank 0 did not say that it passed.");
}

TEST_F(ProgramOutput, ATimeMustBePossibleAndTheOnlyOne)
{
    const auto with = [&](const std::string& time) {
        return faultOf(std::string(passed) + "rank 0: 1 ms\nrank 1: " + time + " ms\n");
    };
    EXPECT_THAT(with("nan"), HasSubstr("timing_mismatch: Rank 1 told the time \"nan\""));
    EXPECT_THAT(with("inf"), HasSubstr("not a number"));
    EXPECT_THAT(with("1e999"), HasSubstr("not a number"));
    EXPECT_THAT(with("2x"), HasSubstr("not a number"));
    EXPECT_THAT(with("-3"), HasSubstr("not above zero"));
    EXPECT_THAT(with("0"), HasSubstr("not above zero"));
    EXPECT_THAT(with("1001"), HasSubstr("the whole program ran for 1e+06 µs"));
    EXPECT_EQ(with("1 ms\nrank 1: 2"), "timing_mismatch: Rank 1 told two times.");
    EXPECT_EQ(faultOf(std::string(passed) + "rank 0: 1 ms\n"), "timing_mismatch: Rank 1 told no time.");
    EXPECT_THAT(faultOf(std::string(passed) + "rank 2: 1 ms\n"), HasSubstr("not among the 2"));
    EXPECT_THAT(faultOf(std::string(passed) + "rank 99999999999999999999: 1 ms\n"), HasSubstr("not among the 2"));
}

TEST_F(ProgramOutput, AProgramThatFailedHasNoTimesWhateverItPrinted)
{
    const std::string good = std::string(passed) + "rank 0: 1 ms\nrank 1: 1 ms\n";
    EXPECT_EQ(faultOf(good), "none");
    outcome.exit_code = 3;
    EXPECT_EQ(faultOf(good), "crash: The program ended with exit code 3.");
    outcome.exit_code = 0;
    outcome.timed_out = true;
    EXPECT_THAT(faultOf(good), HasSubstr("timeout: "));
    outcome.timed_out = false;
    outcome.output_truncated = true;
    EXPECT_THAT(faultOf(good), HasSubstr("timing_mismatch: The program printed more than"));
}

TEST_F(ProgramOutput, ALineThatInvitesBacktrackingTakesNoTime)
{
    spec.pass.regex = std::regex("^((a+)+)+b$", std::regex::ECMAScript | std::regex_constants::__polynomial);
    EXPECT_THAT(faultOf(std::string(1000, 'a') + "\n"), HasSubstr("did not say"));
}

}  // namespace
}  // namespace cuco
