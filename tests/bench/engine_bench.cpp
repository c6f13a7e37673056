// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
// What the engine itself costs: candidates are neither compiled nor run.
#include "tests/support/fake_run.h"

#include <benchmark/benchmark.h>

#include <fmt/format.h>
#include <unistd.h>

#include <array>

namespace cuco {
namespace {

using testing::FakeEvaluator;

/// Enough tunables that the proposer does not run out, and a source of a usual length.
Workload largeWorkload(const std::filesystem::path& folder)
{
    const Workload workload = testing::fakeWorkload(folder, 3);
    std::string padding;
    for (int line = 0; line < 250; ++line)
        padding += fmt::format("// line {} of a kernel as long as they usually are\n", line);
    for (std::filesystem::path file : {workload.seed_source, workload.strategies[0].file, workload.strategies[1].file,
                                       workload.strategies[2].file}) {
        std::string text = testing::readText(file);
        std::string tunables;
        for (int i = 0; i < 4; ++i)
            tunables += fmt::format("CUCO_TUNE(extra{}, 1, 1, 2, 3, 4, 5, 6, 7, 8);\n", i);
        text.insert(text.find("// EVOLVE-BLOCK-END"), tunables);
        testing::writeText(file, text + padding);
    }
    return workload;
}

RunConfig configFor(int candidates)
{
    RunConfig config = testing::fakeConfig(1, candidates / 4);
    config.islands = 2;
    config.children = 2;
    return config;
}

void engineOverhead(benchmark::State& state)
{
    const int candidates = static_cast<int>(state.range(0));
    for ([[maybe_unused]] auto iteration : state) {
        state.PauseTiming();
        const testing::TemporaryFolder folder;
        const auto path = folder / "run.cuco";
        auto run = testing::fakeRun(path, largeWorkload(folder / "workload"), configFor(candidates));
        state.ResumeTiming();
        run->start();
        run->wait();
        run.reset();
        state.PauseTiming();
        const auto settled = RunFile::open(path, RunFile::Access::read).value()->snapshot()->candidates.size();
        state.counters["candidates"] = static_cast<double>(settled);
        state.counters["s/candidate"] =
            benchmark::Counter(static_cast<double>(settled), benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
        state.counters["file_bytes"] = benchmark::Counter(static_cast<double>(std::filesystem::file_size(path)),
                                                          benchmark::Counter::kDefaults, benchmark::Counter::kIs1024);
        state.ResumeTiming();
    }
}
BENCHMARK(engineOverhead)->Arg(1'000)->Unit(benchmark::kMillisecond)->Iterations(1)->UseRealTime();

void snapshotLoad(benchmark::State& state)
{
    const int candidates = static_cast<int>(state.range(0));
    const testing::TemporaryFolder folder;
    const auto path = folder / "run.cuco";
    {
        auto file = RunFile::create(path, configFor(candidates)).value();
        FakeEvaluator evaluator(testing::fakeWorkload(folder / "workload"), {});
        for (int number = 0; number < candidates; ++number) {
            Candidate candidate;
            candidate.number = number;
            candidate.id = fmt::format("c{}", number);
            candidate.strategy = "s1";
            candidate.summary = "ctas 8 → 16";
            candidate.tunables = {{"ctas", 16}, {"rows", number}};
            const std::string source = testing::strategyText("s1", 1.1, 16, number);
            candidate.source_sha256 = sha256Hex(source);
            file->addCandidate(candidate, source, {}).value();
            EvaluationRequest request;
            request.source = source;
            const auto result = evaluator.measure(request, {}, {}).value();
            candidate.evaluation = result.evaluation;
            file->settleCandidate(candidate, result.timeline).value();
        }
    }
    for ([[maybe_unused]] auto iteration : state) {
        auto file = RunFile::open(path, RunFile::Access::read).value();
        benchmark::DoNotOptimize(file->snapshot().value());
    }
    state.counters["file_bytes"] = benchmark::Counter(static_cast<double>(std::filesystem::file_size(path)),
                                                      benchmark::Counter::kDefaults, benchmark::Counter::kIs1024);
}
BENCHMARK(snapshotLoad)->Arg(200)->Arg(10'000)->Unit(benchmark::kMillisecond)->UseRealTime();

}  // namespace
}  // namespace cuco

int main(int argc, char** argv)
{
    std::array<char, 256> host{};
    ::gethostname(host.data(), host.size() - 1);
    benchmark::AddCustomContext("machine", host.data());
    benchmark::Initialize(&argc, argv);
    benchmark::RunSpecifiedBenchmarks();
    benchmark::Shutdown();
}
