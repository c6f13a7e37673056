// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/evaluation/evaluator.h"

#include "core/base/files.h"
#include "core/evaluation/cascade.h"
#include "core/evaluation/evaluation_plan.h"
#include "core/evaluation/race_check.h"
#include "core/evaluation/shape_timing.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <mutex>
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

Result<KernelSource> readTemplate(const Workload& workload)
{
    const auto& file = workload.seed_source.empty() && !workload.strategies.empty() ? workload.strategies.front().file
                                                                                    : workload.seed_source;
    const auto text = readFile(file);
    if (!text)
        return std::unexpected(text.error());
    auto source = KernelSource::parse(*text);
    if (!source)
        return failure(source.error().message, fmt::format("{}:{}", file.string(), source.error().line),
                       "Correct the evolve markers of the workload's seed.");
    return std::move(*source);
}

}  // namespace

struct Evaluator::Private {
    Private(std::shared_ptr<Node> on_node, std::unique_ptr<Toolchain> with_toolchain, Workload of_workload,
            DesignSpace space, EvaluationDefaults when_unsaid)
        : node(std::move(on_node)),
          toolchain(std::move(with_toolchain)),
          workload(std::move(of_workload)),
          design_space(std::move(space)),
          defaults(std::move(when_unsaid)),
          cascade(*node, *toolchain, workload),
          race_check(defaults.workloads, workload)
    {
    }

    Result<EvaluationResult> measure(const EvaluationPlan& plan, const JobFolder& folder, Evaluation evaluation,
                                     bool is_baseline, std::stop_token stop);
    Result<void> compare(const EvaluationPlan& plan, const Measurement& measurement, bool is_baseline,
                         Evaluation& evaluation) const;
    Result<void> buildBaseline(std::stop_token stop);
    Result<void> ensureBaseline(const EvaluationPlan& plan, std::stop_token stop);
    Result<EvaluationResult> measureBaseline(const EvaluationPlan& plan, std::stop_token stop);

    const std::shared_ptr<Node> node;
    const std::unique_ptr<Toolchain> toolchain;
    const Workload workload;
    const DesignSpace design_space;
    const EvaluationDefaults defaults;
    const Cascade cascade;
    RaceCheck race_check;

    NodeProbe probe;
    std::optional<KernelSource> frozen_template;
    std::vector<EvaluationResult> baseline_results;
    std::string baseline_name;
    std::shared_ptr<JobFolder> baseline_folder;
    double baseline_compile_ms = 0;

    std::mutex baseline_run_mutex;  ///< one at a time: its job folder is the same for all
    mutable std::mutex baseline_mutex;
    std::map<std::pair<int, std::string>, std::vector<double>> baseline_samples;  ///< by ranks and shape; guarded
};

Result<void> Evaluator::Private::compare(const EvaluationPlan& plan, const Measurement& measurement, bool is_baseline,
                                         Evaluation& evaluation) const
{
    for (const auto& shape : plan.timed_shapes) {
        const auto bound = boundUs(workload, shape, plan.ranks, toolchain->rates());
        if (!bound)
            return std::unexpected(bound.error());
        const auto& samples = measurement.samples_us.at(shape.name);
        BaselineTimes baseline{baseline_name, samples};
        if (const auto turns = measurement.baseline_samples_us.find(shape.name);
            turns != measurement.baseline_samples_us.end()) {
            baseline.samples_us = turns->second;
        } else if (!is_baseline) {
            const std::lock_guard guard(baseline_mutex);
            baseline.samples_us = baseline_samples.at({plan.ranks, shape.name});
        }
        evaluation.timings.push_back(
            timeShape(shape.name, plan.ranks, samples, std::move(baseline), *bound, plan.modelled));
    }
    judgeTimes(evaluation);
    return {};
}

Result<EvaluationResult> Evaluator::Private::measure(const EvaluationPlan& plan, const JobFolder& folder,
                                                     Evaluation evaluation, bool is_baseline, std::stop_token stop)
{
    const Stopwatch stopwatch;
    evaluation.modelled = plan.modelled;
    evaluation.sandboxed = probe.sandboxed;
    auto measurement = cascade.measure(plan, folder, is_baseline ? nullptr : baseline_folder.get(), evaluation, stop);
    if (!measurement)
        return std::unexpected(measurement.error());
    EvaluationResult result;
    result.timeline = std::move(measurement->timeline);
    if (evaluation.verified() && plan.until >= Stage::benchmark)
        if (auto compared = compare(plan, *measurement, is_baseline, evaluation); !compared)
            return std::unexpected(compared.error());
    if (result.timeline && !evaluation.timings.empty()) {
        const double bound = evaluation.timings.front().bound_us;
        evaluation.overlap = overlapOf(*result.timeline, bound > 0 ? std::optional(bound) : std::nullopt);
    }
    evaluation.run_ms = stopwatch.ms();
    result.evaluation = std::move(evaluation);
    return result;
}

Result<void> Evaluator::Private::buildBaseline(std::stop_token stop)
{
    const auto source = readFile(workload.host_source);
    if (!source)
        return std::unexpected(source.error());
    const Stopwatch stopwatch;
    Evaluation evaluation;
    auto folder = cascade.compile(*source, "", evaluation, stop);
    if (!folder)
        return std::unexpected(folder.error());
    if (!evaluation.verified())
        return failure(
            fmt::format("The workload's own baseline does not compile on node {}: {}", probe.node, evaluation.message),
            workload.host_source.string(), evaluation.detail);
    baseline_name = workload.host_source.filename().string();
    baseline_folder = std::move(*folder);
    baseline_compile_ms = stopwatch.ms();
    return {};
}

Result<EvaluationResult> Evaluator::Private::measureBaseline(const EvaluationPlan& plan, std::stop_token stop)
{
    Evaluation evaluation;
    evaluation.compile_ms = baseline_compile_ms;
    auto result = measure(plan, *baseline_folder, std::move(evaluation), true, stop);
    if (!result)
        return result;
    const auto& measured = result->evaluation;
    if (!measured.verified())
        return failure(
            fmt::format("The workload's own baseline is not right on node {}: {}", probe.node, measured.message),
            workload.host_source.string(),
            measured.detail.empty() ? "Check the workload, or report it with the output of cucoctl node probe."
                                    : measured.detail);
    const std::lock_guard guard(baseline_mutex);
    for (const auto& timing : measured.timings)
        baseline_samples[{plan.ranks, timing.shape}] = timing.samples_us;
    return result;
}

/// Requests may name shapes and rank counts that prepare() did not measure.
Result<void> Evaluator::Private::ensureBaseline(const EvaluationPlan& plan, std::stop_token stop)
{
    // On GPUs the baseline is timed in turns with each candidate.
    if (!plan.modelled || plan.until < Stage::benchmark)
        return {};
    const std::lock_guard one_at_a_time(baseline_run_mutex);
    EvaluationPlan missing = plan;
    missing.until = Stage::benchmark;
    missing.backend.clear();
    {
        const std::lock_guard guard(baseline_mutex);
        std::erase_if(missing.timed_shapes, [&](const Shape& shape) {
            return baseline_samples.contains({plan.ranks, shape.name});
        });
    }
    if (missing.timed_shapes.empty())
        return {};
    if (auto measured = measureBaseline(missing, stop); !measured)
        return std::unexpected(measured.error());
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

const std::vector<EvaluationResult>& Evaluator::baselines() const
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
    const auto plan = planEvaluation(d_->workload, d_->probe, d_->defaults, {});
    if (!plan)
        return std::unexpected(plan.error());
    auto frozen_template = readTemplate(d_->workload);
    if (!frozen_template)
        return std::unexpected(frozen_template.error());
    d_->frozen_template = std::move(*frozen_template);
    if (auto prepared = d_->toolchain->prepare(*d_->node, d_->workload, stop); !prepared)
        return prepared;
    if (auto built = d_->buildBaseline(stop); !built)
        return built;
    auto measured = d_->measureBaseline(*plan, stop);
    if (!measured)
        return std::unexpected(measured.error());
    d_->baseline_results.assign(1, std::move(*measured));
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
    if (!compiled.evaluation.verified())
        return compiled;
    auto folder = d_->cascade.compile(request.source, backendOf(request), compiled.evaluation, stop);
    if (!folder)
        return std::unexpected(folder.error());
    compiled.job = std::move(*folder);
    compiled.evaluation.compile_ms = stopwatch.ms();
    return compiled;
}

Result<EvaluationResult> Evaluator::measure(const EvaluationRequest& request, Compiled compiled, std::stop_token stop)
{
    if (!compiled.evaluation.verified() || request.until < Stage::verify)
        return EvaluationResult{std::move(compiled.evaluation), std::nullopt};
    const auto plan = planEvaluation(d_->workload, d_->probe, d_->defaults, request);
    if (!plan)
        return std::unexpected(plan.error());
    if (auto ensured = d_->ensureBaseline(*plan, stop); !ensured)
        return std::unexpected(ensured.error());
    if (request.check_races && !d_->defaults.workloads.empty()) {
        compiled.evaluation.stage = Stage::verify;
        // Before it gets a GPU.
        if (auto checked = d_->race_check.check(request.source, plan->modelled ? compiled.job.get() : nullptr, *plan,
                                                compiled.evaluation, stop);
            !checked)
            return std::unexpected(checked.error());
        if (!compiled.evaluation.verified())
            return EvaluationResult{std::move(compiled.evaluation), std::nullopt};
    }
    return d_->measure(*plan, *compiled.job, std::move(compiled.evaluation), false, stop);
}

Result<EvaluationResult> Evaluator::evaluate(const EvaluationRequest& request, std::stop_token stop)
{
    auto compiled = compile(request, stop);
    if (!compiled)
        return std::unexpected(compiled.error());
    return measure(request, std::move(*compiled), stop);
}

}  // namespace cuco
