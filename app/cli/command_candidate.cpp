// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/attribution_run.h"
#include "app/cli/cli.h"
#include "core/base/files.h"
#include "core/evaluation/data_paths.h"
#include "core/run/evidence.h"
#include "core/source/line_diff.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <memory>

namespace cuco::cli {

namespace {

struct Options {
    std::filesystem::path file;
    std::string id, against;
    std::filesystem::path evidence;
    bool source = false, diff = false, json = false, attribution = false;
};

struct NamedSource {
    std::string name, text;
};

Result<NamedSource> sourceOf(RunFile& file, const RunSnapshot& snapshot, const std::string& name)
{
    const bool is_baseline =
        std::ranges::any_of(snapshot.baselines, [&](const Baseline& baseline) { return baseline.name == name; });
    auto text = is_baseline ? file.baselineSource(name) : file.source(name);
    if (!text)
        return std::unexpected(text.error());
    return NamedSource{name, std::move(*text)};
}

/// The first parent; without one the first seed; for that the host baseline.
std::string comparedWith(const RunSnapshot& snapshot, const Candidate& candidate)
{
    if (!candidate.parents.empty())
        return candidate.parents.front();
    if (candidate.number > 0)
        return snapshot.candidates.front().id;
    return snapshot.baselines.empty() ? candidate.id : snapshot.baselines.front().name;
}

int printDiff(RunFile& file, const RunSnapshot& snapshot, const Candidate& candidate, const std::string& against)
{
    const auto left = sourceOf(file, snapshot, against.empty() ? comparedWith(snapshot, candidate) : against);
    if (!left)
        return reportUsage(describe(left.error()));
    const auto right = sourceOf(file, snapshot, candidate.id);
    if (!right)
        return reportError(right.error());
    const auto diff = unifiedDiff(left->text, right->text, left->name, right->name);
    if (!diff)
        return reportError(diff.error());
    fmt::print("{}", *diff);
    return exit_success;
}

nlohmann::json toDocument(const Candidate& candidate, const std::vector<Remeasurement>& remeasurements,
                          const std::optional<Evaluation>& evaluation, const std::vector<AgentStep>& steps)
{
    nlohmann::json document = toJson(candidate);
    document["remeasurements"] = nlohmann::json::array();
    for (const Remeasurement& again : remeasurements)
        document["remeasurements"].push_back({{"decision", again.decision_id},
                                              {"standing", toString(again.standing)},
                                              {"finding", again.finding},
                                              {"time_ms", again.time_ms},
                                              {"evaluation", toJson(again.evaluation)}});
    document["evaluation"] = evaluation ? toJson(*evaluation) : nlohmann::json(nullptr);
    document["steps"] = nlohmann::json::array();
    for (const AgentStep& step : steps)
        document["steps"].push_back({{"id", step.id},
                                     {"parent", step.parent},
                                     {"agent", step.agent},
                                     {"title", step.title},
                                     {"body", step.body},
                                     {"time_ms", step.time_ms}});
    return document;
}

void printCandidate(const Candidate& candidate, const Decision* decision, const std::optional<Evaluation>& evaluation,
                    const std::vector<AgentStep>& steps)
{
    fmt::print("{}: {}, generation {}, island {}, by {}\n", candidate.id,
               evaluation ? toString(evaluation->verdict) : toString(candidate.state), candidate.generation,
               candidate.island, candidate.proposer);
    fmt::print("parents: {}\n",
               candidate.parents.empty() ? "none" : fmt::format("{}", fmt::join(candidate.parents, ", ")));
    fmt::print("strategy: {} ({})\n", candidate.strategy, toString(candidate.directive));
    for (const auto& [name, value] : candidate.tunables)
        fmt::print("  {} = {}\n", name, value);
    fmt::print("change: {}\n", candidate.summary);
    if (decision)
        fmt::print("{}: {}{}{}\n", toSentencePart(*decision), decision->reason, decision->finding.empty() ? "" : "\n",
                   decision->finding);
    if (evaluation) {
        if (!evaluation->message.empty())
            fmt::print("{}\n", evaluation->message);
        if (!evaluation->detail.empty())
            fmt::print("{}\n", evaluation->detail);
        for (const ShapeTiming& timing : evaluation->timings)
            fmt::print("shape {}: {}, {} against {} ({}), bound {}\n", timing.shape, formatTime(timing.time_us),
                       formatSpeedup(timing.speedup), timing.baseline, formatTime(timing.baseline_us),
                       formatTime(timing.bound_us));
    }
    for (const AgentStep& step : steps)
        fmt::print("\n## {}: {}\n\n{}\n", step.agent, step.title, step.body);
}

std::vector<DescribedFile> attributionFiles(const Attribution& attribution)
{
    return {{{"attribution.md", toMarkdown(attribution)}, "which edits carry the gain: measured without each of them"},
            {{"attribution.json", toJson(attribution).dump(2, ' ', false, nlohmann::json::error_handler_t::replace)},
             "the same with raw samples"}};
}

int writeEvidence(RunFile& file, const Options& options, std::stop_token stop)
{
    const auto paths = DataPaths::find();
    if (!paths)
        return reportError(paths.error());
    EvidenceOptions evidence{paths->resources, {}};
    if (options.attribution) {
        const auto attribution =
            runAttribution(file, options.id, options.against.empty() ? "seed" : options.against, {}, std::move(stop));
        if (!attribution)
            return reportError(attribution.error());
        evidence.further = attributionFiles(*attribution);
    }
    const auto files = collectEvidence(file, options.id, evidence);
    if (!files)
        return reportError(files.error());
    if (auto written = writeFolderAtomically(options.evidence, *files); !written)
        return reportUsage(describe(written.error()));
    fmt::print(stderr, "{}: {} files; begin with README.md\n", options.evidence.string(), files->size());
    return exit_success;
}

int showCandidate(const Options& options, std::stop_token stop)
{
    auto file = RunFile::open(options.file, RunFile::Access::read);
    if (!file)
        return reportError(file.error());
    const auto snapshot = (*file)->snapshot();
    if (!snapshot)
        return reportError(snapshot.error());
    const auto candidate = std::ranges::find(snapshot->candidates, options.id, &Candidate::id);
    if (candidate == snapshot->candidates.end())
        return reportUsage(fmt::format("There is no candidate {} in {}. Choose one of those that `cucoctl show` lists.",
                                       options.id, options.file.string()));
    if (!options.against.empty() && !options.diff && !options.attribution)
        return reportUsage("--against is what to compare with: give --diff or --attribution with it.");
    if (!options.evidence.empty())
        return writeEvidence(**file, options, std::move(stop));
    if (options.source) {
        const auto source = (*file)->source(options.id);
        if (!source)
            return reportError(source.error());
        fmt::print("{}", *source);
        return exit_success;
    }
    if (options.diff)
        return printDiff(**file, *snapshot, *candidate, options.against);
    const auto evaluation = (*file)->evaluation(options.id);
    if (!evaluation)
        return reportError(evaluation.error());
    auto steps = (*file)->steps();
    if (!steps)
        return reportError(steps.error());
    std::erase_if(*steps, [&](const AgentStep& step) { return step.candidate_id != options.id; });
    const auto remeasurements = (*file)->remeasurements(options.id);
    if (!remeasurements)
        return reportError(remeasurements.error());
    if (options.json)
        printJson(toDocument(*candidate, *remeasurements, *evaluation, *steps));
    else
        printCandidate(*candidate, lastDecisionOn(snapshot->decisions, options.id), *evaluation, *steps);
    return exit_success;
}

}  // namespace

void addCandidateCommand(CLI::App& app, Session& session)
{
    auto* command = app.add_subcommand("candidate", "One candidate: figures, source, differences, why it was proposed");
    auto options = std::make_shared<Options>();
    command->add_option("FILE.cuco", options->file, "The run")->required();
    command->add_option("ID", options->id, "The candidate, as c27")->required();
    auto* source = command->add_flag("--source", options->source, "Its text");
    auto* diff = command->add_flag("--diff", options->diff, "A unified diff against its parent");
    auto* json = command->add_flag("--json", options->json, "One JSON document with raw samples and steps");
    command->add_option("--against", options->against,
                        "With --diff, a candidate or baseline to compare with; with --attribution, a candidate");
    auto* evidence = command->add_option("--evidence", options->evidence,
                                         "Write a folder with all that speaks for it, and a script that checks it");
    source->excludes(diff)->excludes(json)->excludes(evidence);
    diff->excludes(json)->excludes(evidence);
    json->excludes(evidence);
    command->add_flag("--attribution", options->attribution, "Also measure which edits carry its gain over its seed")
        ->needs(evidence);
    command->callback([&session, options] { session.exit_code = showCandidate(*options, session.stop); });
}

}  // namespace cuco::cli
