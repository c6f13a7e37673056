// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/evaluation/race_check.h"

#include "core/evaluation/harness_run.h"

#include <fmt/format.h>

#include <algorithm>

namespace cuco {

namespace {

void skipped(Evaluation& evaluation, const std::string& why)
{
    evaluation.remarks.push_back("Not checked for races: " + why);
}

/// The one that says most: with both accesses in the candidate's source.
const RaceReport& clearest(const std::vector<RaceReport>& races)
{
    const auto both =
        std::ranges::find_if(races, [](const RaceReport& race) { return race.first.line > 0 && race.second.line > 0; });
    return both == races.end() ? races.front() : *both;
}

void reject(Evaluation& evaluation, const std::vector<RaceReport>& races)
{
    const RaceReport& race = clearest(races);
    evaluation.verdict = Verdict::race;
    evaluation.message = describe(race);
    evaluation.detail.clear();
    for (const auto& each : races)
        evaluation.detail += fmt::format(
            "{}{}\n    {}\n    {}", evaluation.detail.empty() ? "" : "\n",
            each.memory_rank < 0 ? each.memory : fmt::format("{} of rank {}", each.memory, each.memory_rank),
            describe(each.first), describe(each.second));
    evaluation.at = {race.first.line > 0 ? race.first.line : race.second.line, evaluation.message};
    evaluation.race = race;
}

}  // namespace

RaceCheck::RaceCheck(std::filesystem::path workloads, const Workload& workload)
    : workload_(workload), toolchain_(std::move(workloads))
{
}

Result<void> RaceCheck::prepare(std::stop_token stop)
{
    const std::lock_guard guard(mutex_);
    if (prepared_)
        return {};
    auto probe = node_.probe(stop);
    if (!probe)
        return std::unexpected(probe.error());
    probe_ = std::move(*probe);
    if (auto ready = toolchain_.prepare(node_, workload_, stop); !ready)
        return ready;
    prepared_ = true;
    return {};
}

Result<void> RaceCheck::check(const std::string& source, const JobFolder* built, const EvaluationPlan& plan,
                              Evaluation& evaluation, std::stop_token stop)
{
    if (auto ready = prepare(stop); !ready)
        return ready;
    if (built)
        return run(*built, plan, evaluation, stop);
    const auto folder = node_.createJob();
    if (!folder)
        return std::unexpected(folder.error());
    const auto compiled = toolchain_.build(node_, **folder, source, stop);
    if (!compiled)
        return std::unexpected(compiled.error());
    if (!*compiled) {
        const auto& fault = compiled->error();
        skipped(evaluation, fault.line == 0
                                ? fault.first_error
                                : fmt::format("line {} cannot be emulated: {}", fault.line, fault.first_error));
        return {};
    }
    return run(**folder, plan, evaluation, stop);
}

Result<void> RaceCheck::run(const JobFolder& folder, const EvaluationPlan& plan, Evaluation& evaluation,
                            std::stop_token stop)
{
    EvaluationPlan emulated = plan;
    emulated.modelled = true;
    emulated.until = Stage::verify;
    emulated.verify_shapes = workload_.emulated_verify_shapes;
    emulated.timed_shapes.clear();
    if (emulated.verify_shapes.empty() || plan.ranks > probe_.max_ranks) {
        skipped(evaluation, "the workload has no shapes for it, or the emulated node too few ranks.");
        return {};
    }
    HarnessJob job = modelledJob(emulated, workload_);
    job.files = toolchain_.files();
    job.race = true;
    const auto ran = runHarness(node_, toolchain_, workload_, folder, job, HarnessMode::run, stop);
    if (!ran)
        return std::unexpected(ran.error());
    if (ran->outcome.cancelled)
        return failure("The evaluation was stopped.");
    if (!ran->report.races.empty())
        reject(evaluation, ran->report.races);
    else if (!ran->report.failures.empty())
        skipped(evaluation, "the emulated run failed: " + ran->report.failures.front().message);
    else if (!ran->report.done || !ran->report.violation.empty())
        skipped(evaluation, "the emulated run did not end as it should.");
    return {};
}

}  // namespace cuco
