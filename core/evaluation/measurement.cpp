// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/evaluation/measurement.h"

#include "core/evaluation/harness_run.h"
#include "core/evaluation/judgement.h"
#include "core/nodes/cache_folder.h"

namespace cuco {

namespace {

/// A GPU runs one candidate at a time, of all processes of this user.
Result<FileLock> leaseGpus(std::stop_token stop)
{
    const auto folder = cacheFolder();
    if (!folder)
        return std::unexpected(folder.error());
    return FileLock::acquire(*folder / "gpu.lease", stop);
}

}  // namespace

Result<HarnessReport> runModelled(const Bench& bench, const EvaluationPlan& plan, const JobFolder& folder,
                                  const std::filesystem::path& program, bool checked, Evaluation& evaluation,
                                  std::stop_token stop)
{
    const auto& [node, toolchain, workload] = bench;
    evaluation.stage = Stage::verify;
    HarnessJob job = modelledJob(plan, workload);
    job.files = toolchain.files();
    job.files.candidate = program;
    auto run = runHarness(node, toolchain, workload, folder, job, HarnessMode::run, stop);
    if (!run)
        return std::unexpected(run.error());
    if (auto judged = judgeRun(job, run->outcome, run->report, evaluation); !judged)
        return std::unexpected(judged.error());
    if (evaluation.verified())
        judgeUse(plan.backend, run->report, evaluation);
    if (!evaluation.verified() || !checked)
        return std::move(run->report);
    const auto check = runHarness(node, toolchain, workload, folder, job, HarnessMode::check, stop);
    if (!check)
        return std::unexpected(check.error());
    if (auto judged = judgeCheck(job, check->outcome, check->report, evaluation); !judged)
        return std::unexpected(judged.error());
    if (evaluation.verified())
        evaluation.stage = plan.until;
    return std::move(run->report);
}

Result<HarnessReport> runOnGpus(const Bench& bench, const JobFolder& folder, const HarnessJob& job,
                                const std::map<std::string, std::string>& variables, Evaluation& evaluation,
                                std::stop_token stop)
{
    const auto lease = leaseGpus(stop);
    if (!lease)
        return std::unexpected(lease.error());
    auto run = runGpuHarness(bench.node, bench.toolchain, bench.workload, folder, job, variables, stop);
    if (!run)
        return std::unexpected(run.error());
    if (auto judged = judgeGpuRun(job, run->outcome, run->report, evaluation); !judged)
        return std::unexpected(judged.error());
    for (const auto& [phase, ms] : run->report.spent_ms)
        evaluation.spent_ms[phase] += ms;
    return std::move(run->report);
}

}  // namespace cuco
