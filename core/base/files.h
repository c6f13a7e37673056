// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/error.h"

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace cuco {

/// The whole of a regular file. Errors: not there, not readable, no regular file, more than `max_bytes`.
Result<std::string> readFile(const std::filesystem::path& path, std::uint64_t max_bytes = 64u << 20);

/// Writes beside `path` and renames, so that a reader sees the old bytes or all of the new ones.
Result<void> writeFileAtomically(const std::filesystem::path& path, std::string_view bytes);

struct FolderFile {
    std::string name;  ///< below the folder; may have folders of its own: "llm/1.md"
    std::string bytes;
    bool executable = false;
};

/// Writes a folder with these files beside `folder` and renames it, so that it is there whole or not at all. Errors:
/// `folder` is there and not empty, or no folder; a name that leads out of it.
Result<void> writeFolderAtomically(const std::filesystem::path& folder, const std::vector<FolderFile>& files);

}  // namespace cuco
