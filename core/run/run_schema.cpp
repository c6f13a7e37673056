// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/run/run_schema.h"

#include <fmt/format.h>

#include <array>

namespace cuco {

namespace {

/// migrations[n] takes version n to n + 1.
constexpr std::array migrations{
    R"sql(
CREATE TABLE run (
    only_row   INTEGER PRIMARY KEY CHECK (only_row = 1),
    config     TEXT NOT NULL,
    state      TEXT NOT NULL,
    message    TEXT NOT NULL,
    modelled   INTEGER NOT NULL,
    created_ms INTEGER NOT NULL
) STRICT;
CREATE TABLE sources (
    sha256 TEXT PRIMARY KEY,
    text   TEXT NOT NULL
) STRICT;
CREATE TABLE candidates (
    number        INTEGER PRIMARY KEY,
    id            TEXT NOT NULL UNIQUE,
    parents       TEXT NOT NULL,
    island        INTEGER NOT NULL,
    generation    INTEGER NOT NULL,
    proposer      TEXT NOT NULL,
    summary       TEXT NOT NULL,
    strategy      TEXT NOT NULL,
    directive     TEXT NOT NULL,
    tunables      TEXT NOT NULL,
    source_sha256 TEXT NOT NULL REFERENCES sources (sha256),
    state         TEXT NOT NULL,
    cost_usd      REAL NOT NULL,
    proposed_ms   INTEGER NOT NULL
) STRICT;
CREATE TABLE evaluations (
    candidate  INTEGER PRIMARY KEY REFERENCES candidates (number),
    verdict    TEXT NOT NULL,
    stage      TEXT NOT NULL,
    speedup    REAL,
    ci_low     REAL,
    ci_high    REAL,
    time_us    REAL,
    bound_us   REAL,
    document   TEXT NOT NULL,
    detail     TEXT NOT NULL,
    settled_ms INTEGER NOT NULL
) STRICT;
CREATE TABLE timelines (
    candidate  INTEGER PRIMARY KEY REFERENCES candidates (number),
    json_bytes INTEGER NOT NULL,
    zstd       BLOB NOT NULL
) STRICT;
CREATE TABLE baselines (
    name       TEXT PRIMARY KEY,
    position   INTEGER NOT NULL,
    source     TEXT NOT NULL,
    time_us    REAL,
    document   TEXT NOT NULL,
    detail     TEXT NOT NULL,
    json_bytes INTEGER,
    zstd       BLOB
) STRICT;
CREATE TABLE steps (
    id        INTEGER PRIMARY KEY,
    parent    INTEGER NOT NULL,
    candidate TEXT NOT NULL,
    agent     TEXT NOT NULL,
    title     TEXT NOT NULL,
    body      TEXT NOT NULL,
    time_ms   INTEGER NOT NULL
) STRICT;
CREATE TABLE decisions (
    id        INTEGER PRIMARY KEY,
    candidate TEXT NOT NULL REFERENCES candidates (id),
    kind      TEXT NOT NULL,
    reason    TEXT NOT NULL,
    time_ms   INTEGER NOT NULL,
    undone    INTEGER NOT NULL
) STRICT;
CREATE TABLE log (
    id      INTEGER PRIMARY KEY,
    time_ms INTEGER NOT NULL,
    level   TEXT NOT NULL,
    text    TEXT NOT NULL
) STRICT;
CREATE VIEW samples (candidate, shape, position, time_us) AS
    SELECT evaluations.candidate, timing.value ->> 'shape', sample.key, sample.value
    FROM evaluations, json_each(evaluations.document, '$.timings') AS timing,
         json_each(timing.value, '$.samples_us') AS sample;
)sql",
    R"sql(
CREATE TABLE text_blocks (
    id       INTEGER PRIMARY KEY,
    searched INTEGER NOT NULL,
    bytes    INTEGER NOT NULL,
    zstd     BLOB NOT NULL
) STRICT;
CREATE TABLE text_pieces (
    id     INTEGER PRIMARY KEY,
    sha256 BLOB NOT NULL,
    block  INTEGER NOT NULL REFERENCES text_blocks (id),
    offset INTEGER NOT NULL,
    bytes  INTEGER NOT NULL
) STRICT;
CREATE INDEX text_pieces_by_sha256 ON text_pieces (sha256);
CREATE TABLE llm_calls (
    id                 INTEGER PRIMARY KEY,
    step               INTEGER REFERENCES steps (id),
    candidate          TEXT NOT NULL,
    agent              TEXT NOT NULL,
    provider           TEXT NOT NULL,
    model              TEXT NOT NULL,
    response_model     TEXT NOT NULL,
    started_ms         INTEGER NOT NULL,
    first_text_us      INTEGER NOT NULL,
    total_us           INTEGER NOT NULL,
    attempts           INTEGER NOT NULL,
    input_tokens       INTEGER NOT NULL,
    output_tokens      INTEGER NOT NULL,
    cache_read_tokens  INTEGER NOT NULL,
    cache_write_tokens INTEGER NOT NULL,
    reasoning_tokens   INTEGER NOT NULL,
    usage_reported     INTEGER NOT NULL,
    cost_usd           REAL,
    cost_source        TEXT NOT NULL,
    stop_reason        TEXT NOT NULL,
    error_kind         TEXT,
    error              TEXT NOT NULL,
    request_sha256     TEXT NOT NULL,
    texts              TEXT NOT NULL,
    document           TEXT NOT NULL
) STRICT;
)sql",
    R"sql(
CREATE TABLE environments (
    id       INTEGER PRIMARY KEY,
    time_ms  INTEGER NOT NULL,
    document TEXT NOT NULL
) STRICT;
CREATE TABLE remeasurements (
    id          INTEGER PRIMARY KEY,
    decision    INTEGER NOT NULL REFERENCES decisions (id),
    standing    TEXT NOT NULL,
    finding     TEXT NOT NULL,
    verdict     TEXT NOT NULL,
    speedup     REAL,
    ci_low      REAL,
    ci_high     REAL,
    time_us     REAL,
    document    TEXT NOT NULL,
    detail      TEXT NOT NULL,
    measured_ms INTEGER NOT NULL
) STRICT;
CREATE INDEX remeasurements_by_decision ON remeasurements (decision);
)sql",
    R"sql(
CREATE TABLE proposed_texts (
    candidate INTEGER PRIMARY KEY REFERENCES candidates (number),
    sha256    TEXT NOT NULL REFERENCES sources (sha256)
) STRICT;
)sql",
};

constexpr std::array tables_of_version_1{"run",       "sources", "candidates", "evaluations", "timelines",
                                         "baselines", "steps",   "decisions",  "log"};
constexpr std::array tables_of_version_2{"text_blocks", "text_pieces", "llm_calls"};
constexpr std::array tables_of_version_3{"environments", "remeasurements"};
constexpr std::array tables_of_version_4{"proposed_texts"};

}  // namespace

std::int64_t currentSchemaVersion()
{
    return static_cast<std::int64_t>(migrations.size());
}

Result<void> migrate(Database& database)
{
    const auto version = database.integer("PRAGMA user_version");
    if (!version)
        return std::unexpected(version.error());
    if (*version == currentSchemaVersion())
        return {};
    return database.transaction([&]() -> Result<void> {
        for (auto next = static_cast<std::size_t>(*version); next < migrations.size(); ++next)
            if (auto done = database.execute(migrations[next]); !done)
                return done;
        return database.execute(fmt::format("PRAGMA application_id = {}; PRAGMA user_version = {};",
                                            run_file_application_id, currentSchemaVersion()));
    });
}

Result<void> checkFormat(std::int64_t application_id, std::int64_t version, const std::filesystem::path& path)
{
    if (application_id != run_file_application_id || version < 1)
        return failure("This is no run file", path.string(), "Open a file that CUCo wrote, usually named *.cuco.");
    if (version > currentSchemaVersion())
        return failure(fmt::format("The run file has format {}; this version of CUCo knows formats up to {}", version,
                                   currentSchemaVersion()),
                       path.string(), "Open it with a newer version of CUCo.");
    return {};
}

Result<std::int64_t> checkedSchemaVersion(Database& database, const std::string& path)
{
    const auto application = database.integer("PRAGMA application_id");
    if (!application)
        return std::unexpected(application.error());
    const auto version = database.integer("PRAGMA user_version");
    if (!version)
        return std::unexpected(version.error());
    if (auto known = checkFormat(*application, *version, path); !known)
        return std::unexpected(known.error());
    return *version;
}

Result<void> checkContents(Database& database, std::int64_t version, const std::string& path)
{
    const auto damaged = [&](const std::string& finding) {
        return failure(fmt::format("The run file is damaged ({})", finding), path,
                       "Go back to a copy of it, or rescue what is left with `sqlite3 FILE .recover`.");
    };
    std::string finding;
    auto checked = database.query("PRAGMA quick_check(1)", {}, [&](const SqlRow& row) -> Result<void> {
        finding = row.text(0);
        return {};
    });
    if (!checked)
        return checked;
    if (finding != "ok")
        return damaged(finding);

    std::vector<std::string_view> tables(tables_of_version_1.begin(), tables_of_version_1.end());
    if (version >= 2)
        tables.insert(tables.end(), tables_of_version_2.begin(), tables_of_version_2.end());
    if (version >= 3)
        tables.insert(tables.end(), tables_of_version_3.begin(), tables_of_version_3.end());
    if (version >= 4)
        tables.insert(tables.end(), tables_of_version_4.begin(), tables_of_version_4.end());
    for (const std::string_view table : tables) {
        const auto found =
            database.integer("SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name = ?", {table});
        if (!found)
            return std::unexpected(found.error());
        if (*found != 1)
            return damaged(fmt::format("it lacks the table {}", table));
    }
    return {};
}

}  // namespace cuco
