// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
//
// Importing a million events. Prints figures; asserts none.
#include "core/trace/import.h"
#include "core/trace/overlap_report.h"

#include <benchmark/benchmark.h>
#include <fmt/format.h>
#include <sqlite3.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace {

constexpr int events = 1'000'000;

/// A file for the program's run.
class TraceFile {
public:
    explicit TraceFile(const char* name)
        : path_(std::filesystem::temp_directory_path() / fmt::format("cuco-bench-{}-{}", ::getpid(), name))
    {
    }
    ~TraceFile()
    {
        std::error_code ignored;
        std::filesystem::remove(path_, ignored);
    }
    const std::filesystem::path& path() const { return path_; }

private:
    std::filesystem::path path_;
};

/// As PyTorch's profiler writes them: half host calls, half kernels of four streams, 200 names, launches with arrows
/// left out.
void writeKineto(const std::filesystem::path& path)
{
    std::ofstream file(path);
    file << R"({"schemaVersion":1,"distributedInfo":{"rank":0},"traceEvents":[)";
    for (int i = 0; i < events; ++i) {
        file << (i ? ",\n" : "\n");
        if (i % 2 == 0) {
            file << fmt::format(
                R"({{"ph":"X","cat":"cpu_op","name":"aten::op_{}","pid":4242,"tid":4242,"ts":{}.{:03},"dur":1.250,)"
                R"("args":{{"External id":{},"Record function id":0,"Ev Idx":{}}}}})",
                i % 100, 1'700'000'000'000'000LL + i, i % 1000, i, i);
        } else {
            file << fmt::format(
                R"({{"ph":"X","cat":"kernel","name":"void at::native::kernel_{}<float, 4>","pid":0,"tid":{},)"
                R"("ts":{}.{:03},"dur":3.500,"args":{{"External id":{},"queued":0,"device":0,"context":1,"stream":{},)"
                R"("correlation":{},"registers per thread":32,"shared memory":0,"blocks per SM":1.5,"warps per SM":12,)"
                R"("grid":[128,1,1],"block":[256,1,1],"est. achieved occupancy %":50}}}})",
                i % 100, 7 + i % 8 / 2, 1'700'000'000'000'000LL + i, i % 1000, i, 7 + i % 8 / 2, i);
        }
    }
    file << "\n],\"traceName\":\"bench.json\"}";
}

void writeNsys(const std::filesystem::path& path)
{
    sqlite3* database = nullptr;
    sqlite3_open(path.c_str(), &database);
    const auto run = [&](const std::string& sql) { sqlite3_exec(database, sql.c_str(), nullptr, nullptr, nullptr); };
    run("CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT)");
    run("CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INT, end INT, deviceId INT, contextId INT, streamId INT, "
        "correlationId INT, globalPid INT, demangledName INT, shortName INT)");
    run("BEGIN");
    for (int i = 0; i < 200; ++i)
        run(fmt::format("INSERT INTO StringIds VALUES ({}, 'kernel_{}')", i, i));
    run(fmt::format(
        "WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < {}) INSERT INTO "
        "CUPTI_ACTIVITY_KIND_KERNEL SELECT i * 1000, i * 1000 + 3500, i % 2, 1, i / 2 % 4, i, 16777216 + i % 2, "
        "i % 200, i % 200 FROM n",
        events - 1));
    run("COMMIT");
    sqlite3_close(database);
}

void import(benchmark::State& state, const std::filesystem::path& path)
{
    std::size_t intervals = 0;
    for (auto _ : state) {
        const auto timeline = cuco::importTrace(path);
        if (!timeline) {
            state.SkipWithError(describe(timeline.error()).c_str());
            return;
        }
        intervals = 0;
        for (const auto& lane : timeline->lanes)
            intervals += lane.intervals.size();
    }
    state.counters["intervals"] = static_cast<double>(intervals);
    state.counters["MiB"] = static_cast<double>(std::filesystem::file_size(path)) / (1 << 20);
}

void importKineto(benchmark::State& state)
{
    const TraceFile file("kineto.json");
    writeKineto(file.path());
    import(state, file.path());
}

void importNsys(benchmark::State& state)
{
    const TraceFile file("nsys.sqlite");
    writeNsys(file.path());
    import(state, file.path());
}

void reportOverlap(benchmark::State& state)
{
    const TraceFile file("kineto.json");
    writeKineto(file.path());
    const auto timeline = cuco::importTrace(file.path());
    for (auto _ : state)
        benchmark::DoNotOptimize(cuco::overlapOf(*timeline));
}

BENCHMARK(importKineto)->Unit(benchmark::kMillisecond)->Iterations(3)->MeasureProcessCPUTime();
BENCHMARK(importNsys)->Unit(benchmark::kMillisecond)->Iterations(3)->MeasureProcessCPUTime();
BENCHMARK(reportOverlap)->Unit(benchmark::kMillisecond)->Iterations(3)->MeasureProcessCPUTime();

}  // namespace

BENCHMARK_MAIN();
