// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/run/run_file.h"

#include "core/base/clock.h"
#include "core/run/database.h"
#include "core/run/run_schema.h"
#include "core/run/writer_lock.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>
#include <cerrno>
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

/// Whether the main file is all there: SQLite reads a missing tail as zeros. While pages may be on their way from the
/// write-ahead log the file says nothing.
bool isTruncated(Database& database, const std::filesystem::path& path)
{
    std::error_code ignored;
    std::filesystem::path log = path;
    log += "-wal";
    if (WriterLock::isHeld(path) || (std::filesystem::exists(log, ignored) && std::filesystem::file_size(log, ignored)))
        return false;
    const auto pages = database.integer("PRAGMA page_count"), page_bytes = database.integer("PRAGMA page_size");
    return pages && page_bytes &&
           std::filesystem::file_size(path, ignored) < static_cast<std::uintmax_t>(*pages * *page_bytes);
}

/// Looks without touching the file: another program's database must stay as it is, byte for byte.
Result<void> peek(const std::filesystem::path& path)
{
    auto database = Database::open(path, Database::Mode::peek);
    if (!database)
        return std::unexpected(database.error());
    if (auto version = checkedSchemaVersion(*database, path.string()); !version)
        return std::unexpected(version.error());
    if (isTruncated(*database, path))
        return failure("The run file is damaged (its end is missing)", path.string(),
                       "Go back to a copy of it, or rescue what is left with `sqlite3 FILE .recover`.");
    return {};
}

}  // namespace

RunFile::RunFile(std::filesystem::path path, Access access, std::unique_ptr<Database> database,
                 std::unique_ptr<WriterLock> lock)
    : path_(std::move(path)), access_(access), lock_(std::move(lock)), database_(std::move(database))
{
}

Result<std::unique_ptr<RunFile>> RunFile::create(const std::filesystem::path& path, const RunConfig& config)
{
    auto lock = WriterLock::acquire(path);
    if (!lock)
        return std::unexpected(lock.error());
    UniqueFd fresh(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644));
    if (!fresh.open() && errno == EEXIST)
        return failure("There is already a file of this name", path.string(),
                       "Choose another name, or go on with that run by `cucoctl resume`.");
    if (!fresh.open())
        return failure(fmt::format("The run file cannot be created ({})", std::strerror(errno)), path.string(),
                       "Choose a folder that you may write to.");

    // Closing any descriptor of a file drops this process's locks on it, SQLite's too: so before SQLite opens it.
    fresh.reset();

    const auto fill = [&]() -> Result<std::unique_ptr<RunFile>> {
        auto database = Database::open(path, Database::Mode::write);
        if (!database)
            return std::unexpected(database.error());
        // The schema goes in before the log is switched on: the one file is a run file from its first moment.
        auto done = migrate(*database);
        if (done)
            done = database->run(
                "INSERT INTO run VALUES (1, ?, ?, '', 0, ?)",
                {std::string_view(toJson(config).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace)),
                 toString(RunState::created), unixTimeMs()});
        if (done)
            done = useWriteAheadLog(*database);
        if (!done)
            return std::unexpected(done.error());
        return std::unique_ptr<RunFile>(new RunFile(path, Access::write,
                                                    std::make_unique<Database>(std::move(*database)),
                                                    std::make_unique<WriterLock>(std::move(*lock))));
    };
    auto file = fill();
    if (!file)
        ::unlink(path.c_str());
    return file;
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
    if (access == Access::write) {
        auto acquired = WriterLock::acquire(path);
        if (!acquired)
            return std::unexpected(acquired.error());
        lock = std::make_unique<WriterLock>(std::move(*acquired));
    }
    auto database = Database::open(path, access == Access::write ? Database::Mode::write : Database::Mode::read);
    if (!database)
        return std::unexpected(database.error());
    if (auto version = checkedSchemaVersion(*database, path.string()); !version)
        return std::unexpected(version.error());
    else if (access == Access::read && *version < currentSchemaVersion())
        return failure(fmt::format("The run file has the older format {}", *version), path.string(),
                       "Open it once for writing, which brings it up to date.");
    if (access == Access::write) {
        if (database->readOnly())
            return failure("The run file cannot be written to", path.string(),
                           "Change its permissions, or copy it into a folder that you may write to.");
        if (auto migrated = migrate(*database); !migrated)
            return std::unexpected(migrated.error());
    }
    if (auto whole = checkContents(*database, path.string()); !whole)
        return std::unexpected(whole.error());
    if (access == Access::write)
        if (auto logging = useWriteAheadLog(*database); !logging)
            return std::unexpected(logging.error());
    return std::unique_ptr<RunFile>(
        new RunFile(path, access, std::make_unique<Database>(std::move(*database)), std::move(lock)));
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
