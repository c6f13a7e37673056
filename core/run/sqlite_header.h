// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

namespace cuco {

/// The first 100 bytes of an SQLite database (sqlite.org/fileformat2.html, section 1.3), read as they lie there: no
/// lock, no log, no file created beside it. Pages that a log still holds do not count.
struct SqliteHeader {
    std::int64_t application_id = 0, user_version = 0;
    std::uintmax_t bytes = 0;  ///< that the file should have; 0: the header does not know
};

/// Nothing when the file is no SQLite database.
std::optional<SqliteHeader> readSqliteHeader(const std::filesystem::path& path);

}  // namespace cuco
