// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/error.h"
#include "core/run/wal_sync.h"

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <initializer_list>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

struct sqlite3;
struct sqlite3_stmt;

namespace cuco {

struct BlobView {
    std::string_view bytes;
};

/// A value for a `?` of a statement. Texts and blobs must outlive the call.
using SqlValue = std::variant<std::nullptr_t, std::int64_t, double, std::string_view, BlobView>;

/// The current row of a query; valid inside the callback only.
class SqlRow {
public:
    explicit SqlRow(sqlite3_stmt* statement) : statement_(statement) {}
    bool isNull(int column) const;
    std::int64_t integer(int column) const;
    double real(int column) const;
    std::string text(int column) const;  ///< also the bytes of a blob

private:
    sqlite3_stmt* statement_;
};

/// One connection to an SQLite file. Errors are sentences about a run file, with their remedy. Not for several threads
/// at once.
class Database {
public:
    enum class Mode {
        read,
        write,
        create,
    };
    using OnRow = std::function<Result<void>(const SqlRow&)>;

    static Result<Database> open(const std::filesystem::path& path, Mode mode);
    Database(Database&& other) noexcept;
    Database& operator=(Database&& other) = delete;
    ~Database();

    /// Statements separated by semicolons, without values.
    Result<void> execute(const std::string& sql);
    Result<void> run(std::string_view sql, std::initializer_list<SqlValue> values = {});
    Result<void> query(std::string_view sql, std::initializer_list<SqlValue> values, const OnRow& on_row);
    /// The first column of the first row; an error when there is no row.
    Result<std::int64_t> integer(std::string_view sql, std::initializer_list<SqlValue> values = {});
    enum class Durability {
        on_disk,    ///< survives the machine's end, too, once this returns
        with_next,  ///< the program's end only, until the next that is on_disk; without a WAL as on_disk
    };
    /// Rolled back when `body` fails.
    Result<void> transaction(const std::function<Result<void>()>& body, Durability durability = Durability::on_disk);
    /// Reads inside see one state of the file.
    Result<void> consistently(const std::function<Result<void>()>& body);

    /// The same on_disk, for several threads that take turns at the connection by `turn`: the disk is waited for beside
    /// it, by several at once.
    Result<void> transactionInTurn(std::mutex& turn, const std::function<Result<void>()>& body);

    bool readOnly() const;
    std::int64_t changes() const;
    void setBusyTimeout(int milliseconds);

private:
    Database(sqlite3* handle, std::filesystem::path path);
    Result<void> within(const char* begin, const std::function<Result<void>()>& body);
    Result<void> promise(Durability durability);
    Result<void> promiseAlone();
    Result<void> executeAsPromised(const std::string& sql);
    std::unexpected<Error> fault(int code) const;

    struct FinalizeStatement {
        void operator()(sqlite3_stmt* statement) const;
    };
    using Statement = std::unique_ptr<sqlite3_stmt, FinalizeStatement>;
    Result<Statement> prepared(std::string_view sql);
    void keep(std::string_view sql, Statement statement);

    sqlite3* handle_;
    std::filesystem::path path_;
    Durability promised_ = Durability::on_disk;
    enum class Journal { not_asked, wal, other };
    std::atomic<Journal> journal_ = Journal::not_asked;
    std::unique_ptr<WalSync> wal_;
    std::map<std::string, Statement, std::less<>> idle_;  ///< prepared, and in no use; by their text
};

}  // namespace cuco
