// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/evaluation/cascade.h"

#include "core/base/files.h"
#include "core/evaluation/harness_run.h"
#include "core/evaluation/judgement.h"
#include "core/evaluation/object_guard.h"
#include "core/evaluation/shape_timing.h"
#include "core/nodes/cache_folder.h"

#include <fmt/format.h>

namespace cuco {

namespace {

void buildFailed(const BuildFault& fault, Evaluation& evaluation)
{
    evaluation.verdict = fault.not_emulable ? Verdict::not_emulable
                         : fault.timed_out  ? Verdict::timeout
                                            : Verdict::compile_error;
    evaluation.message =
        fault.line == 0 ? fault.first_error : fmt::format("Line {}: {}", fault.line, fault.first_error);
    evaluation.detail = fault.log;
    evaluation.at = {fault.line, fault.first_error};
}

/// Looks into what was built, where it lies on this machine.
void guardObject(const JobFolder& folder, std::string_view backend, Evaluation& evaluation)
{
    const auto bytes = readFile(folder.path() / "candidate.so");
    const auto symbols = bytes ? readObjectSymbols(*bytes) : std::nullopt;
    if (!symbols)
        return;
    if (auto gaming = findGamingInObject(*symbols, backend)) {
        evaluation.verdict = gaming->verdict;
        evaluation.message = std::move(gaming->fault.message);
    }
}

/// A GPU runs one candidate at a time, of all processes of this user.
Result<FileLock> leaseGpus(std::stop_token stop)
{
    const auto folder = cacheFolder();
    if (!folder)
        return std::unexpected(folder.error());
    return FileLock::acquire(*folder / "gpu.lease", stop);
}

std::optional<Timeline> timelineOf(HarnessReport& report, const EvaluationPlan& plan)
{
    const auto found = report.timelines.find(plan.timed_shapes.front().name);
    if (found == report.timelines.end())
        return std::nullopt;
    return std::move(found->second);
}

}  // namespace

Result<std::shared_ptr<JobFolder>> Cascade::compile(const std::string& source, std::string_view backend,
                                                    Evaluation& evaluation, std::stop_token stop) const
{
    evaluation.stage = Stage::compile;
    auto folder = node_.createJob();
    if (!folder)
        return folder;
    const auto built = toolchain_.build(node_, **folder, source, stop);
    if (!built)
        return std::unexpected(built.error());
    if (!*built)
        buildFailed(built->error(), evaluation);
    else if (!backend.empty())
        guardObject(**folder, backend, evaluation);
    return folder;
}

Result<Measurement> Cascade::measure(const EvaluationPlan& plan, const JobFolder& candidate, const JobFolder* baseline,
                                     Evaluation& evaluation, std::stop_token stop) const
{
    std::optional<FileLock> lease;
    if (!plan.modelled) {
        auto acquired = leaseGpus(stop);
        if (!acquired)
            return std::unexpected(acquired.error());
        lease = std::move(*acquired);
    }
    Measurement measurement;
    if (auto done = verify(plan, candidate, evaluation, measurement, stop); !done)
        return std::unexpected(done.error());
    if (!evaluation.verified() || plan.until < Stage::benchmark)
        return measurement;
    evaluation.stage = Stage::benchmark;
    if (!plan.modelled)
        if (auto done = timeInTurns(plan, candidate, baseline, evaluation, measurement, stop); !done)
            return std::unexpected(done.error());
    if (!evaluation.verified() || plan.until < Stage::profile)
        return measurement;
    evaluation.stage = Stage::profile;
    if (!plan.modelled)
        if (auto done = profile(plan, candidate, measurement, stop); !done)
            return std::unexpected(done.error());
    return measurement;
}

Result<void> Cascade::verify(const EvaluationPlan& plan, const JobFolder& candidate, Evaluation& evaluation,
                             Measurement& measurement, std::stop_token stop) const
{
    evaluation.stage = Stage::verify;
    HarnessJob job = verifyJob(plan, workload_);
    job.files = toolchain_.files();
    auto run = runHarness(node_, toolchain_, workload_, candidate, job, HarnessMode::run, stop);
    if (!run)
        return std::unexpected(run.error());
    if (auto judged = judgeRun(job, run->outcome, run->report, evaluation); !judged || !evaluation.verified())
        return judged;
    judgeUse(plan.backend, run->report, evaluation);
    if (!evaluation.verified())
        return {};
    const auto check = runHarness(node_, toolchain_, workload_, candidate, job, HarnessMode::check, stop);
    if (!check)
        return std::unexpected(check.error());
    measurement.samples_us = std::move(run->report.samples_us);
    measurement.timeline = timelineOf(run->report, plan);
    return judgeCheck(job, check->outcome, check->report, evaluation);
}

Result<void> Cascade::takeTurn(const HarnessJob& job, const JobFolder& folder, Evaluation& evaluation,
                               SamplesByShape& samples, std::stop_token stop) const
{
    const auto run = runHarness(node_, toolchain_, workload_, folder, job, HarnessMode::run, stop);
    if (!run)
        return std::unexpected(run.error());
    if (auto judged = judgeRun(job, run->outcome, run->report, evaluation); !judged || !evaluation.verified())
        return judged;
    for (const auto& [shape, times] : run->report.samples_us) {
        auto& all = samples[shape];
        all.insert(all.end(), times.begin(), times.end());
        if (const auto& events = run->report.event_us.at(shape); !events.empty() && evaluation.verified())
            judgeClocks(shape, times, events, evaluation);
    }
    return {};
}

Result<void> Cascade::timeInTurns(const EvaluationPlan& plan, const JobFolder& candidate, const JobFolder* baseline,
                                  Evaluation& evaluation, Measurement& measurement, std::stop_token stop) const
{
    HarnessJob job = timeJob(plan, workload_);
    job.files = toolchain_.files();
    // A B B A: a drift of clocks or temperature that is linear in time falls on both alike.
    for (const bool candidates_turn : {false, true, true, false}) {
        if (candidates_turn) {
            if (auto taken = takeTurn(job, candidate, evaluation, measurement.samples_us, stop);
                !taken || !evaluation.verified())
                return taken;
        } else if (baseline != nullptr) {
            Evaluation of_baseline;
            if (auto taken = takeTurn(job, *baseline, of_baseline, measurement.baseline_samples_us, stop); !taken)
                return taken;
            if (!of_baseline.verified())
                return failure("The baseline failed while it was timed: " + of_baseline.message, "",
                               "Run cucoctl eval on the workload's host.cu to see whether the node is in order.");
        }
    }
    return {};
}

Result<void> Cascade::profile(const EvaluationPlan& plan, const JobFolder& candidate, Measurement& measurement,
                              std::stop_token stop) const
{
    HarnessJob job = traceJob(plan, workload_);
    job.files = toolchain_.files();
    auto run = runHarness(node_, toolchain_, workload_, candidate, job, HarnessMode::run, stop);
    if (!run)
        return std::unexpected(run.error());
    // The score stands without a profile; the overlap report is then missing.
    if (run->report.failures.empty() && run->report.violation.empty())
        measurement.timeline = timelineOf(run->report, plan);
    return {};
}

}  // namespace cuco
