// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/evaluation/harness_run.h"

#include <algorithm>

namespace cuco {

namespace {

// The harness's own watchdog comes first: it can say what hangs.
constexpr std::chrono::seconds grace{3};
// For so long the harness waits for its agents on several hosts: a cluster's queue is not the candidate's fault.
constexpr std::chrono::seconds agents_patience{60};
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
    run.report.text = std::move(outcome->report);
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
        for (std::size_t i = 0; i < span->hosts.size(); ++i)
            absolute.span.hosts.push_back({(*ranks)[i], span->hosts[i].name});
        absolute.span.launch = std::move(*launch);
    }
    const auto text = writeHarnessJob(workload, absolute);
    if (!text)
        return std::unexpected(text.error());
    if (auto put = node.put(folder, "job.txt", *text); !put)
        return std::unexpected(put.error());
    Command command = toolchain.harnessCommand(node, folder, "run");
    command.environment.insert(variables.begin(), variables.end());
    command.limits.wall = job.limit + grace + (absolute.span.hosts.empty() ? std::chrono::seconds(0) : agents_patience);
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
