// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
// What the analysis of a long source takes: all strategies of the product, each in a namespace of its own, again and
// again up to so many lines. In this process, without the start of a worker.
#include "core/source/analysis.h"
#include "tests/support/analysis_samples.h"

#include <benchmark/benchmark.h>

#include <sstream>

namespace cuco {
namespace {

std::string longSource(std::int64_t lines)
{
    const std::filesystem::path root = CUCO_TEST_ROOT;
    std::vector<std::string> sources;
    for (const std::string name : {"gemm_allgather", "kv_transfer", "moe_layer", "ring_attention"}) {
        for (const auto& entry : std::filesystem::directory_iterator(root / "workloads" / name / "strategies")) {
            if (entry.path().extension() == ".cu") {
                sources.push_back(readFile(entry.path()).value_or(""));
            }
        }
    }
    std::ranges::sort(sources);
    std::string includes, text;
    std::int64_t count = 0;
    for (int part = 0; count < lines; ++part) {
        text += "namespace part_" + std::to_string(part) + " {\n";
        std::istringstream source(sources[static_cast<std::size_t>(part) % sources.size()]);
        for (std::string line; std::getline(source, line); ++count) {
            if (!line.starts_with("#include")) {
                text += line + "\n";
            } else if (part < static_cast<int>(sources.size())) {
                includes += line + "\n";
            }
        }
        text += "}\n";
    }
    return includes + text;
}

void analyzeLongSource(benchmark::State& state)
{
    AnalysisRequest request = testing::analysisRequest(longSource(state.range(0)));
    for (const std::string name : {"gemm_allgather", "kv_transfer", "moe_layer", "ring_attention"}) {
        request.include_folders.push_back(std::filesystem::path(CUCO_TEST_ROOT) / "workloads" / name);
    }
    for ([[maybe_unused]] auto iteration : state) {
        const auto analysis = analyzeCudaHere(request);
        if (!analysis) {
            state.SkipWithError(describe(analysis.error()).c_str());
            break;
        }
        state.counters["lines"] = static_cast<double>(analysis->lines);
        state.counters["operations"] = static_cast<double>(analysis->operations.size());
        state.counters["communication"] = static_cast<double>(analysis->communication.size());
        state.counters["unresolved"] = static_cast<double>(analysis->unresolved.size());
    }
}
BENCHMARK(analyzeLongSource)
    ->Arg(300)
    ->Arg(5000)
    ->Unit(benchmark::kMillisecond)
    ->MeasureProcessCPUTime()
    ->UseRealTime();

}  // namespace
}  // namespace cuco

BENCHMARK_MAIN();
