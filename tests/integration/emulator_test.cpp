// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/files.h"
#include "core/base/subprocess.h"
#include "core/nodes/build_cache.h"
#include "core/nodes/host_compiler.h"
#include "core/nodes/local_node.h"
#include "core/source/emulation_rewriter.h"
#include "core/trace/timeline.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include <unistd.h>
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <sstream>

namespace cuco {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::MatchesRegex;

const fs::path root = CUCO_TEST_ROOT;
const fs::path emulator = root / "workloads" / "emulator";
const fs::path fixtures = root / "tests" / "integration" / "emulator";

std::vector<std::string> entriesOf(const fs::path& file)
{
    std::istringstream lines(*readFile(file));
    std::vector<std::string> entries;
    for (std::string line; std::getline(lines, line);)
        if (!line.empty())
            entries.push_back(line);
    return entries;
}

struct FixtureRun {
    int exit_code = -1;
    std::string out;
};

/// Compiles fixtures with the system's compiler and runs them in the driver, as the harness does with candidates.
class Emulator : public testing::Test {
protected:
    void SetUp() override
    {
        const auto found = findHostCompiler({});
        ASSERT_TRUE(found.has_value());
        compiler = *found;
        buildDriver();
        folder = fs::temp_directory_path() / fmt::format("cuco-emulator-{}-{}", ::getpid(), counter++);
        fs::create_directories(folder);
    }
    void TearDown() override { fs::remove_all(folder); }

    /// The driver with the whole runtime, built once for all tests of these sources.
    void buildDriver()
    {
        BuildInputs inputs;
        inputs.add("compiler", compiler.toString());
        inputs.add("driver with its functions", *readFile(fixtures / "driver.cpp"));
        ASSERT_TRUE(inputs.addFolder(emulator).has_value());
        const auto built = cachedBuild("emulator-test", inputs.key(), {}, [&](const fs::path& place) -> Result<void> {
            std::vector<fs::path> sources{fixtures / "driver.cpp"};
            for (const auto& source : entriesOf(emulator / "runtime_sources.txt"))
                sources.push_back(emulator / source);
            std::vector<std::vector<std::string>> compile;
            std::vector<std::string> link{compiler.program.string()};
            for (std::size_t i = 0; i < sources.size(); ++i) {
                link.push_back(fmt::format("{}.o", i));
                compile.push_back({compiler.program.string(), "-O2", "-std=c++20", "-c", "-I", emulator.string(), "-I",
                                   (emulator / "include").string(), sources[i].string(), "-o", link.back()});
            }
            link.insert(link.end(), {"-Wl,--dynamic-list=" + (emulator / "exports.txt").string(),
                                     "-Wl,--export-dynamic-symbol=driver_*", "-ldl", "-o", "driver"});
            if (auto compiled = runBuild(node, place, std::move(compile), {}); !compiled)
                return compiled;
            return runBuild(node, place, {link}, {});
        });
        ASSERT_TRUE(built.has_value()) << describe(built.error());
        driver = *built / "driver";
    }

    CommandOutcome command(std::vector<std::string> argv, std::map<std::string, std::string> more = {})
    {
        Command request;
        request.argv = std::move(argv);
        request.working_directory = folder;
        request.environment = scrubbedEnvironment();
        request.environment.merge(more);
        request.limits.wall = std::chrono::seconds(120);
        auto outcome = runCommand(request);
        EXPECT_TRUE(outcome.has_value());
        return outcome ? *outcome : CommandOutcome{};
    }

    CommandOutcome compile(const std::string& source, std::vector<std::string> definitions = {})
    {
        const auto rewritten = rewriteForEmulation(source, "fixture.cu");
        EXPECT_TRUE(rewritten.has_value());
        EXPECT_TRUE(writeFileAtomically(folder / "fixture.cpp", *rewritten).has_value());
        std::vector<std::string> argv{compiler.program.string()};
        std::ranges::copy(entriesOf(emulator / "flags.txt"), std::back_inserter(argv));
        std::ranges::copy(definitions, std::back_inserter(argv));
        argv.insert(argv.end(), {"-I", (emulator / "include").string(), "-I", (root / "workloads" / "harness").string(),
                                 "fixture.cpp", "-o", "fixture.so"});
        return command(argv);
    }

    FixtureRun run(const std::string& name, int ranks, const std::vector<std::string>& definitions = {},
                   const std::vector<std::string>& arguments = {}, std::map<std::string, std::string> environment = {})
    {
        const auto compiled = compile(*readFile(fixtures / name), definitions);
        EXPECT_EQ(compiled.exit_code, 0) << compiled.err;
        std::vector<std::string> argv{driver.string(), "fixture.so", std::to_string(ranks)};
        argv.insert(argv.end(), arguments.begin(), arguments.end());
        const auto outcome = command(argv, std::move(environment));
        return {outcome.exit_code, outcome.out};
    }

    FixtureRun fault(int number) { return run("faults.cu", 2, {fmt::format("-DFIXTURE_CASE={}", number)}); }
    FixtureRun ginFault(int number) { return run("gin_faults.cu", 3, {fmt::format("-DFIXTURE_CASE={}", number)}); }

    /// Number of the line of the fixture that ends in "// line: NAME".
    static int lineOf(const std::string& name, const std::string& fixture)
    {
        std::istringstream lines(*readFile(fixtures / fixture));
        std::string line;
        for (int number = 1; std::getline(lines, line); ++number)
            if (line.ends_with("// line: " + name))
                return number;
        ADD_FAILURE() << name;
        return -1;
    }

    static void expectFailure(const FixtureRun& run, const std::string& kind, const std::string& line_name,
                              const std::vector<std::string>& words, const std::string& fixture = "faults.cu")
    {
        EXPECT_EQ(run.exit_code, 3) << run.out;
        EXPECT_THAT(run.out, testing::StartsWith("failure " + kind + " ")) << run.out;
        if (!line_name.empty()) {
            EXPECT_THAT(run.out, HasSubstr(fmt::format(" line {}\n", lineOf(line_name, fixture))));
        }
        for (const auto& word : words)
            EXPECT_THAT(run.out, HasSubstr(word));
    }

    static void expectGinFailure(const FixtureRun& run, const std::string& kind, const std::string& line_name,
                                 const std::vector<std::string>& words)
    {
        expectFailure(run, kind, line_name, words, "gin_faults.cu");
    }

    static Timeline timelineIn(const FixtureRun& run)
    {
        const auto begin = run.out.find("trace ");
        EXPECT_NE(begin, std::string::npos) << run.out;
        const auto text = run.out.substr(begin + 6, run.out.find('\n', begin) - begin - 6);
        const auto timeline = timelineFromJson(nlohmann::json::parse(text, nullptr, false));
        EXPECT_TRUE(timeline.has_value()) << text;
        return timeline.value_or(Timeline{});
    }

    static double microseconds(const FixtureRun& run, const std::string& name)
    {
        const auto at = run.out.find("\n" + name + " ");
        const auto first = run.out.starts_with(name + " ") ? 0 : at + 1;
        EXPECT_TRUE(first == 0 || at != std::string::npos) << run.out;
        return std::strtod(run.out.c_str() + first + name.size() + 1, nullptr);
    }

    static inline int counter = 0;
    HostCompiler compiler;
    LocalNode node;
    fs::path driver, folder;
};

TEST_F(Emulator, RunsTheDeviceLanguageWithRightResults)
{
    EXPECT_EQ(run("basics.cu", 2).out.find("good"), 0u);
}

TEST_F(Emulator, RunsLibrariesCollectivesAndGraphsWithRightResultsOnEveryRank)
{
    const auto result = run("features.cu", 4);
    EXPECT_EQ(result.exit_code, 0) << result.out;
}

TEST_F(Emulator, MultipliesByWarpgroupsAndByWarpsAsTheLoopsSay)
{
    const auto result = run("products.cu", 1);
    EXPECT_EQ(result.exit_code, 0) << result.out;
}

TEST_F(Emulator, GivesAWarpgroupsProductsOnlyToWhomWaitsForThem)
{
    const auto early = run("products.cu", 1, {"-DFIXTURE_CASE=1"});
    EXPECT_THAT(early.out, HasSubstr("element 0 by way 1 is 0 instead of"));
    expectFailure(run("products.cu", 1, {"-DFIXTURE_CASE=2"}), "out_of_bounds", "", {"outside the shared memory"},
                  "products.cu");
    expectFailure(run("products.cu", 1, {"-DFIXTURE_CASE=3"}), "crash", "",
                  {"The lanes of a warp do not begin the same products"}, "products.cu");
}

TEST_F(Emulator, GathersThroughLsaWindowsOnOneTwoAndFourRanks)
{
    for (const int ranks : {1, 2, 4})
        EXPECT_EQ(run("gather.cu", ranks).exit_code, 0) << ranks;
}

TEST_F(Emulator, ShowsThatAPeerIsReadTooEarlyWhenTheBarrierIsMissing)
{
    const auto result = run("gather.cu", 4, {"-DFIXTURE_BARRIER=0"});
    EXPECT_NE(result.exit_code, 0);
    EXPECT_THAT(result.out, HasSubstr("too early"));
}

TEST_F(Emulator, NamesTheRanksThatAreMissingInAnLsaBarrier)
{
    const auto result = run("gather.cu", 4, {"-DFIXTURE_SKIP_RANK=2"});
    expectFailure(result, "deadlock", "",
                  {"in LSA barrier 0 (arrived: ranks 0, 1, 3; missing: 2)", "kernel gather: 0 of 4 blocks finished"});
}

TEST_F(Emulator, CatchesAWriteBehindAPeersWindow)
{
    expectFailure(run("gather.cu", 2, {"-DFIXTURE_OVERRUN=20"}), "out_of_bounds", "",
                  {"writes 16 bytes at", "past the end of a 8192-byte allocation on rank"});
}

TEST_F(Emulator, CatchesAccessesOutsideWhatTheyMayUse)
{
    expectFailure(fault(0), "out_of_bounds", "fill",
                  {"0 bytes past the end of a 4000-byte allocation", "thread (104, 0, 0)"});
    expectFailure(fault(1), "out_of_bounds", "read", {"the host's stack"});
    expectFailure(fault(2), "out_of_bounds", "shared", {"outside the shared memory of its block", "128 dynamic"});
    expectFailure(fault(11), "out_of_bounds", "fill", {"no live allocation"});
    expectFailure(fault(12), "out_of_bounds", "fill", {"writes 4 bytes at byte 0 of guarded part"});
    expectFailure(fault(13), "out_of_bounds", "host", {"Host code reads"});
    expectFailure(fault(14), "out_of_bounds", "copy", {"cudaMemcpy reads 44 bytes from byte 3960"});
}

TEST_F(Emulator, SaysWhoWaitsForWhatWhenNothingCanHappenAnyMore)
{
    expectFailure(fault(3), "deadlock", "spin", {"polling byte 0 of", "in __syncthreads with 63 of 64 threads"});
    expectFailure(fault(4), "deadlock", "grid", {"968 not started, because 32 fill the GPU"});
    expectFailure(fault(5), "deadlock", "", {"polling byte 0 of"});
    expectFailure(fault(6), "deadlock", "", {"warp operation with mask 0xffffffff", "16 of 32 threads"});
    expectFailure(fault(15), "deadlock", "", {"ncclAllGather number 0 waits for the other ranks"});
}

TEST_F(Emulator, TakesATransferOnlyBetweenTwoRegisteredBuffersOrTwoOthers)
{
    expectFailure(
        fault(18), "crash", "",
        {"Rank 0 sends from memory that is not registered", "rank 1 receives it in memory that is in a window"});
    expectFailure(fault(19), "crash", "", {"Rank 0 sends from memory that is in a window", "not registered"});
    EXPECT_EQ(fault(20).exit_code, 0);
}

TEST_F(Emulator, TakesACollectiveOnlyWhenAllRanksHaveTheirBuffersRegisteredAlike)
{
    expectFailure(fault(21), "crash", "",
                  {"In ncclAllGather rank 0 receives in memory at byte 0 of its symmetric window number 0",
                   "rank 1 receives in memory that is not registered"});
    expectFailure(fault(22), "crash", "", {"at byte 0 of its symmetric window", "at byte 256 of its symmetric window"});
    expectFailure(fault(24), "crash", "",
                  {"In ncclAllReduce rank 0 sends from memory that is not registered",
                   "rank 1 sends from memory at byte 0 of its symmetric window"});
    EXPECT_EQ(fault(23).exit_code, 0);
}

TEST_F(Emulator, ReportsCrashesWithKernelAndThread)
{
    expectFailure(fault(7), "crash", "", {"64 KiB of stack", "recursive, block (0, 0, 0)"});
    expectFailure(fault(8), "crash", "divide", {"divided by zero"});
    expectFailure(fault(10), "crash", "trap", {"__trap()"});
    expectFailure(fault(17), "crash", "", {"aborted", "host code of rank 0"});
}

TEST_F(Emulator, TreatsAWaitForAnEventThatWasNeverRecordedAsNone)
{
    EXPECT_EQ(fault(16).exit_code, 0);
}

TEST_F(Emulator, GivesTheSameTimesInEveryRun)
{
    const auto first = run("features.cu", 2), second = run("features.cu", 2);
    EXPECT_THAT(first.out, MatchesRegex("good at [0-9]+ ns\n"));
    EXPECT_EQ(first.out, second.out);
    EXPECT_EQ(run("gather.cu", 4).out, run("gather.cu", 4).out);
}

TEST_F(Emulator, OrdersStrategiesAsAnH200Does)
{
    const std::string model = (emulator / "h200.model").string();
    const auto four = run("overlap.cu", 4, {}, {model, "32768", "1024"});
    ASSERT_EQ(four.exit_code, 0) << four.out;
    std::fputs(four.out.c_str(), stdout);
    // On four H200s: 342, 361, 705 and 467 us.
    EXPECT_NEAR(microseconds(four, "product"), 342, 342 * 0.1);
    EXPECT_NEAR(microseconds(four, "gather"), 361, 361 * 0.1);
    EXPECT_NEAR(microseconds(four, "sequential"), 705, 705 * 0.1);
    EXPECT_NEAR(microseconds(four, "overlapped"), 467, 467 * 0.1);
}

TEST_F(Emulator, GivesAProductThatFindsTooFewSmsAnotherWave)
{
    const auto one = run("sharing.cu", 1, {}, {(emulator / "h200.model").string(), "32768", "1024"});
    ASSERT_EQ(one.exit_code, 0) << one.out;
    EXPECT_NEAR(microseconds(one, "beside"), 2 * microseconds(one, "alone"), 0.1 * microseconds(one, "alone"));
    EXPECT_GT(microseconds(one, "told"), 1.05 * microseconds(one, "alone")) << "fewer SMs are never faster";
    EXPECT_LT(microseconds(one, "told"), 0.8 * microseconds(one, "beside"))
        << "smaller tiles fill the SMs that are left";
}

TEST_F(Emulator, ReadsFasterWhenAThreadHasMoreInFlight)
{
    const auto one = run("sharing.cu", 1, {}, {(emulator / "h200.model").string(), "32768", "1024"});
    ASSERT_EQ(one.exit_code, 0) << one.out;
    EXPECT_GT(microseconds(one, "sixteen"), 3 * microseconds(one, "sixty-four"));
}

TEST_F(Emulator, WritesATimelineInWhichStreamsOverlap)
{
    const std::string model = (emulator / "h200.model").string();
    const auto result = run("overlap.cu", 2, {}, {model, "32768", "1024"}, {{"FIXTURE_TRACE", "overlapped"}});
    const auto timeline = timelineIn(result);
    EXPECT_EQ(timeline.source, TimeSource::modelled);
    std::map<std::pair<int, std::string>, const Lane*> lanes;
    for (const auto& lane : timeline.lanes)
        lanes[{lane.rank, lane.name}] = &lane;
    ASSERT_TRUE(lanes.contains({0, "stream 2"}) && lanes.contains({1, "copy engine"}));
    const auto& products = lanes[{0, "stream 2"}]->intervals;
    const auto& copies = lanes[{0, "copy engine"}]->intervals;
    ASSERT_EQ(copies.size(), 4u);
    EXPECT_EQ(products.front().activity, Activity::compute);
    EXPECT_EQ(copies.front().activity, Activity::communication);
    EXPECT_EQ(copies.front().bytes, 16384u);
    EXPECT_LT(copies[0].begin_ns, products[1].end_ns);
    EXPECT_GT(copies[0].end_ns, products[1].begin_ns);
}

TEST_F(Emulator, RunsEveryFunctionOfGinOnOneTwoAndFourRanks)
{
    for (const int ranks : {1, 2, 4})
        EXPECT_EQ(run("gin.cu", ranks).out.find("good"), 0u) << ranks;
}

TEST_F(Emulator, ShowsThatAPutIsReadTooEarlyOrItsSourceIsUsedAgain)
{
    EXPECT_EQ(ginFault(0).exit_code, 0);
    for (const int mistake : {2, 3, 4, 5})  // no wait, signal before payload, another context's signal, no flush
        EXPECT_THAT(ginFault(mistake).out, HasSubstr("elements wrong")) << mistake;
}

TEST_F(Emulator, SaysWhoWaitsForWhichSignalCounterOrBarrierOfGin)
{
    expectGinFailure(
        ginFault(6), "deadlock", "wait",
        {"Kernel ring of rank 2 waits for ever for GIN signal 0 of context 0 to reach 1; it is at 0 (no rank "
         "has signalled it)"});
    expectGinFailure(ginFault(7), "deadlock", "barrier",
                     {"in GIN barrier 0 of context 0 (arrived: ranks 0, 1; missing: rank 2)"});
    expectGinFailure(ginFault(12), "deadlock", "counter", {"for GIN counter 0 of context 0 to reach 2; it is at 1"});
}

TEST_F(Emulator, CatchesPutsOutsideTheirWindowAndWhatGinForbids)
{
    expectGinFailure(ginFault(8), "out_of_bounds", "put", {"4096 bytes at offset 4100 of a window of 8192 bytes"});
    expectGinFailure(ginFault(9), "out_of_bounds", "signal", {"GIN signal 9", "created with 1 (ginSignalCount)"});
    expectGinFailure(ginFault(10), "crash", "mixed", {"SignalInc and SignalAdd without a resetSignal"});
    expectGinFailure(ginFault(11), "crash", "reset", {"resets GIN signal 0 while 1 more to it is under way"});
    expectGinFailure(ginFault(13), "out_of_bounds", "context", {"GIN context 4"});
    expectGinFailure(ginFault(14), "out_of_bounds", "session", {"GIN barrier 1", "created with 1"});
    expectGinFailure(ginFault(15), "out_of_bounds", "theirs", {"belongs to a barrier"});
    expectGinFailure(ginFault(16), "out_of_bounds", "peer", {"rank 5 of 3"});
    expectGinFailure(ginFault(17), "crash", "session", {"set ginForceEnable"});
}

TEST_F(Emulator, LetsAPutThatNobodyWaitsForArriveWhenItsMemoryIsInUseElsewhere)
{
    expectGinFailure(ginFault(1), "out_of_bounds", "unsignalled",
                     {"A put arrives at byte 4096 of guarded part", "its receiver did not wait for it"});
}

TEST_F(Emulator, ModelsGinAsANetworkAdapterWithALaneOfItsOwn)
{
    const std::string model = (emulator / "h200.model").string();
    const auto result = run("gin_times.cu", 2, {}, {model});
    ASSERT_EQ(result.exit_code, 0) << result.out;
    EXPECT_EQ(result.out, run("gin_times.cu", 2, {}, {model}).out);
    // Figures of h200.model: 7.8 us and 0.5 us to issue; 16 MiB at 48 GB/s are 350 us, and one port is shared by two.
    EXPECT_NEAR(microseconds(result, "round_trip"), 16.7, 1.5);
    EXPECT_NEAR(microseconds(result, "put"), 358, 10);
    EXPECT_NEAR(microseconds(result, "two_puts"), 708, 20);
    const auto timeline = timelineIn(result);
    const auto lane = std::ranges::find_if(
        timeline.lanes, [](const Lane& each) { return each.rank == 0 && each.name == "GIN to rank 1"; });
    ASSERT_NE(lane, timeline.lanes.end());
    const auto& longest = *std::ranges::max_element(lane->intervals, {}, &Interval::bytes);
    EXPECT_EQ(longest.bytes, 16u << 20);
    EXPECT_EQ(longest.activity, Activity::communication);
    EXPECT_EQ(timeline.names.at(longest.name), "put");
    EXPECT_GT(longest.end_ns - longest.begin_ns, 350'000);
}

TEST_F(Emulator, CompilerErrorsNameTheLineOfTheSource)
{
    const auto compiled = compile(
        "#include <cuda_runtime.h>\n__global__ void k(int* p) {\n  __shared__ int s;\n"
        "  s = missing;\n}\nvoid f() { k<<<1, 2>>>(nullptr);\n  k<<<1, 2>>>(\"x\"); }\n");
    EXPECT_NE(compiled.exit_code, 0);
    EXPECT_THAT(compiled.err, HasSubstr("fixture.cu:4:"));
    EXPECT_THAT(compiled.err, HasSubstr("fixture.cu:7:"));
}

}  // namespace
}  // namespace cuco
