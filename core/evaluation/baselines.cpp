// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/evaluation/baselines.h"

#include "core/base/files.h"
#include "core/evaluation/kept_runs.h"
#include "core/evaluation/measurement.h"
#include "core/evaluation/shape_timing.h"
#include "core/evaluation/statistics.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <thread>

namespace cuco {

namespace {

// The program that takes the candidate's place, once more in processes of its own: what differs is noise.
constexpr const char* twin = "again";
constexpr std::uint64_t noise_seed = 0x5eed;
// Of inputs where times are modelled: those of a baseline are the same in every process then.
constexpr std::uint64_t modelled_seed = 0xba5e;
// For a roofline's term that does not bind because nothing is known of it.
constexpr double unbounded = 1e30;

double noiseOf(const std::vector<double>& first, const std::vector<double>& second, int burst)
{
    const Ratio ratio = withProcesses(ratioOfRounds(first, second, turns_a_round, noise_seed), median(first) * burst);
    return std::max(std::abs(ratio.low - 1), std::abs(ratio.high - 1));
}

std::string strongestOf(const std::map<std::string, std::vector<double>>& samples_us)
{
    const auto found = std::ranges::min_element(samples_us, {}, [](const auto& entry) { return median(entry.second); });
    return found == samples_us.end() ? std::string() : found->first;
}

Result<double> flopsOfSlowestRank(const Workload& workload, const Shape& shape, int ranks)
{
    double most = 0;
    for (int rank = 0; rank < ranks; ++rank) {
        const auto flops = workload.roofline.flops.evaluate(sizeValues(shape.parameters, ranks, rank));
        if (!flops)
            return std::unexpected(flops.error());
        most = std::max(most, static_cast<double>(*flops));
    }
    return most;
}

}  // namespace

std::vector<BaselineTiming> BaselineShape::timings() const
{
    std::vector<BaselineTiming> all;
    for (const auto& [name, samples] : samples_us)
        all.push_back({name, median(samples), {}});
    for (const auto& [name, problem] : problems)
        all.push_back({name, 0, problem});
    return all;
}

Result<void> setMeasuredBounds(const Workload& workload, const Shape& shape, int ranks,
                               const std::optional<MeasuredRates>& rates, BaselineShape& measured)
{
    const auto flops = flopsOfSlowestRank(workload, shape, ranks);
    if (!flops)
        return std::unexpected(flops.error());
    const auto boundBy = [&](const std::optional<double>& computing_us, bool by_link) {
        DeviceRates limits;
        limits.flops_per_s = computing_us && *flops > 0 ? *flops / (*computing_us * 1e-6) : unbounded;
        limits.hbm_bytes_per_s = rates ? rates->hbm_bytes_per_s : unbounded;
        limits.link_bytes_per_s = rates && by_link ? rates->link_bytes_per_s : unbounded;
        return boundUs(workload, shape, ranks, limits);
    };
    const auto bound = boundBy(measured.compute_alone_us, true);
    const auto least = boundBy(workload.compute_alone_bounds ? measured.compute_alone_least_us : std::nullopt,
                               rates && rates->link_is_limit);
    if (!bound || !least)
        return std::unexpected(bound ? least.error() : bound.error());
    measured.bound_us = *bound;
    measured.least_us = *least;
    measured.bound_source =
        rates && !rates->link_is_limit ? "measured on this node, links as NCCL sends" : "measured on this node";
    return {};
}

Result<void> Baselines::build(bool modelled, std::stop_token stop)
{
    own_.clear();
    const auto add = [&](const std::string& name, const std::filesystem::path& source, bool computes_alone) {
        Own& own = own_.emplace_back();
        own.name = name;
        own.source = source;
        own.computes_alone = computes_alone;
    };
    add(workload_.host_source.filename().string(), workload_.host_source, false);
    for (const auto& baseline : workload_.baselines)
        if (!baseline.gpu_only || !modelled)
            add(baseline.name, baseline.file, false);
    if (!workload_.compute_alone_source.empty())
        add("compute_alone", workload_.compute_alone_source, true);
    std::vector<std::optional<Error>> errors(own_.size());
    {
        std::vector<std::jthread> builds;
        for (std::size_t i = 0; i < own_.size(); ++i)
            builds.emplace_back([&, i] {
                auto object = toolchain_.buildOwn(node_, own_[i].source, stop);
                if (object)
                    own_[i].object = std::move(*object);
                else
                    errors[i] = object.error();
            });
    }
    if (stop.stop_requested())
        return failure("The build was stopped.");
    if (errors.front())
        return failure("The workload's own baseline does not compile on this node.", own_.front().source.string(),
                       errors.front()->what + " " + errors.front()->where);
    for (std::size_t i = 1; i < own_.size(); ++i)
        if (errors[i])
            own_[i].problem = "It does not compile: " + errors[i]->where;
    return {};
}

Result<void> Baselines::measure(const EvaluationPlan& plan, std::stop_token stop)
{
    if (plan.until < Stage::benchmark)
        return {};
    const std::lock_guard one_at_a_time(measuring_mutex_);
    EvaluationPlan missing = plan;
    missing.backend.clear();
    {
        const std::lock_guard guard(mutex_);
        std::erase_if(missing.timed_shapes, [&](const Shape& shape) {
            return shapes_.contains({plan.ranks, shape.name});
        });
    }
    if (missing.timed_shapes.empty())
        return {};
    return plan.modelled ? measureModelled(missing, stop) : measureOnGpus(missing, stop);
}

/// Keeps what was measured of a shape, with its bound.
Result<void> Baselines::settle(const EvaluationPlan& plan, const Shape& shape, BaselineShape measured)
{
    measured.strongest = strongestOf(measured.samples_us);
    const std::lock_guard guard(mutex_);
    if (plan.modelled) {
        const auto bound = boundUs(workload_, shape, plan.ranks, toolchain_.rates());
        if (!bound)
            return std::unexpected(bound.error());
        measured.bound_source = "modelled";
        measured.bound_us = measured.least_us = *bound;
    } else if (auto set = setMeasuredBounds(workload_, shape, plan.ranks, rates_, measured); !set) {
        return set;
    }
    shapes_[{plan.ranks, shape.name}] = std::move(measured);
    return {};
}

/// All at once: each is one process that has a processor to itself, mostly.
Result<void> Baselines::measureModelled(const EvaluationPlan& plan, std::stop_token stop)
{
    std::map<std::string, BaselineShape> shapes;
    std::vector<std::optional<Error>> errors(own_.size());
    {
        std::vector<std::jthread> runs;
        for (std::size_t i = 0; i < own_.size(); ++i)
            runs.emplace_back([&, i] {
                if (auto run = modelOwn(plan, own_[i], shapes, stop); !run)
                    errors[i] = run.error();
            });
    }
    for (auto& error : errors)
        if (error)
            return std::unexpected(std::move(*error));
    for (const auto& shape : plan.timed_shapes)
        if (auto settled = settle(plan, shape, std::move(shapes[shape.name])); !settled)
            return settled;
    return {};
}

Result<void> Baselines::modelOwn(const EvaluationPlan& plan, Own& own, std::map<std::string, BaselineShape>& shapes,
                                 std::stop_token stop)
{
    if (!own.problem.empty()) {
        const std::lock_guard guard(mutex_);
        for (const auto& shape : plan.timed_shapes)
            shapes[shape.name].problems[own.name] = own.problem;
        return {};
    }
    EvaluationPlan timed = plan;
    timed.seed = modelled_seed;
    // The profile of a baseline is shown; the computing alone is a figure only.
    timed.until = own.computes_alone ? Stage::benchmark : plan.until;
    HarnessJob job = modelledJob(timed, workload_);
    job.files = toolchain_.files();
    job.files.candidate = own.object;
    const KeptRun kept(toolchain_, workload_, job);
    auto report = kept.find();
    Evaluation evaluation;
    if (!report) {
        auto folder = node_.createJob();
        if (!folder)
            return std::unexpected(folder.error());
        auto ran = runModelled({node_, toolchain_, workload_}, timed, **folder, own.object, !own.computes_alone,
                               evaluation, stop);
        if (!ran)
            return std::unexpected(ran.error());
        if (evaluation.verified())
            kept.keep(*ran);
        report = std::move(*ran);
    }
    if (!evaluation.verified() && &own == &own_.front())
        return failure(fmt::format("The workload's own baseline is not right on this node: {}", evaluation.message),
                       own.source.string(),
                       evaluation.detail.empty() ? "Check the workload, or report it with cucoctl node probe's output."
                                                 : evaluation.detail);
    const std::lock_guard guard(mutex_);
    for (const auto& shape : plan.timed_shapes) {
        auto& measured = shapes[shape.name];
        if (!evaluation.verified())
            measured.problems[own.name] = evaluation.message;
        else if (own.computes_alone)
            measured.compute_alone_us = median(report->samples_us.at(shape.name));
        else
            measured.samples_us[own.name] = report->samples_us.at(shape.name);
    }
    if (!evaluation.verified())
        own.failed = evaluation;
    if (auto timeline = report->timelines.find(plan.timed_shapes.front().name);
        timeline != report->timelines.end() && !own.timeline)
        own.timeline = std::move(timeline->second);
    return {};
}

Result<void> Baselines::measureOnGpus(const EvaluationPlan& plan, std::stop_token stop)
{
    auto folder = node_.createJob();
    if (!folder)
        return std::unexpected(folder.error());
    HarnessJob job = baselineJob(plan, workload_);
    job.files = toolchain_.files();
    job.files.candidate = own_.front().object;
    job.baselines.push_back({twin, own_.front().object, true});
    for (std::size_t i = 1; i < own_.size(); ++i)
        if (own_[i].problem.empty())
            job.baselines.push_back({own_[i].name, own_[i].object, !own_[i].computes_alone});
    Evaluation evaluation;
    auto report = runOnGpus({node_, toolchain_, workload_}, **folder, job, {}, evaluation, stop);
    if (!report)
        return std::unexpected(report.error());
    if (!evaluation.verified())
        return failure(
            fmt::format("The workload's own baseline is not right on this node: {}", evaluation.message),
            own_.front().source.string(),
            evaluation.detail.empty() ? "Run cucoctl node probe to see what the node lacks." : evaluation.detail);
    std::map<std::string, BaselineShape> shapes;
    takeReport(plan, *report, shapes);
    for (const auto& shape : plan.timed_shapes)
        if (auto settled = settle(plan, shape, std::move(shapes[shape.name])); !settled)
            return settled;
    return {};
}

void Baselines::takeReport(const EvaluationPlan& plan, const HarnessReport& report,
                           std::map<std::string, BaselineShape>& shapes)
{
    const std::lock_guard guard(mutex_);
    if (report.rates)
        rates_ = report.rates;
    for (const auto& shape : plan.timed_shapes) {
        auto& measured = shapes[shape.name];
        const auto& host_samples = report.samples_us.at(shape.name);
        measured.samples_us[own_.front().name] = host_samples;
        if (const auto burst = report.bursts.find(shape.name); burst != report.bursts.end())
            measured.burst = burst->second;
        for (auto& own : own_) {
            const auto problem = report.baseline_problems.find(own.name);
            const auto times = report.baseline_samples_us.find(own.name);
            if (!own.problem.empty() || problem != report.baseline_problems.end()) {
                measured.problems[own.name] = own.problem.empty() ? problem->second : own.problem;
                continue;
            }
            if (times == report.baseline_samples_us.end() || !times->second.contains(shape.name))
                continue;
            if (own.computes_alone) {
                measured.compute_alone_us = median(times->second.at(shape.name));
                measured.compute_alone_least_us = std::ranges::min(times->second.at(shape.name));
            } else
                measured.samples_us[own.name] = times->second.at(shape.name);
        }
        if (const auto found = report.baseline_samples_us.find(twin);
            found != report.baseline_samples_us.end() && found->second.contains(shape.name))
            measured.noise_floor = noiseOf(host_samples, found->second.at(shape.name), measured.burst);
    }
}

BaselineShape Baselines::at(int ranks, const std::string& shape) const
{
    const std::lock_guard guard(mutex_);
    return shapes_.at({ranks, shape});
}

std::vector<BaselineResult> Baselines::results(const EvaluationPlan& plan) const
{
    std::vector<BaselineResult> results;
    for (const auto& own : own_) {
        if (own.computes_alone)
            continue;
        auto& out = results.emplace_back();
        out.name = own.name;
        out.source = readFile(own.source).value_or("");
        Evaluation& evaluation = out.result.evaluation;
        evaluation.modelled = plan.modelled;
        evaluation.stage = Stage::benchmark;
        std::string problem = own.problem;
        for (const auto& shape : plan.timed_shapes) {
            const BaselineShape measured = at(plan.ranks, shape.name);
            const auto samples = measured.samples_us.find(own.name);
            if (samples != measured.samples_us.end())
                evaluation.timings.push_back(timeShape(shape.name, plan.ranks, samples->second, measured, plan.modelled,
                                                       std::nullopt, measured.burst));
            else if (const auto found = measured.problems.find(own.name); found != measured.problems.end())
                problem = found->second;
        }
        const std::lock_guard guard(mutex_);
        out.result.timeline = own.timeline;
        if (own.failed) {
            evaluation = *own.failed;
        } else if (!problem.empty()) {
            evaluation.verdict = own.object.empty() ? Verdict::compile_error : Verdict::setup_failed;
            evaluation.message = problem;
        }
        if (own.timeline && !evaluation.timings.empty()) {
            const double bound = evaluation.timings.front().bound_us;
            evaluation.overlap = overlapOf(*own.timeline, bound > 0 ? std::optional(bound) : std::nullopt);
        }
    }
    return results;
}

std::vector<JobBaseline> Baselines::strongest(const EvaluationPlan& plan) const
{
    std::set<std::string> names;
    for (const auto& shape : plan.timed_shapes)
        names.insert(at(plan.ranks, shape.name).strongest);
    std::vector<JobBaseline> programs;
    for (const auto& own : own_)
        if (names.contains(own.name))
            programs.push_back({own.name, own.object, true});
    return programs;
}

}  // namespace cuco
