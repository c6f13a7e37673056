// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/evaluation/evaluator.h"

#include "core/base/files.h"
#include "core/evaluation/baselines.h"
#include "core/evaluation/candidate_build.h"
#include "core/evaluation/directive_check.h"
#include "core/evaluation/evaluation_plan.h"
#include "core/evaluation/frozen_template.h"
#include "core/evaluation/measurement.h"
#include "core/evaluation/race_check.h"
#include "core/evaluation/shape_timing.h"
#include "core/source/launch_before.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <optional>

namespace cuco {

namespace {

class Stopwatch {
public:
    double ms() const
    {
        return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin_).count();
    }

private:
    std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

}  // namespace

struct Evaluator::Private {
    Private(std::shared_ptr<Node> on_node, std::unique_ptr<Toolchain> with_toolchain, Workload of_workload,
            DesignSpace space, EvaluationDefaults when_unsaid)
        : node(std::move(on_node)),
          toolchain(std::move(with_toolchain)),
          workload(std::move(of_workload)),
          design_space(std::move(space)),
          defaults(std::move(when_unsaid)),
          baselines(*node, *toolchain, workload),
          race_check(defaults.workloads, workload)
    {
    }

    Bench bench() const { return {*node, *toolchain, workload}; }
    Result<HarnessReport> runCandidate(const EvaluationPlan& plan, const Compiled& compiled, Evaluation& evaluation,
                                       std::stop_token stop) const;
    void compare(const EvaluationPlan& plan, HarnessReport& report, Evaluation& evaluation) const;
    Result<void> timeAgain(const EvaluationRequest& request, const Compiled& compiled, const Evaluation& when_compiled,
                           EvaluationPlan& plan, HarnessReport& report, Evaluation& evaluation,
                           std::stop_token stop) const;
    std::optional<Timeline> profile(const EvaluationPlan& plan, const Compiled& compiled, HarnessReport& report,
                                    Evaluation& evaluation) const;
    Result<void> diagnose(const EvaluationPlan& plan, const JobFolder& folder, const std::string& source,
                          Evaluation& evaluation, std::stop_token stop) const;

    const std::shared_ptr<Node> node;
    const std::unique_ptr<Toolchain> toolchain;
    const Workload workload;
    const DesignSpace design_space;
    const EvaluationDefaults defaults;
    Baselines baselines;
    RaceCheck race_check;

    NodeProbe probe;
    std::optional<KernelSource> frozen_template;
    std::vector<BaselineResult> baseline_results;
};

Result<HarnessReport> Evaluator::Private::runCandidate(const EvaluationPlan& plan, const Compiled& compiled,
                                                       Evaluation& evaluation, std::stop_token stop) const
{
    if (plan.modelled)
        return runModelled(bench(), plan, *compiled.job, "candidate.so", true, evaluation, stop);
    evaluation.stage = Stage::verify;
    HarnessJob job = candidateJob(plan, workload);
    job.files = toolchain->files();
    if (plan.until >= Stage::benchmark)
        job.baselines = baselines.strongest(plan);
    for (auto& shape : job.shapes)
        if (shape.rounds > 0)
            shape.against = {baselines.at(plan.ranks, shape.shape.name).strongest};
    if (compiled.for_profiler && plan.until >= Stage::profile)
        job.traced = {ProfiledBuild::file_name, toolchain->profileVariables()};
    auto report = runOnGpus(bench(), *compiled.job, job, {}, evaluation, stop);
    if (report && evaluation.verified() && plan.until >= Stage::benchmark)
        evaluation.stage = Stage::benchmark;
    return report;
}

void Evaluator::Private::compare(const EvaluationPlan& plan, HarnessReport& report, Evaluation& evaluation) const
{
    for (const auto& shape : plan.timed_shapes) {
        const BaselineShape alone = baselines.at(plan.ranks, shape.name);
        std::optional<std::vector<double>> turns;
        if (const auto found = report.baseline_samples_us.find(alone.strongest);
            found != report.baseline_samples_us.end() && found->second.contains(shape.name))
            turns = found->second.at(shape.name);
        else if (!plan.modelled)
            evaluation.remarks.push_back("Baseline " + alone.strongest + " took no turns at shape " + shape.name +
                                         "; the speed-up is over its times without the candidate. " +
                                         report.baseline_problems[alone.strongest]);
        ShapeTiming timing = timeShape(shape.name, plan.ranks, report.samples_us.at(shape.name), alone, plan.modelled,
                                       std::move(turns), plan.modelled ? 1 : report.bursts[shape.name]);
        timing.event_us = std::move(report.event_us[shape.name]);
        timing.conditions = std::move(report.conditions[shape.name]);
        evaluation.timings.push_back(std::move(timing));
    }
    for (const auto& timing : evaluation.timings) {
        const BaselineShape alone = baselines.at(plan.ranks, timing.shape);
        judgeTime(timing, alone.least_us, evaluation);
        if (evaluation.verified() && !plan.modelled)
            judgeClocks(timing.shape, timing.samples_us, timing.event_us, evaluation);
        if (evaluation.verified() && !plan.modelled)
            judgeBaseline(timing, alone, evaluation);
        if (!evaluation.verified())
            return;
    }
}

/// Times that do not add up, once more with other inputs: a busy machine slows a baseline for a while, a cheat does it
/// again.
Result<void> Evaluator::Private::timeAgain(const EvaluationRequest& request, const Compiled& compiled,
                                           const Evaluation& when_compiled, EvaluationPlan& plan, HarnessReport& report,
                                           Evaluation& evaluation, std::stop_token stop) const
{
    auto new_plan = planEvaluation(workload, probe, defaults, request);
    if (!new_plan)
        return std::unexpected(new_plan.error());
    plan = std::move(*new_plan);
    Evaluation again = when_compiled;
    again.input_seed = plan.seed;
    again.spent_ms = std::move(evaluation.spent_ms);
    again.remarks.push_back("It was timed twice. The first time: " + evaluation.message);
    auto new_report = runCandidate(plan, compiled, again, stop);
    if (!new_report)
        return std::unexpected(new_report.error());
    report = std::move(*new_report);
    if (again.verified())
        compare(plan, report, again);
    evaluation = std::move(again);
    return {};
}

/// The score stands without a profile; a remark says why there is none.
std::optional<Timeline> Evaluator::Private::profile(const EvaluationPlan& plan, const Compiled& compiled,
                                                    HarnessReport& report, Evaluation& evaluation) const
{
    const auto timeline = report.timelines.find(plan.timed_shapes.front().name);
    if (timeline != report.timelines.end()) {
        evaluation.stage = Stage::profile;
        return std::move(timeline->second);
    }
    evaluation.remarks.push_back("The profile is missing. " + (!compiled.for_profiler ? compiled.no_profile_because
                                                               : !report.trace_problem.empty() ? report.trace_problem
                                                               : report.remarks.empty() ? "The harness reported none."
                                                                                        : report.remarks.front()));
    return std::nullopt;
}

/// Streams no longer run beside each other then, so this says where to look, never what is right.
Result<void> Evaluator::Private::diagnose(const EvaluationPlan& plan, const JobFolder& folder,
                                          const std::string& source, Evaluation& evaluation, std::stop_token stop) const
{
    EvaluationPlan verified = plan;
    verified.until = Stage::verify;
    HarnessJob job = candidateJob(verified, workload);
    job.files = toolchain->files();
    Evaluation again;
    const auto report = runOnGpus(bench(), folder, job, {{"CUDA_LAUNCH_BLOCKING", "1"}}, again, stop);
    if (!report)
        return std::unexpected(report.error());
    evaluation.detail += evaluation.detail.empty() || evaluation.detail.ends_with('\n') ? "" : "\n";
    evaluation.detail += "Run again with each launch waited for: ";
    evaluation.detail += again.verified() ? "it passes, so what fails depends on what runs at the same time."
                                          : fmt::format("{}: {}", toString(again.verdict), again.message);
    if (const auto launch = again.at.line > 0 ? launchBefore(source, again.at.line) : std::nullopt)
        evaluation.detail += fmt::format(" The kernel that was launched last before that line is {}, in line {}.",
                                         launch->kernel, launch->line);
    else if (!again.verified() && again.at.line == 0)
        evaluation.detail += " With CUCO_TRY(cudaGetLastError()) behind every launch its line would be known.";
    evaluation.detail += '\n';
    return {};
}

Evaluator::Evaluator(std::shared_ptr<Node> node, std::unique_ptr<Toolchain> toolchain, Workload workload,
                     DesignSpace design_space, EvaluationDefaults defaults)
    : d_(std::make_unique<Private>(std::move(node), std::move(toolchain), std::move(workload), std::move(design_space),
                                   std::move(defaults)))
{
}

Evaluator::~Evaluator() = default;

const Workload& Evaluator::workload() const
{
    return d_->workload;
}

const NodeProbe& Evaluator::probe() const
{
    return d_->probe;
}

const std::vector<BaselineResult>& Evaluator::baselines() const
{
    return d_->baseline_results;
}

Result<void> Evaluator::prepare(std::stop_token stop)
{
    auto probe = d_->node->probe(stop);
    if (!probe)
        return std::unexpected(probe.error());
    d_->probe = std::move(*probe);
    if (!d_->probe.usable)
        return std::unexpected(d_->probe.problems.empty() ? Error{"The node cannot be used.", d_->probe.node, ""}
                                                          : d_->probe.problems.front());
    EvaluationRequest nothing_special;
    nothing_special.until = d_->defaults.until;
    const auto plan = planEvaluation(d_->workload, d_->probe, d_->defaults, nothing_special);
    if (!plan)
        return std::unexpected(plan.error());
    auto frozen_template = frozenTemplate(d_->workload);
    if (!frozen_template)
        return std::unexpected(frozen_template.error());
    d_->frozen_template = std::move(*frozen_template);
    if (auto prepared = d_->toolchain->prepare(*d_->node, d_->workload, stop); !prepared)
        return prepared;
    if (auto built = d_->baselines.build(plan->modelled, stop); !built)
        return built;
    if (auto measured = d_->baselines.measure(*plan, stop); !measured)
        return measured;
    if (plan->until >= Stage::benchmark)
        d_->baseline_results = d_->baselines.results(*plan);
    return {};
}

Result<Evaluator::Compiled> Evaluator::compile(const EvaluationRequest& request, std::stop_token stop)
{
    const Stopwatch stopwatch;
    Compiled compiled;
    if (request.screened)
        compiled.evaluation = screen(request.source, *d_->frozen_template, d_->design_space, d_->probe.capabilities);
    compiled.evaluation.modelled = d_->probe.modelled;
    compiled.evaluation.sandboxed = d_->probe.sandboxed;
    if (compiled.evaluation.verified() && request.check_directive && !d_->defaults.analysis.empty()) {
        AnalysisRequest analysis;
        analysis.declarations = d_->defaults.analysis;
        analysis.include_folders = {d_->workload.folder, d_->defaults.workloads / "harness"};
        if (auto checked = checkDirective(std::move(analysis), request.source, compiled.evaluation, stop); !checked)
            return std::unexpected(checked.error());
    }
    if (!compiled.evaluation.verified())
        return compiled;
    std::optional<ProfiledBuild> profiled;
    if (request.until >= Stage::profile && !d_->probe.modelled)
        profiled.emplace(*d_->node, *d_->toolchain, request.source, stop);
    auto folder =
        compileCandidate(*d_->node, *d_->toolchain, request.source, backendOf(request), compiled.evaluation, stop);
    if (!folder)
        return std::unexpected(folder.error());
    compiled.job = std::move(*folder);
    if (profiled && compiled.evaluation.verified()) {
        const auto put = profiled->putInto(*compiled.job);
        compiled.for_profiler = put.has_value();
        if (!put)
            compiled.no_profile_because = describe(put.error());
    }
    compiled.evaluation.compile_ms = stopwatch.ms();
    return compiled;
}

Result<EvaluationResult> Evaluator::measure(const EvaluationRequest& request, Compiled compiled, std::stop_token stop)
{
    EvaluationResult result;
    Evaluation& evaluation = result.evaluation;
    evaluation = std::move(compiled.evaluation);
    if (!evaluation.verified() || request.until < Stage::verify)
        return result;
    auto plan = planEvaluation(d_->workload, d_->probe, d_->defaults, request);
    if (!plan)
        return std::unexpected(plan.error());
    // Requests may name shapes and rank counts that prepare() did not measure.
    if (auto measured = d_->baselines.measure(*plan, stop); !measured)
        return std::unexpected(measured.error());
    const Stopwatch stopwatch;
    if (request.check_races && !d_->defaults.workloads.empty()) {
        evaluation.stage = Stage::verify;
        // Before it gets a GPU.
        if (auto checked = d_->race_check.check(request.source, plan->modelled ? compiled.job.get() : nullptr, *plan,
                                                evaluation, stop);
            !checked)
            return std::unexpected(checked.error());
        if (!evaluation.verified())
            return result;
    }
    const Evaluation when_compiled = evaluation;
    evaluation.input_seed = plan->seed;
    auto report = d_->runCandidate(*plan, compiled, evaluation, stop);
    if (!report)
        return std::unexpected(report.error());
    if (evaluation.verified() && plan->until >= Stage::benchmark)
        d_->compare(*plan, *report, evaluation);
    if (evaluation.verdict == Verdict::timing_mismatch && !evaluation.timings.empty())
        if (auto timed = d_->timeAgain(request, compiled, when_compiled, *plan, *report, evaluation, stop); !timed)
            return std::unexpected(timed.error());
    // An illegal address is out_of_bounds.
    const bool fault = evaluation.verdict == Verdict::crash || evaluation.verdict == Verdict::out_of_bounds ||
                       evaluation.verdict == Verdict::deadlock || evaluation.verdict == Verdict::setup_failed;
    if (request.diagnose && fault && !plan->modelled)
        if (auto diagnosed = d_->diagnose(*plan, *compiled.job, request.source, evaluation, stop); !diagnosed)
            return std::unexpected(diagnosed.error());
    if (plan->modelled) {
        if (auto timeline = report->timelines.find(plan->timed_shapes.front().name);
            timeline != report->timelines.end())
            result.timeline = std::move(timeline->second);
    } else if (evaluation.verified() && plan->until >= Stage::profile) {
        result.timeline = d_->profile(*plan, compiled, *report, evaluation);
    }
    if (result.timeline && !evaluation.timings.empty()) {
        const double bound = evaluation.timings.front().bound_us;
        evaluation.overlap = overlapOf(*result.timeline, bound > 0 ? std::optional(bound) : std::nullopt);
    }
    evaluation.run_ms = stopwatch.ms();
    return result;
}

}  // namespace cuco
