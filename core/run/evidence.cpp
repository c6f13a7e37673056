// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/run/evidence.h"

#include "core/base/json.h"
#include "core/run/evidence_calls.h"
#include "core/run/evidence_samples.h"
#include "core/run/evidence_texts.h"
#include "core/source/line_diff.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <set>

namespace cuco {

namespace {

std::string pretty(const nlohmann::json& json)
{
    return json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

/// Names come from the run file: no more than a name of a file in one folder.
std::string fileName(const std::string& name)
{
    std::string out;
    for (const char c : name.substr(0, 100)) {
        const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
                           c == '_' || (c == '.' && !out.empty());
        out += plain ? c : '_';
    }
    return out.empty() ? "_" : out;
}

/// The baselines that were the fastest at some shape; without times the fastest of the run.
std::set<std::string> strongestBaselines(const RunSnapshot& snapshot, const Evaluation& evaluation)
{
    std::set<std::string> names;
    for (const ShapeTiming& timing : evaluation.timings)
        names.insert(timing.baseline);
    if (!names.empty())
        return names;
    const Baseline* best = nullptr;
    for (const Baseline& baseline : snapshot.baselines) {
        const auto time = baseline.evaluation.timeUs();
        if (time && (!best || *time < *best->evaluation.timeUs()))
            best = &baseline;
    }
    if (best)
        names.insert(best->name);
    else if (!snapshot.baselines.empty())
        names.insert(snapshot.baselines.front().name);
    return names;
}

/// Gathers the files of one bundle. The first error ends it.
class Collector {
public:
    Collector(RunFile& file, const RunSnapshot& snapshot, const Candidate& candidate)
        : file_(file), snapshot_(snapshot), candidate_(candidate)
    {
    }

    Result<void> collect()
    {
        for (const auto step : {&Collector::addSources, &Collector::addFigures, &Collector::addEnvironment,
                                &Collector::addTimelines, &Collector::addRun, &Collector::addTrace})
            if (auto done = (this->*step)(); !done)
                return done;
        return {};
    }

    std::vector<DescribedFile> files;
    std::vector<std::string> missing;

private:
    void add(std::string name, std::string bytes, std::string description)
    {
        files.push_back({{std::move(name), std::move(bytes)}, std::move(description)});
    }

    Result<void> addDiff(const std::string& name, const std::string& text, const std::string& what)
    {
        const auto diff = unifiedDiff(text, source_, name, candidate_.id);
        if (!diff)
            return std::unexpected(diff.error());
        add(fmt::format("against-{}.diff", fileName(name)), *diff, "unified diff of " + what + " and the candidate");
        return {};
    }

    Result<void> addSources()
    {
        auto source = file_.source(candidate_.id);
        if (!source)
            return std::unexpected(source.error());
        source_ = std::move(*source);
        add("candidate.cu", source_, "the candidate's source, byte for byte as it was evaluated");
        for (const std::string& name : strongestBaselines(snapshot_, evaluation_)) {
            const auto text = file_.baselineSource(name);
            if (!text)
                return std::unexpected(text.error());
            add("baseline-" + fileName(name) + (name.ends_with(".cu") ? "" : ".cu"), *text,
                "the strongest host baseline's source, which the speed-up is against");
            if (auto done = addDiff(name, *text, "that baseline"); !done)
                return done;
        }
        for (const std::string& parent : candidate_.parents) {
            const auto text = file_.source(parent);
            if (!text)
                return std::unexpected(text.error());
            if (auto done = addDiff(parent, *text, "its parent"); !done)
                return done;
        }
        if (candidate_.parents.empty())
            missing.emplace_back("The candidate has no parent: its island began with it.");
        return {};
    }

    Result<void> addFigures()
    {
        auto settled_ms = file_.settledMs(candidate_.id);
        if (!settled_ms)
            return std::unexpected(settled_ms.error());
        settled_ms_ = *settled_ms;
        const auto whole = file_.evaluation(candidate_.id);
        if (!whole)
            return std::unexpected(whole.error());
        if (!*whole) {
            missing.emplace_back("The candidate is not evaluated yet: there are no figures.");
            return {};
        }
        evaluation_ = **whole;
        const auto again = file_.remeasurements(candidate_.id);
        if (!again)
            return std::unexpected(again.error());
        add("samples.json", pretty(samplesDocument(evaluation_, settled_ms_, *again)),
            "every raw sample of every shape, in pairs with the baseline's, and the statistics made of them");
        add("verdicts.json", pretty(verdictsDocument(evaluation_, settled_ms_, *again)),
            "all verdicts by time, those of promotions on held-back shapes included");
        auto evaluations = nlohmann::json::array({toJson(evaluation_)});
        for (const Remeasurement& one : *again)
            evaluations.push_back(toJson(one.evaluation));
        add("evaluations.json", pretty(evaluations), "the same evaluations whole, as the run file has them");
        if (again->empty())
            missing.emplace_back("It was never measured on held-back shapes.");
        if (evaluation_.timings.empty())
            missing.emplace_back("It was not timed.");
        return {};
    }

    /// The last one found before the evaluation was stored.
    Result<void> addEnvironment()
    {
        const auto all = file_.environments();
        if (!all)
            return std::unexpected(all.error());
        auto documents = nlohmann::json::array();
        std::optional<nlohmann::json> of_evaluation;
        for (const RunEnvironment& environment : *all) {
            auto probe = parseJson(environment.probe, "environments.document");
            if (!probe)
                return std::unexpected(probe.error());
            if (!settled_ms_ || environment.time_ms <= *settled_ms_)
                of_evaluation = *probe;
            documents.push_back({{"time_ms", environment.time_ms}, {"probe", std::move(*probe)}});
        }
        if (of_evaluation)
            add("environment.json", pretty(*of_evaluation),
                "the node that evaluated it: GPUs, driver, compiler, NCCL, sandbox, as cucoctl node probe has it");
        else
            missing.emplace_back("The run file has no record of the node: an earlier version of CUCo wrote it.");
        if (documents.size() > 1)
            add("environments.json", pretty(documents), "all nodes that the run was on, by time");
        return {};
    }

    Result<void> addTimeline(const std::string& name, Result<std::optional<Timeline>> timeline, const std::string& what)
    {
        if (!timeline)
            return std::unexpected(timeline.error());
        if (!*timeline) {
            missing.push_back("There is no timeline of " + what + ".");
            return {};
        }
        add("timelines/" + name + ".json",
            toPerfetto(**timeline).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace),
            "where the time of " + what + " goes, for ui.perfetto.dev");
        return {};
    }

    Result<void> addTimelines()
    {
        if (auto done = addTimeline("candidate", file_.timeline(candidate_.id), "the candidate"); !done)
            return done;
        for (const std::string& name : strongestBaselines(snapshot_, evaluation_))
            if (auto done = addTimeline("baseline-" + fileName(name), file_.baselineTimeline(name),
                                        "the strongest host baseline");
                !done)
                return done;
        return {};
    }

    Result<void> addRun()
    {
        const nlohmann::json run = toJson(snapshot_);
        nlohmann::json document{{"config", toJson(snapshot_.config)}};
        for (const char* key : {"state", "message", "modelled", "self_reported", "best", "baselines"})
            document[key] = run.at(key);
        document["candidate"] = toJson(candidate_);
        add("run.json", pretty(document), "the run's configuration and baselines, and the candidate's place in it");
        auto decisions = nlohmann::json::array();
        for (const nlohmann::json& decision : run.at("decisions"))
            if (decision.at("candidate") == candidate_.id)
                decisions.push_back(decision);
        add("decisions.json", pretty(decisions), "what people decided on it, with reasons, and what became of it");
        return {};
    }

    Result<void> addTrace()
    {
        auto trace = traceFiles(file_, withAncestors(snapshot_, candidate_.id));
        if (!trace)
            return std::unexpected(trace.error());
        bool asked = false;
        for (FolderFile& file : *trace) {
            const bool first_call = file.name.starts_with("llm/") && !asked;
            asked = asked || file.name.starts_with("llm/");
            if (file.name == "steps.md")
                add(file.name, std::move(file.bytes), "why agents proposed it and its ancestors");
            else if (first_call)
                add(file.name, std::move(file.bytes),
                    "this and all others in llm/: the calls of models behind it and its ancestors, to read (.md) and "
                    "whole (.json)");
            else
                files.push_back({std::move(file), ""});
        }
        if (!asked)
            missing.emplace_back("No language model was asked for it or its ancestors.");
        return {};
    }

    RunFile& file_;
    const RunSnapshot& snapshot_;
    const Candidate& candidate_;
    Evaluation evaluation_ = candidate_.evaluation.value_or(Evaluation{});
    std::string source_;
    std::optional<std::int64_t> settled_ms_;
};

}  // namespace

Result<std::vector<FolderFile>> collectEvidence(RunFile& file, const std::string& candidate_id,
                                                const EvidenceOptions& options)
{
    const auto snapshot = file.snapshot();
    if (!snapshot)
        return std::unexpected(snapshot.error());
    const auto candidate = std::ranges::find(snapshot->candidates, candidate_id, &Candidate::id);
    if (candidate == snapshot->candidates.end())
        return failure(fmt::format("There is no candidate {}", candidate_id), file.path().string(),
                       "Choose one of those that `cucoctl show` lists.");
    Collector collector(file, *snapshot, *candidate);
    if (auto done = collector.collect(); !done)
        return std::unexpected(done.error());
    collector.files.insert(collector.files.end(), options.further.begin(), options.further.end());
    auto script = verifyScript(options.resources, *snapshot, *candidate);
    if (!script)
        return std::unexpected(script.error());
    collector.files.push_back({std::move(*script), "verifies and measures it again, and compares"});
    auto readme = evidenceReadme(options.resources, *snapshot, *candidate, collector.files, collector.missing);
    if (!readme)
        return std::unexpected(readme.error());
    std::vector<FolderFile> files{std::move(*readme)};
    for (DescribedFile& described : collector.files)
        files.push_back(std::move(described.file));
    return files;
}

}  // namespace cuco
