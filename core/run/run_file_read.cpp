// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/agents/scratchpad.h"
#include "core/run/candidate_json.h"
#include "core/run/database.h"
#include "core/run/run_file.h"
#include "core/run/stored_evaluation.h"
#include "core/run/timeline_blob.h"
#include "core/run/writer_lock.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <tuple>

namespace cuco {

namespace {

constexpr std::int64_t detail_bytes_in_snapshot = 4'000;
constexpr std::int64_t log_entries_in_snapshot = 10'000;
constexpr std::int64_t first_format_with_remeasurements = 3;
constexpr std::int64_t first_format_with_proposed_texts = 4;

constexpr std::string_view decisions_with_standing =
    "SELECT d.id, d.candidate, d.kind, d.reason, d.time_ms, d.undone, r.standing, r.finding FROM decisions AS d "
    "LEFT JOIN remeasurements AS r ON r.id = (SELECT max(id) FROM remeasurements WHERE decision = d.id) ORDER BY d.id";
constexpr std::string_view decisions_without_standing =
    "SELECT id, candidate, kind, reason, time_ms, undone, NULL, NULL FROM decisions ORDER BY id";

Result<Candidate> readCandidate(const SqlRow& row)
{
    Candidate candidate;
    candidate.id = row.text(1);
    const std::string owner = "candidate " + candidate.id;
    for (const auto& [name, column, target] :
         {std::tuple{"candidates.number", 0, &candidate.number}, std::tuple{"candidates.island", 3, &candidate.island},
          std::tuple{"candidates.generation", 4, &candidate.generation}}) {
        const auto value = smallInteger(row, column, name, owner);
        if (!value)
            return std::unexpected(value.error());
        *target = *value;
    }
    auto parents = cell(row.text(2), "candidates.parents", owner, parentsFromJson);
    if (!parents)
        return std::unexpected(parents.error());
    auto directive = cell(row.text(8), "candidates.directive", owner, directiveFromJson);
    if (!directive)
        return std::unexpected(directive.error());
    auto tunables = cell(row.text(9), "candidates.tunables", owner, tunablesFromJson);
    if (!tunables)
        return std::unexpected(tunables.error());
    const std::string state_name = row.text(11);
    const auto state = candidateStateFromString(state_name);
    if (!state)
        return badCell("candidates.state", owner, fmt::format("\"{}\" is no state", state_name));

    candidate.parents = std::move(*parents);
    candidate.proposer = row.text(5);
    candidate.summary = row.text(6);
    candidate.strategy = row.text(7);
    candidate.directive = std::move(*directive);
    candidate.tunables = std::move(*tunables);
    candidate.source_sha256 = row.text(10);
    candidate.state = *state;
    candidate.cost_usd = row.real(12);
    if (!row.isNull(13)) {
        auto evaluation = readEvaluation(row.text(13), row.text(14), "evaluations.document", owner);
        if (!evaluation)
            return std::unexpected(evaluation.error());
        candidate.evaluation = std::move(*evaluation);
    }
    if ((candidate.state == CandidateState::settled) != candidate.evaluation.has_value())
        return badCell("candidates.state", owner, "it does not agree with the table evaluations");
    return candidate;
}

Result<Decision> readDecision(const SqlRow& row)
{
    Decision decision;
    const std::string owner = fmt::format("decision {}", row.integer(0));
    const auto id = smallInteger(row, 0, "decisions.id", owner);
    if (!id)
        return std::unexpected(id.error());
    const std::string kind_name = row.text(2);
    const auto kind = decisionKindFromString(kind_name);
    if (!kind)
        return badCell("decisions.kind", owner, fmt::format("\"{}\" is no decision", kind_name));
    decision.id = *id;
    decision.candidate_id = row.text(1);
    decision.kind = *kind;
    decision.reason = row.text(3);
    decision.time_ms = row.integer(4);
    decision.undone = row.integer(5) != 0;
    if (!row.isNull(6)) {
        const auto standing = promotionStandingFromString(row.text(6));
        if (!standing)
            return badCell("remeasurements.standing", owner, fmt::format("\"{}\" is no standing", row.text(6)));
        decision.standing = *standing;
        decision.finding = row.text(7);
    }
    return decision;
}

Result<void> readRun(Database& database, RunSnapshot& snapshot)
{
    bool found = false;
    auto done =
        database.query("SELECT config, state, message, modelled FROM run", {}, [&](const SqlRow& row) -> Result<void> {
            found = true;
            auto config = cell(row.text(0), "run.config", "the run", runConfigFromJson);
            if (!config)
                return std::unexpected(config.error());
            const std::string state_name = row.text(1);
            const auto state = runStateFromString(state_name);
            if (!state)
                return badCell("run.state", "the run", fmt::format("\"{}\" is no state", state_name));
            snapshot.config = std::move(*config);
            snapshot.state = *state;
            snapshot.message = row.text(2);
            snapshot.modelled = row.integer(3) != 0;
            return {};
        });
    if (done && !found)
        return badCell("run.config", "the run", "there is no row");
    return done;
}

Result<void> readParts(Database& database, bool with_remeasurements, bool with_proposed_texts, RunSnapshot& snapshot)
{
    auto done = database.query("SELECT name, document, substr(detail, 1, ?) FROM baselines ORDER BY position",
                               {detail_bytes_in_snapshot}, [&](const SqlRow& row) -> Result<void> {
                                   auto evaluation = readEvaluation(row.text(1), row.text(2), "baselines.document",
                                                                    "baseline " + row.text(0));
                                   if (!evaluation)
                                       return std::unexpected(evaluation.error());
                                   snapshot.baselines.push_back({row.text(0), std::move(*evaluation)});
                                   return {};
                               });
    if (!done)
        return done;
    done = database.query(
        "SELECT c.number, c.id, c.parents, c.island, c.generation, c.proposer, c.summary, c.strategy, c.directive, "
        "c.tunables, c.source_sha256, c.state, c.cost_usd, e.document, substr(e.detail, 1, ?) "
        "FROM candidates AS c LEFT JOIN evaluations AS e ON e.candidate = c.number ORDER BY c.number",
        {detail_bytes_in_snapshot}, [&](const SqlRow& row) -> Result<void> {
            auto candidate = readCandidate(row);
            if (!candidate)
                return std::unexpected(candidate.error());
            if (candidate->number != static_cast<int>(snapshot.candidates.size()))
                return badCell("candidates.number", "candidate " + candidate->id, "the numbers have a gap");
            snapshot.candidates.push_back(std::move(*candidate));
            return {};
        });
    if (!done)
        return done;
    done = database.query(with_remeasurements ? decisions_with_standing : decisions_without_standing, {},
                          [&](const SqlRow& row) -> Result<void> {
                              auto decision = readDecision(row);
                              if (!decision)
                                  return std::unexpected(decision.error());
                              snapshot.decisions.push_back(std::move(*decision));
                              return {};
                          });
    if (!done)
        return done;
    if (with_proposed_texts)
        done =
            database.query("SELECT candidate, sha256 FROM proposed_texts", {}, [&](const SqlRow& row) -> Result<void> {
                const std::int64_t number = row.integer(0);
                if (number < 0 || std::cmp_greater_equal(number, snapshot.candidates.size()))
                    return badCell("proposed_texts.candidate", std::to_string(number), "there is no such candidate");
                snapshot.candidates[static_cast<std::size_t>(number)].proposed_sha256 = row.text(1);
                return {};
            });
    if (!done)
        return done;
    return database.query("SELECT time_ms, level, text FROM (SELECT * FROM log ORDER BY id DESC LIMIT ?) ORDER BY id",
                          {log_entries_in_snapshot}, [&](const SqlRow& row) -> Result<void> {
                              snapshot.log.push_back({row.integer(0), row.text(1), row.text(2)});
                              return {};
                          });
}

std::unexpected<Error> noCandidate(const std::string& id, const std::filesystem::path& path)
{
    return failure(fmt::format("There is no candidate {}", id), path.string(),
                   "Choose one of those that `cucoctl show` lists.");
}

}  // namespace

Result<RunSnapshot> RunFile::snapshot()
{
    const std::scoped_lock guard(mutex_);
    RunSnapshot snapshot;
    auto done = database_->consistently([&]() -> Result<void> {
        if (auto run = readRun(*database_, snapshot); !run)
            return run;
        const auto with_remeasurements = hasFormat(first_format_with_remeasurements);
        if (!with_remeasurements)
            return std::unexpected(with_remeasurements.error());
        const auto with_proposed_texts = hasFormat(first_format_with_proposed_texts);
        if (!with_proposed_texts)
            return std::unexpected(with_proposed_texts.error());
        return readParts(*database_, *with_remeasurements, *with_proposed_texts, snapshot);
    });
    if (!done) {
        Error error = done.error();
        if (error.where.empty())
            error.where = path_.string();
        return std::unexpected(std::move(error));
    }
    for (Candidate& candidate : snapshot.candidates)
        applyDecisions(snapshot.decisions, candidate);
    if (snapshot.state == RunState::running && access_ == Access::read && !WriterLock::isHeld(path_)) {
        snapshot.state = RunState::stopped;
        snapshot.message = "The program that ran it ended without closing it; resume it to go on.";
    }
    return snapshot;
}

Result<std::optional<Evaluation>> RunFile::evaluation(const std::string& candidate_id)
{
    const std::scoped_lock guard(mutex_);
    bool known = false;
    std::optional<Evaluation> found;
    auto done = database_->query(
        "SELECT e.document, e.detail FROM candidates AS c LEFT JOIN evaluations AS e ON e.candidate = c.number "
        "WHERE c.id = ?",
        {std::string_view(candidate_id)}, [&](const SqlRow& row) -> Result<void> {
            known = true;
            if (row.isNull(0))
                return {};
            auto evaluation =
                readEvaluation(row.text(0), row.text(1), "evaluations.document", "candidate " + candidate_id);
            if (!evaluation)
                return std::unexpected(evaluation.error());
            found = std::move(*evaluation);
            return {};
        });
    if (!done)
        return std::unexpected(done.error());
    if (!known)
        return noCandidate(candidate_id, path_);
    return found;
}

Result<std::string> RunFile::sourceWithSha256(const std::string& sha256)
{
    const std::scoped_lock guard(mutex_);
    std::optional<std::string> text;
    auto done = database_->query("SELECT text FROM sources WHERE sha256 = ?", {std::string_view(sha256)},
                                 [&](const SqlRow& row) -> Result<void> {
                                     text = row.text(0);
                                     return {};
                                 });
    if (!done)
        return std::unexpected(done.error());
    if (!text || sha256Hex(*text) != sha256)
        return failure(fmt::format("The source {} is not in the run file, or is damaged", sha256.substr(0, 12)),
                       path_.string(), "Go back to a copy of the run file.");
    return std::move(*text);
}

Result<std::string> RunFile::source(const std::string& candidate_id)
{
    const std::scoped_lock guard(mutex_);
    std::optional<std::string> text;
    auto done = database_->query(
        "SELECT s.text, s.sha256 FROM candidates AS c JOIN sources AS s ON s.sha256 = c.source_sha256 WHERE c.id = ?",
        {std::string_view(candidate_id)}, [&](const SqlRow& row) -> Result<void> {
            text = row.text(0);
            if (sha256Hex(*text) != row.text(1))
                return failure(fmt::format("The source of {} is damaged: it does not have its checksum", candidate_id),
                               path_.string(), "Go back to a copy of the run file.");
            return {};
        });
    if (!done)
        return std::unexpected(done.error());
    if (!text)
        return noCandidate(candidate_id, path_);
    return std::move(*text);
}

Result<std::string> RunFile::baselineSource(const std::string& name)
{
    const std::scoped_lock guard(mutex_);
    std::optional<std::string> text;
    auto done = database_->query("SELECT source FROM baselines WHERE name = ?", {std::string_view(name)},
                                 [&](const SqlRow& row) -> Result<void> {
                                     text = row.text(0);
                                     return {};
                                 });
    if (!done)
        return std::unexpected(done.error());
    if (!text)
        return failure(fmt::format("There is no baseline {}", name), path_.string(),
                       "Baselines are measured when a run begins: start it first.");
    return std::move(*text);
}

Result<std::optional<Timeline>> RunFile::readTimeline(std::string_view sql, const std::string& key)
{
    const std::scoped_lock guard(mutex_);
    std::optional<Timeline> found;
    auto done = database_->query(sql, {std::string_view(key)}, [&](const SqlRow& row) -> Result<void> {
        if (row.isNull(0) || row.isNull(1))
            return {};
        auto timeline = decompressTimeline(row.text(1), row.integer(0));
        if (!timeline)
            return std::unexpected(timeline.error());
        found = std::move(*timeline);
        return {};
    });
    if (!done)
        return std::unexpected(done.error());
    return found;
}

Result<std::optional<Timeline>> RunFile::timeline(const std::string& candidate_id)
{
    return readTimeline(
        "SELECT t.json_bytes, t.zstd FROM candidates AS c JOIN timelines AS t ON t.candidate = c.number WHERE c.id = ?",
        candidate_id);
}

Result<std::optional<Timeline>> RunFile::baselineTimeline(const std::string& name)
{
    return readTimeline("SELECT json_bytes, zstd FROM baselines WHERE name = ?", name);
}

Result<std::vector<AgentStep>> RunFile::steps()
{
    return readSteps({});
}

Result<std::vector<AgentStep>> RunFile::scratchpads()
{
    auto steps = readSteps(" WHERE title LIKE 'Scratchpad%'");
    if (steps)
        std::erase_if(*steps, [](const AgentStep& step) { return !scratchpadOf(step); });
    return steps;
}

Result<std::vector<AgentStep>> RunFile::readSteps(const std::string& condition)
{
    const std::scoped_lock guard(mutex_);
    std::vector<AgentStep> steps;
    auto done = database_->query(
        "SELECT id, parent, candidate, agent, title, body, time_ms FROM steps" + condition + " ORDER BY id", {},
        [&](const SqlRow& row) -> Result<void> {
            const std::string owner = fmt::format("step {}", row.integer(0));
            const auto id = smallInteger(row, 0, "steps.id", owner);
            if (!id)
                return std::unexpected(id.error());
            const auto parent = smallInteger(row, 1, "steps.parent", owner);
            if (!parent)
                return std::unexpected(parent.error());
            steps.push_back({*id, *parent, row.text(2), row.text(3), row.text(4), row.text(5), row.integer(6)});
            return {};
        });
    if (!done)
        return std::unexpected(done.error());
    return steps;
}

}  // namespace cuco
