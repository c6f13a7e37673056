// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/run/import_shinka.h"

#include "core/agents/prompt.h"
#include "core/base/clock.h"
#include "core/run/run_file.h"
#include "core/run/run_snapshot.h"
#include "core/run/shinka_database.h"
#include "core/source/kernel_source.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <queue>
#include <tuple>
#include <unordered_map>

namespace cuco {

namespace {

using nlohmann::json;

constexpr std::size_t most_body_bytes = 16'000, most_line_bytes = 200;
constexpr std::size_t most_samples = 10'000;
constexpr double longest_time_ms = 1e9;
constexpr const char* agent = "imported";

std::string textOf(const json& object, const char* name)
{
    const auto found = object.is_object() ? object.find(name) : object.end();
    return object.is_object() && found != object.end() && found->is_string() ? found->get<std::string>()
                                                                             : std::string();
}

std::optional<double> numberOf(const json& object, const char* name)
{
    if (!object.is_object() || !object.contains(name) || !object.at(name).is_number())
        return std::nullopt;
    const double value = object.at(name).get<double>();
    return std::isfinite(value) ? std::optional(value) : std::nullopt;
}

/// What may stand in a title: no line of its own, no end.
std::string oneLine(std::string text)
{
    text = text.substr(0, text.find('\n'));
    std::erase_if(text, [](unsigned char c) { return c < ' ' || c == 0x7f; });
    if (text.size() > most_line_bytes)
        text = validUtf8(text.substr(0, most_line_bytes)) + "…";
    return text;
}

/// Nothing unless it is a time that a program can have taken.
std::optional<double> timeUs(const json& value)
{
    const double ms = value.is_number() ? value.get<double>() : 0;
    return std::isfinite(ms) && ms > 0 && ms < longest_time_ms ? std::optional(1000 * ms) : std::nullopt;
}

/// The numbers of the entries in an order in which parents come first, otherwise by generation and time.
struct Order {
    std::vector<std::size_t> entries;
    std::unordered_map<std::string, std::size_t> by_id;  ///< the first entry of that id
    std::vector<std::size_t> number;                     ///< of each entry
    std::vector<std::optional<std::size_t>> parent;      ///< of each entry, as an entry
    int orphans = 0, repeated = 0, circular = 0;
};

Order orderOf(const std::vector<ShinkaEntry>& entries)
{
    Order order;
    for (std::size_t i = 0; i < entries.size(); ++i)
        if (!entries[i].id.empty() && !order.by_id.emplace(entries[i].id, i).second)
            ++order.repeated;
    order.parent.resize(entries.size());
    order.number.resize(entries.size());
    std::vector<std::vector<std::size_t>> children(entries.size());
    const auto before = [&](std::size_t left, std::size_t right) {
        return std::tuple(entries[left].generation, entries[left].time_ms, left) <
               std::tuple(entries[right].generation, entries[right].time_ms, right);
    };
    const auto later = [&](std::size_t left, std::size_t right) { return before(right, left); };
    std::priority_queue<std::size_t, std::vector<std::size_t>, decltype(later)> ready(later);
    for (std::size_t i = 0; i < entries.size(); ++i) {
        const auto parent = order.by_id.find(entries[i].parent_id);
        if (!entries[i].parent_id.empty() && parent != order.by_id.end())
            order.parent[i] = parent->second;
        order.orphans += !entries[i].parent_id.empty() && !order.parent[i] ? 1 : 0;
        if (order.parent[i])
            children[*order.parent[i]].push_back(i);
        else
            ready.push(i);
    }
    std::vector<bool> placed(entries.size());
    const auto place = [&] {
        while (!ready.empty()) {
            const std::size_t entry = ready.top();
            ready.pop();
            if (placed[entry])
                continue;
            placed[entry] = true;
            order.number[entry] = order.entries.size();
            order.entries.push_back(entry);
            for (const std::size_t child : children[entry])
                ready.push(child);
        }
    };
    place();
    // What is left hangs on circles; the earliest program of each loses its parent.
    std::vector<std::size_t> left;
    for (std::size_t i = 0; i < entries.size(); ++i)
        if (!placed[i])
            left.push_back(i);
    std::ranges::sort(left, before);
    for (const std::size_t entry : left) {
        if (placed[entry])
            continue;
        std::size_t member = entry;
        std::vector<bool> passed(entries.size());
        while (!passed[member]) {
            passed[member] = true;
            member = *order.parent[member];
        }
        order.parent[member].reset();
        ++order.circular;
        ready.push(member);
        place();
    }
    return order;
}

/// CUCo's evaluators say `time_ms`, and perhaps all times.
std::optional<ShapeTiming> timingOf(const json& metrics)
{
    const auto time = metrics.is_object() && metrics.contains("time_ms") ? timeUs(metrics.at("time_ms")) : std::nullopt;
    if (!time)
        return std::nullopt;
    ShapeTiming timing;
    timing.shape = "imported";
    timing.time_us = *time;
    if (const auto all = metrics.find("all_run_times_ms"); all != metrics.end() && all->is_array())
        for (const json& each : *all)
            if (const auto sample = timeUs(each); sample && timing.samples_us.size() < most_samples)
                timing.samples_us.push_back(*sample);
    if (timing.samples_us.empty())
        timing.samples_us = {*time};
    return timing;
}

Verdict verdictOf(const ShinkaProgram& program, const std::string& error)
{
    if (program.correct)
        return Verdict::verified;
    return error.starts_with("Timeout") ? Verdict::timeout
           : error.starts_with("exit ") ? Verdict::crash
                                        : Verdict::wrong_result;
}

Evaluation evaluationOf(const ShinkaProgram& program, const std::optional<ShapeTiming>& seed)
{
    Evaluation evaluation;
    const std::string error = textOf(program.private_metrics, "error");
    evaluation.verdict = verdictOf(program, error);
    evaluation.stage = Stage::verify;
    evaluation.self_reported = true;
    if (!program.correct)
        evaluation.message = error.empty() ? "Imported as not correct" : oneLine(error);
    evaluation.detail = error.substr(0, most_body_bytes);
    if (auto timing = timingOf(program.public_metrics); timing && program.correct) {
        evaluation.stage = Stage::benchmark;
        if (seed) {
            timing->baseline = "imported seed";
            timing->baseline_us = seed->time_us;
            timing->baseline_samples_us = seed->samples_us;
            timing->speedup = timing->ci_low = timing->ci_high = seed->time_us / timing->time_us;
            timing->baselines = {{"imported seed", seed->time_us, {}}};
        }
        evaluation.timings.push_back(std::move(*timing));
    }
    evaluation.remarks.push_back(
        "Imported: figures and verdict are the other program's word, nothing was measured here.");
    if (program.score)
        evaluation.remarks.push_back(fmt::format("combined_score {:.6g} (imported)", *program.score));
    return evaluation;
}

double costOf(const json& metadata)
{
    double usd = 0;
    for (const char* name : {"api_costs", "embed_cost", "novelty_cost", "meta_cost"})
        usd += std::max(0.0, numberOf(metadata, name).value_or(0));
    return usd;
}

AgentStep stepOf(const ShinkaEntry& entry, const ShinkaProgram& program, const std::string& inspirations)
{
    const json& metadata = program.metadata;
    const std::string type = oneLine(textOf(metadata, "patch_type")), name = oneLine(textOf(metadata, "patch_name"));
    AgentStep step;
    step.agent = agent;
    step.time_ms = entry.time_ms;
    step.title = name.empty() ? (type.empty() ? "Imported program" : type) : type.empty() ? name : type + ": " + name;
    const auto add = [&step](const char* label, std::string_view text, const char* language) {
        if (!text.empty())
            step.body += fmt::format("{}\n\n{}\n\n", label, fenced(text, language, most_body_bytes));
    };
    step.body = fmt::format("Imported; self-reported. Its id was {}.\n\n", fenced(entry.id, "text", most_line_bytes));
    if (!inspirations.empty())
        step.body += "Inspirations: " + inspirations + "\n\n";
    add("What it wanted:", textOf(metadata, "patch_description"), "text");
    add("Model:", textOf(metadata, "model_name"), "text");
    if (program.public_metrics.is_object() && !program.public_metrics.empty())
        add("Metrics:", program.public_metrics.dump(2, ' ', false, json::error_handler_t::replace), "json");
    add("Feedback:", program.feedback, "text");
    add("Why the patch failed:", textOf(metadata, "error_attempt"), "text");
    add("Patch:", program.code_diff, "diff");
    return step;
}

/// What was asked for the program and answered, where it was kept.
std::optional<LlmCall> callOf(const ShinkaEntry& entry, const json& metadata)
{
    const json* const kept =
        metadata.is_object() && metadata.contains("llm_result") ? &metadata.at("llm_result") : nullptr;
    if (!kept || textOf(*kept, "content").empty())
        return std::nullopt;
    LlmCall call;
    call.agent = agent;
    call.provider = agent;
    call.started_ms = entry.time_ms;
    const std::string model = textOf(*kept, "model_name");
    call.request.model = model.empty() ? textOf(metadata, "model_name") : model;
    call.request.system = textOf(*kept, "system_msg");
    if (std::string asked = textOf(*kept, "msg"); !asked.empty())
        call.request.messages.push_back({ChatRole::user, std::move(asked)});
    ChatResponse response;
    response.text = textOf(*kept, "content");
    response.model = call.request.model;
    response.stop_reason = StopReason::finished;
    const auto input = numberOf(*kept, "input_tokens"), output = numberOf(*kept, "output_tokens");
    const auto tokens = [](std::optional<double> number) {
        return static_cast<std::int64_t>(std::clamp(number.value_or(0), 0.0, 1e12));
    };
    response.usage.input = tokens(input);
    response.usage.output = tokens(output);
    response.usage.reported = input && output;
    call.result = std::move(response);
    if (const auto cost = numberOf(*kept, "cost"); cost && *cost >= 0) {
        call.cost_usd = *cost;
        call.cost_source = "imported";
    }
    return call;
}

std::string nameFor(const std::filesystem::path& database, const std::string& workload)
{
    std::string name = workload.empty() ? database.stem().string() : workload;
    std::ranges::replace_if(
        name, [](unsigned char c) { return !std::isalnum(c) && c != '_' && c != '-' && c != '.'; }, '_');
    return name.substr(0, 100);
}

class Import {
public:
    Import(ShinkaDatabase& database, RunFile& file)
        : database_(database), file_(file), order_(orderOf(database.entries()))
    {
    }

    Result<ImportReport> run(const std::stop_token& stop)
    {
        if (auto found = findSeed(); !found)
            return std::unexpected(found.error());
        for (std::size_t number = 0; number < order_.entries.size(); ++number) {
            if (stop.stop_requested())
                return failure("The import was cancelled", file_.path().string());
            if (auto added = add(static_cast<int>(number)); !added)
                return std::unexpected(added.error());
        }
        addRemarks();
        for (const std::string& remark : report_.remarks)
            if (auto added = file_.addLog({unixTimeMs(), "warning", remark}); !added)
                return std::unexpected(added.error());
        return report_;
    }

private:
    const ShinkaEntry& entry(int number) const
    {
        return database_.entries()[order_.entries[static_cast<std::size_t>(number)]];
    }

    /// The first correct program of the first generation that says its time: what speed-ups are against.
    Result<void> findSeed()
    {
        for (int number = 0; number < static_cast<int>(order_.entries.size()); ++number) {
            if (entry(number).generation != entry(0).generation)
                continue;
            auto program = database_.program(entry(number));
            if (!program)
                return std::unexpected(program.error());
            const auto timing = timingOf(program->public_metrics);
            if (!program->correct || !timing)
                continue;
            seed_ = timing;
            return file_.addBaseline({"imported seed", evaluationOf(*program, seed_)}, program->code, std::nullopt,
                                     false);
        }
        return {};
    }

    Result<void> add(int number)
    {
        const ShinkaEntry& row = entry(number);
        auto program = database_.program(row);
        if (!program)
            return std::unexpected(program.error());
        broken_ += program->broken_fields > 0 ? 1 : 0;
        Candidate candidate;
        candidate.number = number;
        candidate.id = fmt::format("c{}", number);
        candidate.island = static_cast<int>(row.island);
        candidate.generation = static_cast<int>(row.generation);
        candidate.proposer = agent;
        candidate.strategy = oneLine(textOf(program->metadata, "patch_type"));
        candidate.summary = oneLine(textOf(program->metadata, "patch_name"));
        candidate.source_sha256 = sha256Hex(program->code);
        candidate.cost_usd = costOf(program->metadata);
        if (const auto parent = order_.parent[order_.entries[static_cast<std::size_t>(number)]])
            candidate.parents = {fmt::format("c{}", order_.number[*parent])};
        AgentStep step = stepOf(row, *program, inspirationsOf(*program));
        step.candidate_id = candidate.id;
        const auto steps = file_.addCandidate(candidate, program->code, {std::move(step)});
        if (!steps)
            return std::unexpected(steps.error());
        if (auto call = callOf(row, program->metadata)) {
            call->step = steps->front().id;
            call->candidate_id = candidate.id;
            if (auto added = file_.addLlmCall(*call); !added)
                return std::unexpected(added.error());
            ++report_.calls;
        }
        candidate.state = CandidateState::settled;
        candidate.evaluation = evaluationOf(*program, seed_);
        ++report_.programs;
        report_.correct += program->correct ? 1 : 0;
        report_.timed += candidate.evaluation->timings.empty() ? 0 : 1;
        return file_.settleCandidate(candidate, std::nullopt);
    }

    std::string inspirationsOf(const ShinkaProgram& program) const
    {
        std::string ids;
        for (const std::string& id : program.inspirations)
            if (const auto found = order_.by_id.find(id); found != order_.by_id.end())
                ids += fmt::format("{}c{}", ids.empty() ? "" : ", ", order_.number[found->second]);
        return ids;
    }

    void addRemarks()
    {
        const auto remark = [this](int count, const char* text) {
            if (count > 0)
                report_.remarks.push_back(fmt::format(fmt::runtime(text), count));
        };
        remark(order_.orphans, "{} programs name a parent that is not in the database; they stand without one.");
        remark(order_.repeated, "{} programs have the id of another; lineage leads to the first of them.");
        remark(order_.circular, "{} circles in the lineage were cut at one program each.");
        remark(broken_, "{} programs have fields of a wrong type, too long, or that are no JSON; those are left out.");
        if (report_.timed == 0)
            report_.remarks.push_back(
                "No program says its time as time_ms in its public metrics; scores stand in the remarks of each.");
    }

    ShinkaDatabase& database_;
    RunFile& file_;
    Order order_;
    std::optional<ShapeTiming> seed_;
    int broken_ = 0;
    ImportReport report_;
};

}  // namespace

bool isImported(const RunConfig& config)
{
    return config.proposer == agent;
}

Result<ImportReport> importShinka(const std::filesystem::path& database, const std::filesystem::path& run_file,
                                  const std::string& workload, std::stop_token stop)
{
    auto opened = ShinkaDatabase::open(database);
    if (!opened)
        return std::unexpected(opened.error());
    RunConfig config;
    config.workload = nameFor(database, workload);
    config.proposer = config.node = agent;
    config.generations = config.islands = config.children = 1;
    for (const ShinkaEntry& entry : opened->entries()) {
        config.generations = std::max(config.generations, static_cast<int>(entry.generation));
        config.islands = std::max(config.islands, static_cast<int>(entry.island) + 1);
    }
    auto file = RunFile::create(run_file, config);
    if (!file)
        return std::unexpected(file.error());
    auto report = Import(*opened, **file).run(stop);
    if (report) {
        const auto done = (*file)->setState(
            RunState::finished,
            fmt::format("Imported from {}; all figures are self-reported.", database.filename().string()));
        if (!done)
            report = std::unexpected(done.error());
    }
    if (!report) {
        // Half a run would pass for a whole one.
        file->reset();
        std::error_code ignored;
        std::filesystem::remove(run_file, ignored);
    }
    return report;
}

}  // namespace cuco
