// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/run/run_file.h"

#include "core/base/clock.h"
#include "core/run/database.h"
#include "core/run/run_schema.h"
#include "core/run/sqlite_header.h"
#include "core/run/writer_lock.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <nlohmann/json.hpp>

namespace cuco {

namespace {

constexpr int closing_timeout_ms = 200;

Result<void> useWriteAheadLog(Database& database)
{
    // Where the file system has no shared memory SQLite stays with its rollback journal, which is as safe but does
    // not let a reader in while it writes.
    return database.execute("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON;");
}

/// A journal or log beside the file, which a writer uses now or has left when it was killed.
bool hasCompanion(const std::filesystem::path& path, const char* suffix)
{
    std::filesystem::path companion = path;
    companion += suffix;
    std::error_code error;
    const auto bytes = std::filesystem::file_size(companion, error);
    return !error && bytes > 0;
}

/// Whether the main file is all there: SQLite reads a missing tail as zeros. While pages may be on their way from a
/// journal or log, or wait there because the disk was full, the file says nothing.
bool isTruncated(const SqliteHeader& header, const std::filesystem::path& path)
{
    if (WriterLock::isHeld(path) || hasCompanion(path, "-wal") || hasCompanion(path, "-journal"))
        return false;
    std::error_code ignored;
    return std::filesystem::file_size(path, ignored) < header.bytes;
}

/// Rolls back what a killed writer had begun. Only a writer can; a reader meets it when the kill fell into closing.
Result<void> rollBackLeftJournal(const std::filesystem::path& path)
{
    auto lock = WriterLock::acquire(path);
    if (!lock)
        return std::unexpected(lock.error());
    auto database = Database::open(path, Database::Mode::write);
    if (!database)
        return std::unexpected(database.error());
    return database->run("SELECT count(*) FROM sqlite_schema");
}

/// Looks without touching the file: another program's database must stay as it is, byte for byte.
Result<void> peek(const std::filesystem::path& path)
{
    if (::access(path.c_str(), R_OK) != 0)
        return {};  // opening it says what is wrong
    const auto header = readSqliteHeader(path);
    if (auto version = checkFormat(header ? header->application_id : 0, header ? header->user_version : 0, path);
        !version)
        return version;
    if (isTruncated(*header, path))
        return failure("The run file is damaged (its end is missing)", path.string(),
                       "Go back to a copy of it, or rescue what is left with `sqlite3 FILE .recover`.");
    return {};
}

Result<void> makeEmptyRun(const std::filesystem::path& path, const RunConfig& config)
{
    auto database = Database::open(path, Database::Mode::create);
    if (!database)
        return std::unexpected(database.error());
    if (auto migrated = migrate(*database); !migrated)
        return migrated;
    const std::string json = toJson(config).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
    return database->run("INSERT INTO run VALUES (1, ?, ?, '', 0, ?)",
                         {std::string_view(json), toString(RunState::created), unixTimeMs()});
}

Result<void> renameToNew(const std::filesystem::path& from, const std::filesystem::path& to)
{
    int failed = ::renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), RENAME_NOREPLACE);
    if (failed && errno == EINVAL)  // a file system that cannot do both at once
        failed = std::filesystem::exists(to) ? (errno = EEXIST, -1) : ::rename(from.c_str(), to.c_str());
    if (!failed)
        return {};
    if (errno == EEXIST)
        return failure("There is already a file of this name", to.string(),
                       "Choose another name, or go on with that run by `cucoctl resume`.");
    return failure(fmt::format("The run file cannot be created ({})", std::strerror(errno)), to.string(),
                   "Choose a folder that you may write to.");
}

}  // namespace

RunFile::RunFile(std::filesystem::path path, Access access, std::unique_ptr<Database> database,
                 std::unique_ptr<WriterLock> lock, std::int64_t schema_version)
    : path_(std::move(path)),
      access_(access),
      lock_(std::move(lock)),
      database_(std::move(database)),
      schema_version_(schema_version)
{
}

Result<std::unique_ptr<RunFile>> RunFile::create(const std::filesystem::path& path, const RunConfig& config)
{
    auto lock = WriterLock::acquire(path);
    if (!lock)
        return std::unexpected(lock.error());
    // Made whole under another name, so that a kill leaves a run file or none.
    std::filesystem::path unfinished = path;
    unfinished += "-new";
    ::unlink(unfinished.c_str());
    auto made = makeEmptyRun(unfinished, config);
    if (made)
        made = renameToNew(unfinished, path);
    if (!made) {
        ::unlink(unfinished.c_str());
        return std::unexpected(made.error());
    }
    auto database = Database::open(path, Database::Mode::write);
    if (!database)
        return std::unexpected(database.error());
    if (auto logging = useWriteAheadLog(*database); !logging)
        return std::unexpected(logging.error());
    return std::unique_ptr<RunFile>(new RunFile(path, Access::write, std::make_unique<Database>(std::move(*database)),
                                                std::make_unique<WriterLock>(std::move(*lock)),
                                                currentSchemaVersion()));
}

Result<std::unique_ptr<RunFile>> RunFile::open(const std::filesystem::path& path, Access access)
{
    std::error_code ignored;
    if (!std::filesystem::exists(path, ignored))
        return failure("There is no such file", path.string(), "Check the name.");
    if (!std::filesystem::is_regular_file(path, ignored))
        return failure("This is no run file", path.string(), "Open a file that CUCo wrote, usually named *.cuco.");
    if (auto looked = peek(path); !looked)
        return std::unexpected(looked.error());

    std::unique_ptr<WriterLock> lock;
    if (access == Access::read && hasCompanion(path, "-journal") && !WriterLock::isHeld(path))
        if (auto whole = rollBackLeftJournal(path); !whole)
            return std::unexpected(whole.error());
    if (access == Access::write) {
        auto acquired = WriterLock::acquire(path);
        if (!acquired)
            return std::unexpected(acquired.error());
        lock = std::make_unique<WriterLock>(std::move(*acquired));
    }
    auto database = Database::open(path, access == Access::write ? Database::Mode::write : Database::Mode::read);
    if (!database)
        return std::unexpected(database.error());
    auto version = checkedSchemaVersion(*database, path.string());
    if (!version)
        return std::unexpected(version.error());
    if (access == Access::write) {
        if (database->readOnly())
            return failure("The run file cannot be written to", path.string(),
                           "Change its permissions, or copy it into a folder that you may write to.");
        if (auto migrated = migrate(*database); !migrated)
            return std::unexpected(migrated.error());
        *version = currentSchemaVersion();
    }
    if (auto whole = checkContents(*database, *version, path.string()); !whole)
        return std::unexpected(whole.error());
    if (access == Access::write)
        if (auto logging = useWriteAheadLog(*database); !logging)
            return std::unexpected(logging.error());
    return std::unique_ptr<RunFile>(
        new RunFile(path, access, std::make_unique<Database>(std::move(*database)), std::move(lock), *version));
}

Result<bool> RunFile::hasFormat(std::int64_t version)
{
    if (schema_version_ >= version)
        return true;
    // A writer may have brought it up to date since.
    const auto now = checkedSchemaVersion(*database_, path_.string());
    if (!now)
        return std::unexpected(now.error());
    if (*now < version)
        return false;
    if (auto whole = checkContents(*database_, *now, path_.string()); !whole)
        return std::unexpected(whole.error());
    schema_version_ = *now;
    return true;
}

RunFile::~RunFile()
{
    if (access_ != Access::write)
        return;
    // One file when closed. A reader that is still there keeps the log; the next writer folds it in.
    database_->setBusyTimeout(closing_timeout_ms);
    if (database_->execute("PRAGMA wal_checkpoint(TRUNCATE)"))
        static_cast<void>(database_->execute("PRAGMA journal_mode = DELETE"));
}

Result<void> RunFile::checkpoint()
{
    const std::scoped_lock guard(mutex_);
    return database_->execute("PRAGMA wal_checkpoint(TRUNCATE)");
}

}  // namespace cuco
