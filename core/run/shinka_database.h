// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/error.h"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

struct sqlite3;

namespace cuco {

/// What orders a program among the others, and its place in the lineage.
struct ShinkaEntry {
    std::int64_t row = 0;  ///< SQLite's rowid
    std::string id, parent_id;
    std::int64_t generation = 0, island = 0;
    std::int64_t time_ms = 0;  ///< Unix time; 0: not known
};

/// A row of the table `programs`. JSON that cannot be read is null.
struct ShinkaProgram {
    std::string code, language, code_diff, feedback;
    std::optional<double> score;
    bool correct = false;
    nlohmann::json public_metrics, private_metrics, metadata;
    std::vector<std::string> inspirations;  ///< ids
    int broken_fields = 0;                  ///< of a wrong type, too long, or no JSON
};

/// A database that ShinkaEvolve (shinka/database/dbase.py) or CUCo's Python implementation wrote. It may come from
/// anywhere: nothing in its schema is run, values have bounds, and columns may be missing or of any type.
class ShinkaDatabase {
public:
    /// Errors: missing, no SQLite database, damaged, without the table, more programs than are taken.
    static Result<ShinkaDatabase> open(const std::filesystem::path& path);

    /// In the order of the rows.
    const std::vector<ShinkaEntry>& entries() const { return entries_; }
    Result<ShinkaProgram> program(const ShinkaEntry& entry);

private:
    struct Close {
        void operator()(sqlite3* database) const;
    };

    ShinkaDatabase(std::unique_ptr<sqlite3, Close> database, std::filesystem::path path)
        : database_(std::move(database)), path_(std::move(path))
    {
    }
    Result<void> readColumns();
    Result<void> readEntries();
    std::string columnOrNull(const std::string& name) const;
    std::unexpected<Error> unreadable() const;

    std::unique_ptr<sqlite3, Close> database_;
    std::filesystem::path path_;
    std::vector<std::string> columns_;
    std::vector<ShinkaEntry> entries_;
};

}  // namespace cuco
