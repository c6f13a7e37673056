// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/clock.h"
#include "core/run/candidate_json.h"
#include "core/run/database.h"
#include "core/run/run_file.h"
#include "core/run/stored_evaluation.h"
#include "core/run/timeline_blob.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace cuco {

Result<void> RunFile::setState(RunState state, const std::string& message)
{
    const std::scoped_lock guard(mutex_);
    return database_->run("UPDATE run SET state = ?, message = ?", {toString(state), std::string_view(message)});
}

Result<void> RunFile::addBaseline(const Baseline& baseline, const std::string& source,
                                  const std::optional<Timeline>& timeline, bool modelled)
{
    std::optional<TimelineBlob> blob;
    if (timeline) {
        auto compressed = compressTimeline(*timeline);
        if (!compressed)
            return std::unexpected(compressed.error());
        blob = std::move(*compressed);
    }
    const StoredEvaluation stored(baseline.evaluation);
    const std::scoped_lock guard(mutex_);
    return database_->transaction([&]() -> Result<void> {
        if (auto done = database_->run("UPDATE run SET modelled = ?", {static_cast<std::int64_t>(modelled)}); !done)
            return done;
        return database_->run(
            "INSERT INTO baselines (name, position, source, time_us, document, detail, json_bytes, zstd) "
            "VALUES (?, (SELECT count(*) FROM baselines), ?, ?, ?, ?, ?, ?)",
            {std::string_view(baseline.name), std::string_view(source), orNull(stored.time_us),
             std::string_view(stored.document), std::string_view(stored.detail),
             blob ? SqlValue(blob->json_bytes) : SqlValue(nullptr),
             blob ? SqlValue(BlobView{blob->zstd}) : SqlValue(nullptr)});
    });
}

Result<std::vector<AgentStep>> RunFile::addCandidate(const Candidate& candidate, const std::string& source,
                                                     std::vector<AgentStep> steps)
{
    const std::string parents = dumpCell(candidate.parents), directive = dumpCell(toJson(candidate.directive)),
                      tunables = dumpCell(candidate.tunables);
    const std::scoped_lock guard(mutex_);
    auto done = database_->transaction(
        [&]() -> Result<void> {
            if (auto stored = database_->run("INSERT OR IGNORE INTO sources (sha256, text) VALUES (?, ?)",
                                             {std::string_view(candidate.source_sha256), std::string_view(source)});
                !stored)
                return stored;
            auto stored = database_->run(
                "INSERT INTO candidates (number, id, parents, island, generation, proposer, summary, strategy, "
                "directive, "
                "tunables, source_sha256, state, cost_usd, proposed_ms) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, "
                "?)",
                {std::int64_t{candidate.number}, std::string_view(candidate.id), std::string_view(parents),
                 std::int64_t{candidate.island}, std::int64_t{candidate.generation},
                 std::string_view(candidate.proposer), std::string_view(candidate.summary),
                 std::string_view(candidate.strategy), std::string_view(directive), std::string_view(tunables),
                 std::string_view(candidate.source_sha256), toString(CandidateState::proposed), candidate.cost_usd,
                 unixTimeMs()});
            if (!stored)
                return stored;
            return storeSteps(steps, Parents::among_these);
        },
        Database::Durability::with_next);
    if (!done)
        return std::unexpected(done.error());
    return steps;
}

Result<std::vector<AgentStep>> RunFile::addSteps(std::vector<AgentStep> steps, Author author)
{
    const std::scoped_lock guard(mutex_);
    auto done = database_->transaction(
        [&] { return storeSteps(steps, Parents::stored); },
        author == Author::person ? Database::Durability::on_disk : Database::Durability::with_next);
    if (!done)
        return std::unexpected(done.error());
    return steps;
}

Result<void> RunFile::storeSteps(std::vector<AgentStep>& steps, Parents parents)
{
    const auto last = database_->integer("SELECT coalesce(max(id), 0) FROM steps");
    if (!last)
        return std::unexpected(last.error());
    const int offset = static_cast<int>(*last);
    int position = 0;
    for (AgentStep& step : steps) {
        step.id = offset + ++position;
        if (parents == Parents::among_these && step.parent > 0)
            step.parent += offset;
        if (parents == Parents::stored && (step.parent < 0 || step.parent >= step.id))
            return failure(fmt::format("The step \"{}\" was to be stored below a step that is not there", step.title));
        auto stored = database_->run(
            "INSERT INTO steps (id, parent, candidate, agent, title, body, time_ms) VALUES (?, ?, ?, ?, ?, ?, ?)",
            {std::int64_t{step.id}, std::int64_t{step.parent}, std::string_view(step.candidate_id),
             std::string_view(step.agent), std::string_view(step.title), std::string_view(step.body), step.time_ms});
        if (!stored)
            return stored;
    }
    return {};
}

Result<AgentStep> RunFile::addSubmission(AgentStep step, const std::string& source)
{
    const std::string sha256 = sha256Hex(source);
    std::vector<AgentStep> steps{std::move(step)};
    const std::scoped_lock guard(mutex_);
    auto done = database_->transaction([&]() -> Result<void> {
        if (auto stored = database_->run("INSERT OR IGNORE INTO sources (sha256, text) VALUES (?, ?)",
                                         {std::string_view(sha256), std::string_view(source)});
            !stored)
            return stored;
        return storeSteps(steps, Parents::stored);
    });
    if (!done)
        return std::unexpected(done.error());
    return std::move(steps.front());
}

Result<void> RunFile::settleCandidate(const Candidate& candidate, const std::optional<Timeline>& timeline,
                                      const std::string* tuned_source)
{
    if (!candidate.evaluation)
        return failure(fmt::format("The candidate {} was to be settled without an evaluation", candidate.id));
    std::optional<TimelineBlob> blob;
    if (timeline) {
        auto compressed = compressTimeline(*timeline);
        if (!compressed)
            return std::unexpected(compressed.error());
        blob = std::move(*compressed);
    }
    const StoredEvaluation stored(*candidate.evaluation);
    const std::string tunables = dumpCell(candidate.tunables);
    const std::int64_t number = candidate.number;
    return database_->transactionInTurn(mutex_, [&]() -> Result<void> {
        auto done = database_->run("UPDATE candidates SET state = ? WHERE number = ?",
                                   {toString(CandidateState::settled), number});
        if (done && tuned_source)
            done = database_->run("INSERT OR IGNORE INTO sources (sha256, text) VALUES (?, ?)",
                                  {std::string_view(candidate.source_sha256), std::string_view(*tuned_source)});
        if (done && tuned_source)
            done = database_->run("UPDATE candidates SET source_sha256 = ?, tunables = ? WHERE number = ?",
                                  {std::string_view(candidate.source_sha256), std::string_view(tunables), number});
        if (done && tuned_source)
            done = database_->run("INSERT INTO proposed_texts (candidate, sha256) VALUES (?, ?)",
                                  {number, std::string_view(candidate.proposed_sha256)});
        if (done)
            done = database_->run(
                "INSERT INTO evaluations (candidate, verdict, stage, speedup, ci_low, ci_high, time_us, bound_us, "
                "document, detail, settled_ms) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                {number, stored.verdict, stored.stage, orNull(stored.speedup), orNull(stored.ci_low),
                 orNull(stored.ci_high), orNull(stored.time_us), orNull(stored.bound_us),
                 std::string_view(stored.document), std::string_view(stored.detail), unixTimeMs()});
        if (done && blob)
            done = database_->run("INSERT INTO timelines (candidate, json_bytes, zstd) VALUES (?, ?, ?)",
                                  {number, blob->json_bytes, BlobView{blob->zstd}});
        return done;
    });
}

Result<void> RunFile::addDecision(const Decision& decision)
{
    const std::scoped_lock guard(mutex_);
    return database_->run(
        "INSERT INTO decisions (id, candidate, kind, reason, time_ms, undone) VALUES (?, ?, ?, ?, ?, 0)",
        {std::int64_t{decision.id}, std::string_view(decision.candidate_id), toString(decision.kind),
         std::string_view(decision.reason), decision.time_ms});
}

Result<void> RunFile::undoLastDecision()
{
    const std::scoped_lock guard(mutex_);
    auto done =
        database_->run("UPDATE decisions SET undone = 1 WHERE id = (SELECT max(id) FROM decisions WHERE undone = 0)");
    if (done && database_->changes() == 0)
        return failure("There is no decision to undo", path_.string(), "Promote or reject a candidate first.");
    return done;
}

Result<void> RunFile::addLog(const LogEntry& entry)
{
    const std::scoped_lock guard(mutex_);
    return database_->transaction(
        [&] {
            return database_->run("INSERT INTO log (time_ms, level, text) VALUES (?, ?, ?)",
                                  {entry.time_ms, std::string_view(entry.level), std::string_view(entry.text)});
        },
        Database::Durability::with_next);
}

}  // namespace cuco
