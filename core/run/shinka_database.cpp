// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/run/shinka_database.h"

#include "core/llm/chat.h"

#include <fmt/format.h>
#include <sqlite3.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <fstream>
#include <string_view>

namespace cuco {

namespace {

constexpr std::int64_t most_programs = 50'000;
constexpr int most_value_bytes = 64 << 20;
constexpr std::size_t most_code_bytes = 4u << 20;  // what KernelSource takes
constexpr std::size_t most_text_bytes = 1u << 20;
constexpr std::size_t most_json_bytes = 32u << 20;
constexpr std::size_t most_id_bytes = 256;
constexpr std::int64_t most_generation = 1'000'000, most_islands = 1'000;
constexpr double latest_time_s = 4e9;
constexpr std::string_view magic("SQLite format 3\0", 16);

/// A statement that ends with its scope.
class Query {
public:
    Query(sqlite3* database, const std::string& sql)
    {
        sqlite3_prepare_v2(database, sql.c_str(), -1, &statement_, nullptr);
    }
    ~Query() { sqlite3_finalize(statement_); }
    Query(const Query&) = delete;
    Query& operator=(const Query&) = delete;

    void bind(std::int64_t number)
    {
        if (statement_)
            sqlite3_bind_int64(statement_, 1, number);
    }
    bool next() { return statement_ && (code_ = sqlite3_step(statement_)) == SQLITE_ROW; }
    bool broke() const { return !statement_ || (code_ != SQLITE_DONE && code_ != SQLITE_ROW); }

    bool isNull(int column) const { return sqlite3_column_type(statement_, column) == SQLITE_NULL; }
    std::optional<double> number(int column) const
    {
        const int type = sqlite3_column_type(statement_, column);
        if (type != SQLITE_INTEGER && type != SQLITE_FLOAT)
            return std::nullopt;
        const double value = sqlite3_column_double(statement_, column);
        return std::isfinite(value) ? std::optional(value) : std::nullopt;
    }
    std::optional<std::string> text(int column, std::size_t most_bytes) const
    {
        if (sqlite3_column_type(statement_, column) != SQLITE_TEXT)
            return std::nullopt;
        const auto* bytes = reinterpret_cast<const char*>(sqlite3_column_text(statement_, column));
        const auto size = static_cast<std::size_t>(sqlite3_column_bytes(statement_, column));
        if (!bytes || size > most_bytes)
            return std::nullopt;
        return validUtf8(std::string(bytes, size));
    }

private:
    sqlite3_stmt* statement_ = nullptr;
    int code_ = SQLITE_DONE;
};

std::int64_t within(std::optional<double> value, std::int64_t most)
{
    return static_cast<std::int64_t>(std::clamp(value.value_or(0), 0.0, static_cast<double>(most)));
}

/// Fields of one row, which counts those that cannot be used.
class Row {
public:
    Row(const Query& query, int& broken) : query_(&query), broken_(&broken) {}

    std::string text(int column, std::size_t most_bytes)
    {
        auto text = query_->text(column, most_bytes);
        if (!text && !query_->isNull(column))
            ++*broken_;
        return text.value_or("");
    }
    nlohmann::json json(int column, nlohmann::json::value_t type)
    {
        const std::string text = this->text(column, most_json_bytes);
        if (text.empty())
            return nullptr;
        auto json = nlohmann::json::parse(text, nullptr, false);
        if (json.type() == type)
            return json;
        *broken_ += json.is_null() ? 0 : 1;
        return nullptr;
    }

private:
    const Query* query_;
    int* broken_;
};

bool startsAsSqlite(const std::filesystem::path& path)
{
    std::ifstream file(path, std::ios::binary);
    std::array<char, magic.size()> bytes{};
    file.read(bytes.data(), bytes.size());
    return file.gcount() == static_cast<std::streamsize>(magic.size()) &&
           std::string_view(bytes.data(), bytes.size()) == magic;
}

std::string uriOf(const std::filesystem::path& path, bool immutable)
{
    std::string uri = "file:";
    for (const char c : std::filesystem::absolute(path).string()) {
        if (c == '?' || c == '#' || c == '%')
            uri += fmt::format("%{:02x}", static_cast<unsigned char>(c));
        else
            uri += c;
    }
    return immutable ? uri + "?immutable=1" : uri;
}

}  // namespace

void ShinkaDatabase::Close::operator()(sqlite3* database) const
{
    sqlite3_close(database);
}

std::unexpected<Error> ShinkaDatabase::unreadable() const
{
    return failure(fmt::format("The database cannot be read ({})", sqlite3_errmsg(database_.get())), path_.string(),
                   "Copy it together with the files of the same name that end in -wal and -shm, or rescue what is left "
                   "with `sqlite3 FILE .recover`.");
}

Result<ShinkaDatabase> ShinkaDatabase::open(const std::filesystem::path& path)
{
    std::error_code ignored;
    if (!std::filesystem::is_regular_file(path, ignored))
        return failure("There is no such file", path.string(),
                       "Name the database of a run, such as evolution_db.sqlite.");
    if (!startsAsSqlite(path))
        return failure("This is no SQLite database", path.string(),
                       "Name the database of a run, such as evolution_db.sqlite.");
    // A log beside it belongs to it. Without one it may lie where nothing can be written beside it.
    const bool has_log = std::filesystem::exists(path.string() + "-wal", ignored);
    sqlite3* handle = nullptr;
    const int code = sqlite3_open_v2(uriOf(path, !has_log).c_str(), &handle,
                                     SQLITE_OPEN_READONLY | SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX, nullptr);
    ShinkaDatabase database({handle, {}}, path);
    if (code != SQLITE_OK)
        return database.unreadable();
    sqlite3_db_config(handle, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
    sqlite3_db_config(handle, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
    sqlite3_db_config(handle, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, nullptr);
    sqlite3_db_config(handle, SQLITE_DBCONFIG_ENABLE_VIEW, 0, nullptr);
    sqlite3_limit(handle, SQLITE_LIMIT_LENGTH, most_value_bytes);
    sqlite3_busy_timeout(handle, 5'000);
    if (auto read = database.readColumns(); !read)
        return std::unexpected(read.error());
    if (auto read = database.readEntries(); !read)
        return std::unexpected(read.error());
    return database;
}

Result<void> ShinkaDatabase::readColumns()
{
    Query tables(database_.get(),
                 "SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name = 'programs' AND sql NOT LIKE "
                 "'%VIRTUAL%TABLE%'");
    if (!tables.next())
        return unreadable();
    Query columns(database_.get(), "SELECT name FROM pragma_table_info('programs')");
    if (tables.number(0).value_or(0) > 0)
        while (columns.next())
            if (auto name = columns.text(0, most_id_bytes))
                columns_.push_back(std::move(*name));
    for (const char* needed : {"id", "code"})
        if (std::ranges::find(columns_, needed) == columns_.end())
            return failure(
                "This is no database of ShinkaEvolve or CUCo: it has no table `programs` with `id` and `code`",
                path_.string(), "Name the database of a run, such as evolution_db.sqlite.");
    return {};
}

std::string ShinkaDatabase::columnOrNull(const std::string& name) const
{
    return std::ranges::find(columns_, name) == columns_.end() ? "NULL" : name;
}

Result<void> ShinkaDatabase::readEntries()
{
    Query query(database_.get(), fmt::format("SELECT rowid, id, {}, {}, {}, {} FROM programs ORDER BY rowid LIMIT {}",
                                             columnOrNull("parent_id"), columnOrNull("generation"),
                                             columnOrNull("island_idx"), columnOrNull("timestamp"), most_programs + 1));
    while (query.next()) {
        ShinkaEntry entry;
        entry.row = static_cast<std::int64_t>(query.number(0).value_or(0));
        entry.id = query.text(1, most_id_bytes).value_or("");
        entry.parent_id = query.text(2, most_id_bytes).value_or("");
        entry.generation = within(query.number(3), most_generation);
        entry.island = within(query.number(4), most_islands - 1);
        entry.time_ms = static_cast<std::int64_t>(std::clamp(query.number(5).value_or(0), 0.0, latest_time_s) * 1000);
        entries_.push_back(std::move(entry));
    }
    if (query.broke())
        return unreadable();
    if (entries_.empty())
        return failure("The database has no programs", path_.string(), "Name the database of a run that has begun.");
    if (static_cast<std::int64_t>(entries_.size()) > most_programs)
        return failure(fmt::format("The database has more than {} programs", most_programs), path_.string(),
                       "Import a database with fewer.");
    return {};
}

Result<ShinkaProgram> ShinkaDatabase::program(const ShinkaEntry& entry)
{
    std::string sql = "SELECT code";
    for (const char* name : {"language", "code_diff", "text_feedback", "combined_score", "correct", "public_metrics",
                             "private_metrics", "metadata", "archive_inspiration_ids", "top_k_inspiration_ids"})
        sql += ", " + columnOrNull(name);
    Query query(database_.get(), sql + " FROM programs WHERE rowid = ?");
    query.bind(entry.row);
    if (!query.next())
        return unreadable();
    ShinkaProgram program;
    Row row(query, program.broken_fields);
    program.code = row.text(0, most_code_bytes);
    program.language = row.text(1, most_id_bytes);
    program.code_diff = row.text(2, most_text_bytes);
    program.feedback = row.text(3, most_text_bytes);
    program.score = query.number(4);
    program.correct = query.number(5).value_or(0) != 0;
    using enum nlohmann::json::value_t;
    program.public_metrics = row.json(6, object);
    program.private_metrics = row.json(7, object);
    program.metadata = row.json(8, object);
    for (const int column : {9, 10})
        if (const auto ids = row.json(column, array); ids.is_array())
            for (const auto& id : ids)
                if (id.is_string() && id.get_ref<const std::string&>().size() <= most_id_bytes)
                    program.inspirations.push_back(id.get<std::string>());
    return program;
}

}  // namespace cuco
