// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/evaluation/harness_run.h"

#include <algorithm>

namespace cuco {

namespace {

// The harness's own watchdog comes first: it can say what hangs.
constexpr std::chrono::seconds grace{3};
constexpr std::uint64_t smallest_file_limit = 256u << 20;

}  // namespace

Result<HarnessRun> runHarness(Node& node, const Toolchain& toolchain, const Workload& workload, const JobFolder& folder,
                              const HarnessJob& job, HarnessMode mode, std::stop_token stop)
{
    const auto text = writeHarnessJob(workload, job);
    if (!text)
        return std::unexpected(text.error());
    const auto dump_bytes = largestDumpBytes(workload, job);
    if (!dump_bytes)
        return std::unexpected(dump_bytes.error());
    if (auto put = node.put(folder, "job.txt", *text); !put)
        return std::unexpected(put.error());
    Command command = toolchain.harnessCommand(node, folder, mode == HarnessMode::run ? "run" : "check");
    command.limits.wall = job.limit + grace;
    command.limits.file_bytes = std::max(smallest_file_limit, *dump_bytes + 4096);
    auto outcome = node.run(command, stop);
    if (!outcome)
        return std::unexpected(outcome.error());
    HarnessRun run;
    run.report = parseHarnessReport(outcome->report);
    outcome->report.clear();
    run.outcome = std::move(*outcome);
    return run;
}

Result<HarnessRun> runGpuHarness(Node& node, const Toolchain& toolchain, const Workload& workload,
                                 const JobFolder& folder, const HarnessJob& job,
                                 const std::map<std::string, std::string>& variables, std::stop_token stop)
{
    HarnessJob absolute = job;
    // The ranks need not have the supervisor's working directory.
    absolute.files.candidate = folder.path() / job.files.candidate;
    if (const auto span = node.span()) {
        auto ranks = span->deal(job.ranks);
        if (!ranks)
            return std::unexpected(ranks.error());
        auto launch = launchCommand(*span, stop);
        if (!launch)
            return std::unexpected(launch.error());
        absolute.hosts = {std::move(*ranks), std::move(*launch)};
    }
    const auto text = writeHarnessJob(workload, absolute);
    if (!text)
        return std::unexpected(text.error());
    if (auto put = node.put(folder, "job.txt", *text); !put)
        return std::unexpected(put.error());
    Command command = toolchain.harnessCommand(node, folder, "run");
    command.environment.insert(variables.begin(), variables.end());
    command.limits.wall = job.limit + grace;
    auto outcome = node.run(command, stop);
    if (!outcome)
        return std::unexpected(outcome.error());
    HarnessRun run;
    run.report = parseHarnessReport(outcome->report);
    outcome->report.clear();
    run.outcome = std::move(*outcome);
    return run;
}

}  // namespace cuco
