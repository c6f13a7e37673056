// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/cli.h"
#include "app/cli/find_workload.h"
#include "core/base/files.h"
#include "core/design/tunable.h"
#include "core/evaluation/evaluate_all.h"
#include "core/evaluation/evaluator_factory.h"
#include "core/run/candidate_json.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <memory>
#include <thread>

namespace cuco::cli {

namespace {

struct Options {
    std::string workload, node, stage = "profile";
    std::vector<std::string> shapes;
    std::vector<std::filesystem::path> candidates;
    int ranks = 0;
    bool check_races = false, json = false;
};

nlohmann::json orNull(const std::optional<double>& value)
{
    return value ? nlohmann::json(*value) : nlohmann::json();
}

/// One candidate as in `show --json`, with its raw samples and overlap report.
nlohmann::json toDocument(const Evaluation& evaluation, const std::string& source)
{
    nlohmann::json document = toJson(evaluation);
    document["speedup"] = orNull(evaluation.speedup());
    document["ci_low"] = orNull(evaluation.ciLow());
    document["ci_high"] = orNull(evaluation.ciHigh());
    document["time_us"] = orNull(evaluation.timeUs());
    document["bound_us"] = orNull(evaluation.boundUs());
    document["source_sha256"] = sha256Hex(source);
    document["directive"] = nullptr;
    document["tunables"] = nlohmann::json::object();
    if (const auto parsed = KernelSource::parse(source)) {
        if (const auto directive = parseDirective(*parsed))
            document["directive"] = toJson(*directive);
        if (const auto tunables = findTunables(*parsed))
            for (const auto& tunable : *tunables)
                document["tunables"][tunable.name] = tunable.value;
    }
    return document;
}

std::string percent(const std::optional<double>& share)
{
    return share ? fmt::format("{:.0f} %", *share * 100) : "none";
}

/// The other baselines, and what kept some from taking part.
void printBaselines(const std::vector<ShapeTiming>& timings)
{
    for (const auto& timing : timings) {
        std::vector<std::string> texts;
        for (const auto& baseline : timing.baselines)
            texts.push_back(baseline.problem.empty()
                                ? fmt::format("{} {}", baseline.name, formatTime(baseline.time_us))
                                : fmt::format("{} takes no part: {}", baseline.name, baseline.problem));
        if (timing.compute_alone_us)
            texts.push_back("computing alone " + formatTime(*timing.compute_alone_us));
        fmt::print("\nBaselines at {}: {}\n", timing.shape, fmt::join(texts, ", "));
    }
}

const char* timeHeading(const Evaluation& evaluation)
{
    return evaluation.modelled ? "TIME (MODELLED)" : evaluation.self_reported ? "TIME (SELF-REPORTED)" : "TIME";
}

void printEvaluation(const Evaluation& evaluation)
{
    fmt::print("{}{}{}\n", toString(evaluation.verdict), evaluation.message.empty() ? "" : ": ", evaluation.message);
    if (!evaluation.detail.empty())
        fmt::print("\n{}\n", evaluation.detail);
    for (const auto& remark : evaluation.remarks)
        fmt::print("{}\n", remark);
    if (!evaluation.timings.empty()) {
        fmt::print("\n");
        const bool interval = !evaluation.modelled;
        std::vector<std::vector<std::string>> rows{{"SHAPE", "RANKS", timeHeading(evaluation), "STRONGEST BASELINE",
                                                    "SPEED-UP", "NOISE", "BOUND", "CEILING", "EXPOSED"}};
        for (const auto& timing : evaluation.timings)
            rows.push_back(
                {timing.shape, std::to_string(timing.ranks), formatTime(timing.time_us),
                 fmt::format("{} {}", timing.baseline, formatTime(timing.baseline_us)),
                 (interval
                      ? fmt::format("{} ({:.2f}–{:.2f})", formatSpeedup(timing.speedup), timing.ci_low, timing.ci_high)
                      : formatSpeedup(timing.speedup)) +
                     (timing.withinNoise() ? " in the noise" : ""),
                 timing.noise_floor ? fmt::format("±{:.1f} %", 100 * *timing.noise_floor) : "none",
                 timing.bound_us > 0 ? formatTime(timing.bound_us) : "unknown", percent(timing.ceilingShare()),
                 timing.exposedUs() ? formatTime(*timing.exposedUs()) : "unknown"});
        printTable(rows);
        printBaselines(evaluation.timings);
    }
    if (!evaluation.sandboxed)
        fmt::print("\nIt ran without a sandbox; cucoctl node probe says why.\n");
    if (evaluation.overlap)
        fmt::print("\nCommunication hidden behind computing: {}, exposed: {:.1f} µs\n",
                   percent(evaluation.overlap->hidden_share), evaluation.overlap->exposed_us);
    if (evaluation.compile_ms > 0)
        fmt::print("\nCompiled in {:.1f} s{}\n", evaluation.compile_ms / 1e3,
                   evaluation.run_ms > 0 ? fmt::format(", run and checked in {:.1f} s", evaluation.run_ms / 1e3) : "");
}

/// The workload's own host-driven programs have no directive to be screened for.
bool isBaseline(const Workload& workload, const std::filesystem::path& candidate)
{
    const auto same = [&](const std::filesystem::path& file) {
        std::error_code error;
        return std::filesystem::equivalent(candidate, file, error);
    };
    return same(workload.host_source) || std::ranges::any_of(workload.baselines, same, &HostBaseline::file);
}

/// Where times are modelled nothing is left to find out about a baseline.
std::optional<Evaluation> knownBaseline(const CandidateEvaluator& evaluator, const EvaluationRequest& request)
{
    for (const auto& baseline : evaluator.baselines())
        if (!request.screened && evaluator.probe().modelled && baseline.source == request.source)
            return baseline.result.evaluation;
    return std::nullopt;
}

std::string summary(const Evaluation& evaluation)
{
    if (!evaluation.verified())
        return fmt::format("{}: {}", toString(evaluation.verdict), evaluation.message);
    if (!evaluation.speedup())
        return std::string(toString(evaluation.verdict));
    return fmt::format("{} {}{}{}", toString(evaluation.verdict), formatTime(evaluation.timeUs().value_or(0)),
                       evaluation.modelled        ? " modelled, "
                       : evaluation.self_reported ? " self-reported, "
                                                  : ", ",
                       formatSpeedup(*evaluation.speedup()));
}

/// A line a candidate as it is settled, or one document of all.
int evaluateSeveral(const Options& options, CandidateEvaluator& evaluator,
                    const std::vector<EvaluationRequest>& requests, std::stop_token stop)
{
    auto documents = nlohmann::json::array();
    int code = exit_success;
    const auto settled = [&](std::size_t index, Result<EvaluationResult> result) {
        const std::string file = options.candidates[index].string();
        nlohmann::json document;
        if (result) {
            document = toDocument(result->evaluation, requests[index].source);
            code = std::max(code, result->evaluation.verified() ? exit_success : exit_unsuccessful);
        } else {
            document["error"] = describe(result.error());
            code = exit_environment;
        }
        document["file"] = file;
        documents.push_back(std::move(document));
        if (!options.json) {
            fmt::print("{}: {}\n", file, result ? summary(result->evaluation) : "error: " + describe(result.error()));
            std::fflush(stdout);
        }
    };
    evaluateAll(evaluator, requests, static_cast<int>(std::thread::hardware_concurrency()), settled, stop);
    if (options.json)
        printJson(documents);
    return code;
}

int evaluateFiles(const Options& options, std::stop_token stop)
{
    const auto paths = DataPaths::find();
    if (!paths)
        return reportError(paths.error());
    const auto workload = findWorkload(*paths, options.workload);
    if (!workload)
        return reportUsage(describe(workload.error()));
    if (options.ranks != 0 && std::ranges::find(workload->ranks, options.ranks) == workload->ranks.end())
        return reportUsage(fmt::format("Workload {} is not made for {} ranks.", workload->name, options.ranks));
    auto node =
        makeNodeFor(*workload, options.node, options.ranks != 0 ? options.ranks : std::ranges::min(workload->ranks));
    if (!node)
        return reportUsage(describe(node.error()));
    EvaluationDefaults defaults{options.ranks, {}, *stageFromString(options.stage)};
    for (const std::string& name : options.shapes) {
        const auto shape = findShape(*workload, name, (*node)->kind() == NodeKind::emulated);
        if (!shape)
            return reportUsage(describe(shape.error()));
        defaults.shapes.push_back(*shape);
    }
    std::vector<EvaluationRequest> requests;
    for (const auto& file : options.candidates) {
        const auto source = readFile(file, 4u << 20);
        if (!source)
            return reportUsage(describe(source.error()));
        auto& request = requests.emplace_back();
        request.source = *source;
        request.screened = !isBaseline(*workload, file);
        request.until = *stageFromString(options.stage);
        request.check_races = options.check_races;
    }
    const auto evaluator = makeEvaluatorFor(*paths, std::move(*node), *workload, std::move(defaults));
    if (!evaluator)
        return reportError(evaluator.error());
    if (const auto prepared = (*evaluator)->prepare(stop); !prepared)
        return reportError(prepared.error());
    if (requests.size() > 1)
        return evaluateSeveral(options, **evaluator, requests, stop);

    const EvaluationRequest& request = requests.front();
    auto result = knownBaseline(**evaluator, request);
    if (!result) {
        auto measured = (*evaluator)->evaluate(request, stop);
        if (!measured)
            return reportError(measured.error());
        result = std::move(measured->evaluation);
    }
    if (options.json)
        printJson(toDocument(*result, request.source));
    else
        printEvaluation(*result);
    return result->verified() ? exit_success : exit_unsuccessful;
}

}  // namespace

void addEvalCommand(CLI::App& app, Session& session)
{
    auto* command = app.add_subcommand("eval", "Verify and time candidates");
    auto options = std::make_shared<Options>();
    command->add_option("WORKLOAD", options->workload, "Name, or a folder with a workload.json")->required();
    command
        ->add_option("CANDIDATE.cu", options->candidates,
                     "Its source. Several are measured one after the other and told in a line each")
        ->required();
    command->add_option("--node", options->node, node_help);
    command->add_option("--ranks", options->ranks, "By default the workload's first count that the node can run")
        ->check(CLI::Range(1, 64));
    command
        ->add_option("--shape", options->shapes, "By default the workload's search shapes; may be given several times")
        ->allow_extra_args(false);
    command->add_option("--stage", options->stage, "The last stage to enter")
        ->check(CLI::IsMember({"verify", "benchmark", "profile"}));
    command->add_flag("--check-races", options->check_races, "Run it under the emulator's race checker first");
    command->add_flag("--json", options->json, "One JSON document; of several candidates an array");
    command->callback([&session, options] { session.exit_code = evaluateFiles(*options, session.stop); });
}

}  // namespace cuco::cli
