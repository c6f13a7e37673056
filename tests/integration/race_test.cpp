// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/files.h"
#include "core/base/subprocess.h"
#include "core/nodes/build_cache.h"
#include "core/nodes/host_compiler.h"
#include "core/nodes/local_node.h"
#include "core/source/emulation_rewriter.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <unistd.h>
#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <sstream>

/// The emulator's race checker on small programs, each with its counterpart that does it right.
namespace cuco {
namespace {

namespace fs = std::filesystem;

const fs::path root = CUCO_TEST_ROOT;
const fs::path emulator = root / "workloads" / "emulator";
const fs::path integration = root / "tests" / "integration";

std::vector<std::string> entriesOf(const fs::path& file)
{
    std::istringstream lines(*readFile(file));
    std::vector<std::string> entries;
    for (std::string line; std::getline(lines, line);)
        if (!line.empty())
            entries.push_back(line);
    return entries;
}

/// "write store", "read load": an access and the name of its line, or its number where it has none.
using Pair = std::pair<std::string, std::string>;

Pair pairOf(const std::string& a, const std::string& b)
{
    return a < b ? Pair{a, b} : Pair{b, a};
}

struct Races {
    std::set<Pair> pairs;
    std::string out;
};

class RaceChecker : public testing::Test {
protected:
    void SetUp() override
    {
        const auto found = findHostCompiler({});
        ASSERT_TRUE(found.has_value());
        compiler = *found;
        buildDriver();
        folder = fs::temp_directory_path() / fmt::format("cuco-races-{}-{}", ::getpid(), counter++);
        fs::create_directories(folder);
    }
    void TearDown() override { fs::remove_all(folder); }

    /// The driver with the whole runtime, built once for all tests of these sources.
    void buildDriver()
    {
        const auto source = integration / "emulator" / "driver.cpp";
        BuildInputs inputs;
        inputs.add("compiler", compiler.toString());
        inputs.add("driver of races", *readFile(source));
        ASSERT_TRUE(inputs.addFolder(emulator).has_value());
        const auto built = cachedBuild("emulator-test", inputs.key(), {}, [&](const fs::path& place) -> Result<void> {
            std::vector<fs::path> sources{source};
            for (const auto& entry : entriesOf(emulator / "runtime_sources.txt"))
                sources.push_back(emulator / entry);
            std::vector<std::vector<std::string>> compile;
            std::vector<std::string> link{compiler.program.string()};
            for (std::size_t i = 0; i < sources.size(); ++i) {
                link.push_back(fmt::format("{}.o", i));
                compile.push_back({compiler.program.string(), "-O2", "-std=c++20", "-c", "-I", emulator.string(), "-I",
                                   (emulator / "include").string(), sources[i].string(), "-o", link.back()});
            }
            link.insert(link.end(), {"-rdynamic", "-ldl", "-o", "driver"});
            if (auto compiled = runBuild(node, place, std::move(compile), {}); !compiled)
                return compiled;
            return runBuild(node, place, {link}, {});
        });
        ASSERT_TRUE(built.has_value()) << describe(built.error());
        driver = *built / "driver";
    }

    CommandOutcome command(std::vector<std::string> argv, const std::map<std::string, std::string>& more = {})
    {
        Command request;
        request.argv = std::move(argv);
        request.working_directory = folder;
        request.environment = scrubbedEnvironment();
        for (const auto& [name, value] : more)
            request.environment[name] = value;
        request.limits.wall = std::chrono::seconds(120);
        auto outcome = runCommand(request);
        EXPECT_TRUE(outcome.has_value());
        return outcome ? *outcome : CommandOutcome{};
    }

    Races run(const fs::path& file, int ranks, const std::vector<std::string>& definitions = {})
    {
        const std::string source = *readFile(integration / file);
        const auto rewritten = rewriteForEmulation(source, "fixture.cu");
        EXPECT_TRUE(rewritten.has_value());
        EXPECT_TRUE(writeFileAtomically(folder / "fixture.cpp", *rewritten).has_value());
        std::vector<std::string> argv{compiler.program.string()};
        std::ranges::copy(entriesOf(emulator / "flags.txt"), std::back_inserter(argv));
        std::ranges::copy(definitions, std::back_inserter(argv));
        argv.insert(argv.end(), {"-I", (emulator / "include").string(), "fixture.cpp", "-o", "fixture.so"});
        const auto compiled = command(argv);
        EXPECT_EQ(compiled.exit_code, 0) << compiled.err;
        const auto outcome = command({driver.string(), "fixture.so", std::to_string(ranks)}, {{"FIXTURE_RACES", "1"}});
        EXPECT_EQ(outcome.exit_code, 0) << outcome.out;
        return {pairsIn(outcome.out, namesOf(source)), outcome.out};
    }

    Races runCase(const std::string& file, int number, int ranks = 1)
    {
        return run(fs::path("races") / file, ranks, {fmt::format("-DFIXTURE_CASE={}", number)});
    }

    /// Lines that end in "// line: NAME".
    static std::map<int, std::string> namesOf(const std::string& source)
    {
        std::map<int, std::string> names;
        std::istringstream lines(source);
        std::string line;
        for (int number = 1; std::getline(lines, line); ++number)
            if (const auto at = line.find("// line: "); at != std::string::npos)
                names[number] = line.substr(at + 9);
        return names;
    }

    static std::set<Pair> pairsIn(const std::string& out, const std::map<int, std::string>& names)
    {
        std::set<Pair> pairs;
        std::istringstream lines(out);
        std::vector<std::string> sides;
        for (std::string line; std::getline(lines, line);) {
            const auto at = line.rfind(", line ");
            if (!line.starts_with("  ") || at == std::string::npos)
                continue;
            const int number = std::stoi(line.substr(at + 7));
            const auto access = line.substr(2, line.find(' ', 2) - 2);
            const auto name = names.find(number);
            sides.push_back(access + " " + (name == names.end() ? std::to_string(number) : name->second));
            if (sides.size() == 2) {
                pairs.insert(pairOf(sides[0], sides[1]));
                sides.clear();
            }
        }
        return pairs;
    }

    static void expectRace(const Races& races, const std::string& a, const std::string& b)
    {
        EXPECT_EQ(races.pairs, std::set<Pair>{pairOf(a, b)}) << races.out;
    }
    static void expectNone(const Races& races) { EXPECT_TRUE(races.pairs.empty()) << races.out; }

    static inline int counter = 0;
    HostCompiler compiler;
    LocalNode node;
    fs::path driver, folder;
};

TEST_F(RaceChecker, HoldsLsaBarriersToTheirOrder)
{
    expectNone(run("races/barriers.cu", 4));
    for (const char* order : {"release", "acquire", "relaxed"}) {
        const auto races = run("races/barriers.cu", 4, {fmt::format("-DORDER={}", order)});
        expectRace(races, "write store", "read load");
        EXPECT_THAT(races.out, testing::HasSubstr("in kernel gather, block 0, thread 0, line")) << order;
    }
}

TEST_F(RaceChecker, MissesNoMissingLsaBarrier)
{
    expectRace(run("races/barriers.cu", 4, {"-DENTRY=0"}), "write store", "read load");
    expectRace(run("races/barriers.cu", 4, {"-DEXIT=0"}), "write store", "read load");
}

TEST_F(RaceChecker, LetsABarrierOfOneBlockCoverTheSameBlockOfPeersOnly)
{
    expectRace(run("races/barriers.cu", 2, {"-DEXIT_INDEX=(1-blockIdx.x)"}), "write store", "read load");
}

TEST_F(RaceChecker, FindsAPutIntoAnothersSlot)
{
    expectNone(run("races/slots.cu", 4));
    const auto races = run("races/slots.cu", 4, {"-DOVERLAP=3"});
    expectRace(races, "write push", "write push");
}

TEST_F(RaceChecker, FindsWhatABarrierOfTheBlockOrWarpWouldOrder)
{
    expectRace(runCase("shared.cu", 0), "write stage", "read other warp");
    expectNone(runCase("shared.cu", 1));
    expectRace(runCase("shared.cu", 2), "write stage for the warp", "read other lane");
    expectNone(runCase("shared.cu", 3));
    expectRace(runCase("shared.cu", 4), "write stage again", "read last round");
    expectNone(runCase("shared.cu", 5));
    expectRace(runCase("shared.cu", 6), "atomic count", "read counted");
    expectNone(runCase("shared.cu", 7));
    expectRace(runCase("shared.cu", 8), "write stage for half", "read half");
    expectNone(runCase("shared.cu", 9));
    expectNone(runCase("shared.cu", 10));
    expectNone(runCase("shared.cu", 11));
}

TEST_F(RaceChecker, UnderstandsFlagsWithFencesOrdersAndScopes)
{
    for (const int right : {0, 1, 4, 8, 9, 10})
        expectNone(runCase("flags.cu", right));
    for (const int wrong : {2, 3, 5, 6, 7})
        expectRace(runCase("flags.cu", wrong), "write give", "read take");
    for (const int right : {8, 9})
        expectNone(runCase("flags.cu", right, 2));
    // A fence of the device is none for another one.
    for (const int wrong : {0, 10})
        expectRace(runCase("flags.cu", wrong, 2), "write give", "read take");
}

TEST_F(RaceChecker, UnderstandsTheLastBlockAndTheGridBarrier)
{
    expectNone(runCase("reduction.cu", 0));
    expectNone(runCase("reduction.cu", 1));
    expectRace(runCase("reduction.cu", 2), "write first step", "read second step");
}

TEST_F(RaceChecker, FollowsStreamsEventsAndHosts)
{
    for (const int wrong : {0, 2, 4})
        expectRace(runCase("streams.cu", wrong), "write make", "read use");
    for (const int right : {1, 3, 9, 10, 11, 13})
        expectNone(runCase("streams.cu", right, 2));
}

TEST_F(RaceChecker, SeesCopiesLibraryCallsAndHostsAtTheirLines)
{
    expectRace(runCase("streams.cu", 5), "write make", "copy copy");
    expectRace(runCase("streams.cu", 6), "write make", "write clear");
    expectRace(runCase("streams.cu", 7), "write make", "read product");
    expectRace(runCase("streams.cu", 8), "write make", "read collective");
    expectRace(runCase("streams.cu", 12), "copy to host", "read host");
}

TEST_F(RaceChecker, TakesAPutForAnAccessOfItsOwnThatSignalsAndFlushesOrder)
{
    expectNone(runCase("gin.cu", 0, 3));
    EXPECT_TRUE(runCase("gin.cu", 1, 3).pairs.contains(pairOf("read load", "write put")));
    expectRace(runCase("gin.cu", 2, 3), "write store", "read put");
    expectRace(runCase("gin.cu", 3, 3), "write store", "read unreleased");
    expectRace(runCase("gin.cu", 4, 3), "write put", "read load");
    EXPECT_TRUE(runCase("gin.cu", 5, 3).pairs.contains(pairOf("read load", "write put")));
    expectRace(runCase("gin.cu", 6, 3), "read put", "write reuse");
    EXPECT_TRUE(runCase("gin.cu", 7, 3).pairs.contains(pairOf("read load", "write put")));
    expectRace(runCase("gin.cu", 8, 3), "write value", "read load");
}

TEST_F(RaceChecker, IsSilentOnTheEmulatorsOwnFixtures)
{
    for (const char* name : {"basics.cu", "features.cu", "gather.cu", "overlap.cu", "gin.cu"})
        expectNone(run(fs::path("emulator") / name, 2));
}

TEST_F(RaceChecker, ReportsTheSameInEveryRun)
{
    EXPECT_EQ(run("races/barriers.cu", 4, {"-DEXIT=0"}).out, run("races/barriers.cu", 4, {"-DEXIT=0"}).out);
}

}  // namespace
}  // namespace cuco
