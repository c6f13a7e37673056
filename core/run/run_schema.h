// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/run/database.h"

#include <cstdint>
#include <filesystem>

namespace cuco {

/// "CUCo" in SQLite's application_id: what tells a run file from any other database.
inline constexpr std::int64_t run_file_application_id = 0x4355436f;

/// The schema's version this program writes; docs/run-file.md describes it.
std::int64_t currentSchemaVersion();

/// Brings an older (or empty) database to the current version in one transaction.
Result<void> migrate(Database& database);

/// That what a header says is a run file of a version this program reads.
Result<void> checkFormat(std::int64_t application_id, std::int64_t version, const std::filesystem::path& path);

/// That the database is a run file of a version this program reads. Reads the header only.
Result<std::int64_t> checkedSchemaVersion(Database& database, const std::string& path);

/// That the file is whole and that the tables of its version are tables.
Result<void> checkContents(Database& database, std::int64_t version, const std::string& path);

}  // namespace cuco
