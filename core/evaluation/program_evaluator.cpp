// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/evaluation/program_evaluator.h"

#include "core/base/files.h"
#include "core/evaluation/evaluation_plan.h"
#include "core/evaluation/program_output.h"
#include "core/evaluation/statistics.h"
#include "core/nodes/compiler_log.h"
#include "core/nodes/gpu_query.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>

namespace cuco {

namespace {

constexpr const char* binary_name = "program";
constexpr std::uint64_t bootstrap_seed = 0x5eed;

double msSince(std::chrono::steady_clock::time_point begin)
{
    return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
}

CommandLimits limitsOf(std::chrono::milliseconds wall)
{
    CommandLimits limits;
    limits.wall = wall;
    limits.file_bytes = 1u << 30;
    limits.folder_bytes = 2u << 30;
    limits.memory_bytes = 16ull << 30;
    limits.processes = 4096;
    return limits;
}

/// What the launcher finds is the node's; a program with a path is taken as it is.
Result<void> findTool(const std::string& program, const char* field)
{
    if (program.find('/') != program.npos || findProgram(program))
        return {};
    return failure(
        fmt::format("The program {} was not found, which the workload's field \"{}\" begins with.", program, field), "",
        "Install it (MPI: sudo apt install openmpi-bin libopenmpi-dev), or correct the workload.json.");
}

}  // namespace

struct ProgramEvaluator::Private {
    const ProgramSpec& spec() const { return *workload.program; }
    int ranksOf(const EvaluationRequest& request) const
    {
        return request.ranks != 0 ? request.ranks : defaults.ranks != 0 ? defaults.ranks : workload.ranks.front();
    }

    Command command(const std::vector<std::string>& argv, const JobFolder& job, int ranks,
                    std::chrono::milliseconds wall) const;
    Result<std::shared_ptr<JobFolder>> build(const std::string& source, int ranks, Evaluation& evaluation,
                                             std::stop_token stop) const;
    Result<std::expected<double, ProgramFault>> runOnce(const JobFolder& job, int ranks, std::stop_token stop) const;
    Result<void> takeTurns(const JobFolder& job, int ranks, Evaluation& evaluation, std::stop_token stop) const;

    const std::shared_ptr<Node> node;
    const Workload workload;
    const DesignSpace design_space;
    const EvaluationDefaults defaults;

    NodeProbe probe;
    std::optional<KernelSource> frozen_template;
    std::shared_ptr<JobFolder> host;
    std::vector<BaselineResult> baseline_results;
};

Command ProgramEvaluator::Private::command(const std::vector<std::string>& argv, const JobFolder& job, int ranks,
                                           std::chrono::milliseconds wall) const
{
    Command command;
    command.argv =
        withPlaces(argv, {(job.path() / spec().file_name).string(), (job.path() / binary_name).string(), ranks});
    command.sandbox = node->sandbox(job, spec().gpus);
    command.working_directory = job.path();
    // What the user says of this machine's GPUs holds whatever the manifest says.
    if (spec().gpus)
        command.environment = gpuVariables();
    command.environment.insert(spec().environment.begin(), spec().environment.end());
    command.limits = limitsOf(wall);
    return command;
}

Result<std::shared_ptr<JobFolder>> ProgramEvaluator::Private::build(const std::string& source, int ranks,
                                                                    Evaluation& evaluation, std::stop_token stop) const
{
    evaluation.stage = Stage::compile;
    auto job = node->createJob();
    if (!job)
        return job;
    if (auto put = node->put(**job, spec().file_name, source); !put)
        return std::unexpected(put.error());
    const Command compile = command(spec().build, **job, ranks, workload.compile_timeout);
    const auto outcome = node->run(compile, stop);
    if (!outcome)
        return std::unexpected(outcome.error());
    if (outcome->cancelled)
        return failure("The build was stopped.");
    if (outcome->succeeded())
        return job;
    const auto fault = readCompilerLog(outcome->err + outcome->out, spec().file_name, {});
    evaluation.verdict = outcome->timed_out ? Verdict::timeout : Verdict::compile_error;
    evaluation.message = outcome->exceeded != CommandLimit::none ? describeExceeded(outcome->exceeded, compile.limits)
                         : fault.line > 0 ? fmt::format("Line {}: {}", fault.line, fault.first_error)
                         : fault.first_error.empty()
                             ? fmt::format("The build command ended with exit code {}.", outcome->exit_code)
                             : fault.first_error;
    evaluation.detail = fault.log;
    evaluation.at = {fault.line, fault.first_error};
    return job;
}

Result<std::expected<double, ProgramFault>> ProgramEvaluator::Private::runOnce(const JobFolder& job, int ranks,
                                                                               std::stop_token stop) const
{
    const Command run = command(spec().run, job, ranks, workload.run_timeout);
    const auto outcome = node->run(run, stop);
    if (!outcome)
        return std::unexpected(outcome.error());
    if (outcome->cancelled)
        return failure("The run was stopped.");
    auto times = readProgramOutput(spec(), ranks, *outcome, run.limits);
    if (!times)
        return std::expected<double, ProgramFault>(std::unexpected(std::move(times.error())));
    return times->makespan_us;
}

/// A B B A, so that what drifts hits both alike.
Result<void> ProgramEvaluator::Private::takeTurns(const JobFolder& job, int ranks, Evaluation& evaluation,
                                                  std::stop_token stop) const
{
    ShapeTiming timing;
    timing.shape = workload.search_shapes.front().name;
    timing.ranks = ranks;
    timing.baseline = workload.host_source.filename().string();
    for (int round = 0; round < spec().rounds; ++round) {
        for (const bool candidate : {false, true, true, false}) {
            const auto took = runOnce(candidate ? job : *host, ranks, stop);
            if (!took)
                return std::unexpected(took.error());
            if (!*took && !candidate)
                return failure("The workload's own program failed in its turn. " + took->error().message,
                               workload.host_source.string(), took->error().detail);
            if (!*took) {
                evaluation.verdict = took->error().verdict;
                evaluation.message = took->error().message;
                evaluation.detail = took->error().detail;
                return {};
            }
            (candidate ? timing.samples_us : timing.baseline_samples_us).push_back(**took);
        }
    }
    timing.time_us = median(timing.samples_us);
    timing.baseline_us = median(timing.baseline_samples_us);
    timing.baselines.push_back({timing.baseline, timing.baseline_us, ""});
    const Ratio ratio = ratioOfRounds(timing.baseline_samples_us, timing.samples_us, turns_a_round, bootstrap_seed);
    timing.speedup = ratio.value;
    timing.ci_low = ratio.low;
    timing.ci_high = ratio.high;
    evaluation.timings.push_back(std::move(timing));
    return {};
}

ProgramEvaluator::ProgramEvaluator(std::shared_ptr<Node> node, Workload workload, DesignSpace design_space,
                                   EvaluationDefaults defaults)
    : d_(new Private{
          std::move(node), std::move(workload), std::move(design_space), std::move(defaults), {}, {}, {}, {}})
{
}

ProgramEvaluator::~ProgramEvaluator() = default;

const Workload& ProgramEvaluator::workload() const
{
    return d_->workload;
}

const NodeProbe& ProgramEvaluator::probe() const
{
    return d_->probe;
}

const std::vector<BaselineResult>& ProgramEvaluator::baselines() const
{
    return d_->baseline_results;
}

Result<void> ProgramEvaluator::prepare(std::stop_token stop)
{
    auto probe = d_->node->probe(stop);
    if (!probe)
        return std::unexpected(probe.error());
    d_->probe = std::move(*probe);
    d_->probe.modelled = false;
    const ProgramSpec& spec = d_->spec();
    const int ranks = d_->ranksOf({});
    if (spec.gpus && !d_->probe.usable)
        return std::unexpected(d_->probe.problems.empty() ? Error{"The node cannot be used.", d_->probe.node, ""}
                                                          : d_->probe.problems.front());
    if (spec.gpus && d_->probe.max_ranks < ranks)
        return failure(fmt::format("The node has {} GPUs for {} ranks.", d_->probe.max_ranks, ranks), d_->probe.node,
                       "Choose fewer ranks.");
    if (!spec.gpus) {  // what CUDA and NCCL lack does not matter
        d_->probe.problems.clear();
        d_->probe.usable = true;
        d_->probe.max_ranks = std::ranges::max(d_->workload.ranks);
    }
    for (const auto& [argv, field] : {std::pair(&spec.build, "build"), std::pair(&spec.run, "run")})
        if (auto found = findTool(argv->front(), field); !found)
            return found;
    const auto seed = readFile(d_->workload.seed_source);
    const auto host = readFile(d_->workload.host_source);
    if (!seed || !host)
        return std::unexpected((seed ? host : seed).error());
    auto parsed = KernelSource::parse(*seed);
    if (!parsed)
        return failure(parsed.error().message,
                       fmt::format("{}:{}", d_->workload.seed_source.string(), parsed.error().line),
                       "Correct the evolve markers of the workload's seed.");
    d_->frozen_template = std::move(*parsed);

    BaselineResult& baseline = d_->baseline_results.emplace_back();
    baseline.name = d_->workload.host_source.filename().string();
    baseline.source = *host;
    Evaluation& evaluation = baseline.result.evaluation;
    evaluation.self_reported = true;
    evaluation.sandboxed = d_->probe.sandboxed;
    const auto begin = std::chrono::steady_clock::now();
    auto job = d_->build(*host, ranks, evaluation, stop);
    if (!job)
        return std::unexpected(job.error());
    if (!evaluation.verified())
        return failure("The workload's own program does not build. " + evaluation.message,
                       d_->workload.host_source.string(), evaluation.detail);
    d_->host = std::move(*job);
    evaluation.compile_ms = msSince(begin);
    if (d_->defaults.until < Stage::benchmark)
        return {};
    evaluation.stage = Stage::benchmark;
    return d_->takeTurns(*d_->host, ranks, evaluation, stop);
}

Result<ProgramEvaluator::Compiled> ProgramEvaluator::compile(const EvaluationRequest& request, std::stop_token stop)
{
    const auto begin = std::chrono::steady_clock::now();
    Compiled compiled;
    if (request.screened)
        compiled.evaluation =
            screenText(request.source, *d_->frozen_template, d_->design_space, d_->probe.capabilities);
    compiled.evaluation.self_reported = true;
    compiled.evaluation.sandboxed = d_->probe.sandboxed;
    if (!compiled.evaluation.verified())
        return compiled;
    auto job = d_->build(request.source, d_->ranksOf(request), compiled.evaluation, stop);
    if (!job)
        return std::unexpected(job.error());
    compiled.job = std::move(*job);
    compiled.evaluation.compile_ms = msSince(begin);
    return compiled;
}

Result<EvaluationResult> ProgramEvaluator::measure(const EvaluationRequest& request, Compiled compiled,
                                                   std::stop_token stop)
{
    EvaluationResult result;
    Evaluation& evaluation = result.evaluation;
    evaluation = std::move(compiled.evaluation);
    if (!evaluation.verified() || request.until < Stage::verify)
        return result;
    const auto begin = std::chrono::steady_clock::now();
    const int ranks = d_->ranksOf(request);
    evaluation.stage = Stage::verify;
    if (request.check_races)
        evaluation.remarks.emplace_back("Races are not looked for in programs.");
    if (request.until >= Stage::benchmark) {
        evaluation.stage = Stage::benchmark;
        if (auto measured = d_->takeTurns(*compiled.job, ranks, evaluation, stop); !measured)
            return std::unexpected(measured.error());
    } else {
        const auto took = d_->runOnce(*compiled.job, ranks, stop);
        if (!took)
            return std::unexpected(took.error());
        if (!*took) {
            evaluation.verdict = took->error().verdict;
            evaluation.message = took->error().message;
            evaluation.detail = took->error().detail;
        }
    }
    evaluation.run_ms = msSince(begin);
    return result;
}

}  // namespace cuco
