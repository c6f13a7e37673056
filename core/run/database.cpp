// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/run/database.h"

#include <fmt/format.h>
#include <sqlite3.h>

#include <memory>
#include <optional>
#include <utility>

namespace cuco {

namespace {

/// No value of a run file comes near: the largest, a compressed timeline, is bounded at 256 MiB.
constexpr int most_value_bytes = 512 << 20;
constexpr int busy_timeout_ms = 5'000;
/// Each stored text is looked up by the hashes of its pieces, whose index is read all over: it should fit.
constexpr int cache_kib = 16 << 10;
/// More than there are different ones; a bound all the same.
constexpr std::size_t most_idle_statements = 128;

int bind(sqlite3_stmt* statement, int index, const SqlValue& value)
{
    struct Binder {
        sqlite3_stmt* statement;
        int index;
        int operator()(std::nullptr_t) const { return sqlite3_bind_null(statement, index); }
        int operator()(std::int64_t number) const { return sqlite3_bind_int64(statement, index, number); }
        int operator()(double number) const { return sqlite3_bind_double(statement, index, number); }
        int operator()(std::string_view text) const
        {
            return sqlite3_bind_text64(statement, index, text.data() ? text.data() : "", text.size(), SQLITE_STATIC,
                                       SQLITE_UTF8);
        }
        int operator()(BlobView blob) const
        {
            return sqlite3_bind_blob64(statement, index, blob.bytes.data() ? blob.bytes.data() : "", blob.bytes.size(),
                                       SQLITE_STATIC);
        }
    };
    return std::visit(Binder{statement, index}, value);
}

Error sentenceFor(int extended_code, const std::string& sqlite_message, const std::string& path)
{
    switch (extended_code & 0xff) {
        case SQLITE_FULL:
            return {"The disk is full, so this step was not saved", path,
                    "Free some space, then resume the run: everything saved before is whole."};
        case SQLITE_IOERR:
            return {fmt::format("The run file could not be read or written ({})", sqlite_message), path,
                    "Check the disk and its free space, then resume the run: everything saved before is whole."};
        case SQLITE_NOTADB:
            return {"This is no run file", path, "Open a file that CUCo wrote, usually named *.cuco."};
        case SQLITE_CORRUPT:
        case SQLITE_FORMAT:
            return {"The run file is damaged", path,
                    "Go back to a copy of it, or rescue what is left with `sqlite3 FILE .recover`."};
        case SQLITE_READONLY:
        case SQLITE_PERM:
        case SQLITE_AUTH:
            return {"The run file cannot be written to", path,
                    "Change its permissions, or copy it into a folder that you may write to."};
        case SQLITE_CANTOPEN:
            return {
                "The run file cannot be opened", path,
                "Check that you may read it and write to its folder, or copy it, together with the file of the same "
                "name that ends in -wal, to a folder of yours."};
        case SQLITE_BUSY:
        case SQLITE_LOCKED:
            return {"The run file is in use by another program", path, "Try again when that program has finished."};
        case SQLITE_TOOBIG:
            return {"A value in the run file is larger than is allowed", path, "Open a file that CUCo wrote."};
        case SQLITE_NOMEM:
            return {"There is not enough memory to work with the run file", path,
                    "Close other programs and try again."};
        case SQLITE_ERROR:
        case SQLITE_CONSTRAINT:
        case SQLITE_MISMATCH:
            return {fmt::format("The run file does not have the expected contents ({})", sqlite_message), path,
                    "Open a file that this version of CUCo wrote."};
        default:
            return {fmt::format("The run file could not be used ({})", sqlite_message), path, {}};
    }
}

}  // namespace

bool SqlRow::isNull(int column) const
{
    return sqlite3_column_type(statement_, column) == SQLITE_NULL;
}

std::int64_t SqlRow::integer(int column) const
{
    return sqlite3_column_int64(statement_, column);
}

double SqlRow::real(int column) const
{
    return sqlite3_column_double(statement_, column);
}

std::string SqlRow::text(int column) const
{
    const auto* bytes = static_cast<const char*>(sqlite3_column_blob(statement_, column));
    const int size = sqlite3_column_bytes(statement_, column);
    return bytes ? std::string(bytes, static_cast<std::size_t>(size)) : std::string();
}

Result<Database> Database::open(const std::filesystem::path& path, Mode mode)
{
    const int access = mode == Mode::create  ? SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE
                       : mode == Mode::write ? SQLITE_OPEN_READWRITE
                                             : SQLITE_OPEN_READONLY;
    sqlite3* handle = nullptr;
    const int code = sqlite3_open_v2(std::filesystem::absolute(path).c_str(), &handle,
                                     access | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE, nullptr);
    Database database(handle, path);
    if (code != SQLITE_OK)
        return std::unexpected(sentenceFor(code, sqlite3_errstr(code), path.string()));
    // The file may come from anywhere: nothing in its schema may run, and no value may be huge.
    sqlite3_db_config(handle, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
    sqlite3_db_config(handle, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
    sqlite3_db_config(handle, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, nullptr);
    sqlite3_db_config(handle, SQLITE_DBCONFIG_ENABLE_VIEW, 0, nullptr);
    sqlite3_limit(handle, SQLITE_LIMIT_LENGTH, most_value_bytes);
    database.setBusyTimeout(busy_timeout_ms);
    return database;
}

Database::Database(sqlite3* handle, std::filesystem::path path)
    : handle_(handle), path_(std::move(path)), wal_(std::make_unique<WalSync>(path_))
{
}

Database::Database(Database&& other) noexcept
    : handle_(std::exchange(other.handle_, nullptr)),
      path_(std::move(other.path_)),
      promised_(other.promised_),
      journal_(other.journal_.load()),
      wal_(std::move(other.wal_)),
      idle_(std::move(other.idle_))
{
}

Database::~Database()
{
    idle_.clear();
    sqlite3_close_v2(handle_);
}

std::unexpected<Error> Database::fault(int code) const
{
    return std::unexpected(sentenceFor(code, sqlite3_errmsg(handle_), path_.string()));
}

Result<void> Database::execute(const std::string& sql)
{
    if (auto promised = promiseAlone(); !promised)
        return promised;
    return executeAsPromised(sql);
}

Result<void> Database::executeAsPromised(const std::string& sql)
{
    const int code = sqlite3_exec(handle_, sql.c_str(), nullptr, nullptr, nullptr);
    if (code != SQLITE_OK)
        return fault(code);
    return {};
}

Result<void> Database::run(std::string_view sql, std::initializer_list<SqlValue> values)
{
    return query(sql, values, [](const SqlRow&) -> Result<void> { return {}; });
}

Result<void> Database::query(std::string_view sql, std::initializer_list<SqlValue> values, const OnRow& on_row)
{
    auto statement = prepared(sql);
    if (!statement)
        return std::unexpected(statement.error());
    sqlite3_stmt* const raw = statement->get();
    if (!sqlite3_stmt_readonly(raw))
        if (auto promised = promiseAlone(); !promised)
            return promised;
    int code = SQLITE_OK, index = 0;
    for (const SqlValue& value : values)
        if (code = bind(raw, ++index, value); code != SQLITE_OK)
            return fault(code);
    while ((code = sqlite3_step(raw)) == SQLITE_ROW)
        if (auto handled = on_row(SqlRow(raw)); !handled)
            return handled;
    if (code != SQLITE_DONE)
        return fault(code);
    keep(sql, std::move(*statement));
    return {};
}

/// One that nobody uses: a query may run inside the callback of an equal one.
Result<Database::Statement> Database::prepared(std::string_view sql)
{
    if (const auto found = idle_.find(sql); found != idle_.end() && found->second)
        return std::move(found->second);  // an empty one stays in its place
    sqlite3_stmt* raw = nullptr;
    const int code =
        sqlite3_prepare_v3(handle_, sql.data(), static_cast<int>(sql.size()), SQLITE_PREPARE_PERSISTENT, &raw, nullptr);
    Statement statement(raw);
    if (code != SQLITE_OK)
        return fault(code);
    return statement;
}

void Database::keep(std::string_view sql, Statement statement)
{
    // Some pragmas do their work while they are prepared.
    if (sql.starts_with("PRAGMA"))
        return;
    auto place = idle_.find(sql);
    if (place == idle_.end() && idle_.size() < most_idle_statements)
        place = idle_.emplace(sql, nullptr).first;
    if (place == idle_.end() || place->second)
        return;
    sqlite3_reset(statement.get());
    sqlite3_clear_bindings(statement.get());
    place->second = std::move(statement);
}

void Database::FinalizeStatement::operator()(sqlite3_stmt* statement) const
{
    sqlite3_finalize(statement);
}

Result<std::int64_t> Database::integer(std::string_view sql, std::initializer_list<SqlValue> values)
{
    std::optional<std::int64_t> found;
    auto done = query(sql, values, [&](const SqlRow& row) -> Result<void> {
        if (!found)
            found = row.integer(0);
        return {};
    });
    if (!done)
        return std::unexpected(done.error());
    if (!found)
        return failure("The run file lacks an expected row", path_.string(),
                       "Open a file that this version of CUCo wrote.");
    return *found;
}

Result<void> Database::transaction(const std::function<Result<void>()>& body, Durability durability)
{
    if (auto promised = promise(durability); !promised)
        return promised;
    return within("BEGIN IMMEDIATE", body);
}

/// What is no part of a transaction is on the disk, too, once it is done.
Result<void> Database::promiseAlone()
{
    return sqlite3_get_autocommit(handle_) != 0 ? promise(Durability::on_disk) : Result<void>();
}

/// In a WAL a synchronous commit takes all before it along.
Result<void> Database::promise(Durability durability)
{
    if (promised_ == durability)
        return {};
    if (journal_ == Journal::not_asked) {
        auto asked = query("PRAGMA journal_mode", {}, [&](const SqlRow& row) -> Result<void> {
            journal_ = row.text(0) == "wal" ? Journal::wal : Journal::other;
            return {};
        });
        if (!asked)
            return asked;
        if (auto set = executeAsPromised(fmt::format("PRAGMA cache_size = -{}", cache_kib)); !set)
            return set;
    }
    if (journal_ != Journal::wal)
        return {};
    promised_ = durability;
    return executeAsPromised(durability == Durability::on_disk ? "PRAGMA synchronous = FULL"
                                                               : "PRAGMA synchronous = NORMAL");
}

Result<void> Database::transactionInTurn(std::mutex& turn, const std::function<Result<void>()>& body)
{
    std::uint64_t commit = 0;
    {
        const std::scoped_lock guard(turn);
        if (auto done = transaction(body, Durability::with_next); !done)
            return done;
        commit = wal_->committed();
    }
    return journal_ == Journal::wal ? wal_->await(commit) : Result<void>();
}

Result<void> Database::consistently(const std::function<Result<void>()>& body)
{
    return within("BEGIN", body);
}

Result<void> Database::within(const char* begin, const std::function<Result<void>()>& body)
{
    if (auto begun = executeAsPromised(begin); !begun)
        return begun;
    auto done = body();
    if (done)
        done = executeAsPromised("COMMIT");
    // SQLite has rolled back by itself after some errors; then there is nothing left to undo.
    if (!done && sqlite3_get_autocommit(handle_) == 0)
        sqlite3_exec(handle_, "ROLLBACK", nullptr, nullptr, nullptr);
    return done;
}

bool Database::readOnly() const
{
    return sqlite3_db_readonly(handle_, "main") == 1;
}

std::int64_t Database::changes() const
{
    return sqlite3_changes64(handle_);
}

void Database::setBusyTimeout(int milliseconds)
{
    sqlite3_busy_timeout(handle_, milliseconds);
}

}  // namespace cuco
