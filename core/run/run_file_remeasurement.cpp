// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/clock.h"
#include "core/run/database.h"
#include "core/run/run_file.h"
#include "core/run/stored_evaluation.h"

#include <fmt/format.h>

namespace cuco {

namespace {

constexpr std::int64_t first_format_with_remeasurements = 3;

Result<Remeasurement> readRemeasurement(const SqlRow& row)
{
    const std::string owner = fmt::format("remeasurement {}", row.integer(0));
    const auto decision = smallInteger(row, 1, "remeasurements.decision", owner);
    if (!decision)
        return std::unexpected(decision.error());
    const auto standing = promotionStandingFromString(row.text(2));
    if (!standing)
        return badCell("remeasurements.standing", owner, fmt::format("\"{}\" is no standing", row.text(2)));
    auto evaluation = readEvaluation(row.text(4), row.text(5), "remeasurements.document", owner);
    if (!evaluation)
        return std::unexpected(evaluation.error());
    return Remeasurement{*decision, *standing, row.text(3), std::move(*evaluation), row.integer(6)};
}

}  // namespace

Result<void> RunFile::addRemeasurement(const Remeasurement& remeasurement)
{
    const StoredEvaluation stored(remeasurement.evaluation);
    const std::scoped_lock guard(mutex_);
    return database_->run(
        "INSERT INTO remeasurements (decision, standing, finding, verdict, speedup, ci_low, ci_high, time_us, "
        "document, "
        "detail, measured_ms) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        {std::int64_t{remeasurement.decision_id}, toString(remeasurement.standing),
         std::string_view(remeasurement.finding), stored.verdict, orNull(stored.speedup), orNull(stored.ci_low),
         orNull(stored.ci_high), orNull(stored.time_us), std::string_view(stored.document),
         std::string_view(stored.detail), remeasurement.time_ms});
}

Result<std::vector<Remeasurement>> RunFile::remeasurements(const std::string& candidate_id)
{
    const std::scoped_lock guard(mutex_);
    const auto has_table = hasFormat(first_format_with_remeasurements);
    if (!has_table)
        return std::unexpected(has_table.error());
    std::vector<Remeasurement> all;
    if (!*has_table)
        return all;
    auto done = database_->query(
        "SELECT r.id, r.decision, r.standing, r.finding, r.document, r.detail, r.measured_ms FROM remeasurements AS r "
        "JOIN decisions AS d ON d.id = r.decision WHERE d.candidate = ? ORDER BY r.id",
        {std::string_view(candidate_id)}, [&](const SqlRow& row) -> Result<void> {
            auto remeasurement = readRemeasurement(row);
            if (!remeasurement)
                return std::unexpected(remeasurement.error());
            all.push_back(std::move(*remeasurement));
            return {};
        });
    if (!done)
        return std::unexpected(done.error());
    return all;
}

Result<void> RunFile::addEnvironment(const std::string& probe)
{
    const std::scoped_lock guard(mutex_);
    return database_->run(
        "INSERT INTO environments (time_ms, document) SELECT ?1, ?2 WHERE ?2 IS NOT "
        "(SELECT document FROM environments ORDER BY id DESC LIMIT 1)",
        {unixTimeMs(), std::string_view(probe)});
}

Result<std::vector<RunEnvironment>> RunFile::environments()
{
    const std::scoped_lock guard(mutex_);
    const auto has_table = hasFormat(first_format_with_remeasurements);
    if (!has_table)
        return std::unexpected(has_table.error());
    std::vector<RunEnvironment> all;
    if (!*has_table)
        return all;
    auto done = database_->query("SELECT time_ms, document FROM environments ORDER BY id", {},
                                 [&](const SqlRow& row) -> Result<void> {
                                     all.push_back({row.integer(0), row.text(1)});
                                     return {};
                                 });
    if (!done)
        return std::unexpected(done.error());
    return all;
}

Result<std::optional<std::int64_t>> RunFile::settledMs(const std::string& candidate_id)
{
    const std::scoped_lock guard(mutex_);
    std::optional<std::int64_t> time_ms;
    auto done = database_->query(
        "SELECT e.settled_ms FROM evaluations AS e JOIN candidates AS c ON c.number = e.candidate WHERE c.id = ?",
        {std::string_view(candidate_id)}, [&](const SqlRow& row) -> Result<void> {
            time_ms = row.integer(0);
            return {};
        });
    if (!done)
        return std::unexpected(done.error());
    return time_ms;
}

}  // namespace cuco
