// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/error.h"

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

namespace cuco {

/// The whole of a regular file. Errors: not there, not readable, no regular file, more than `max_bytes`.
Result<std::string> readFile(const std::filesystem::path& path, std::uint64_t max_bytes = 64u << 20);

/// Writes beside `path` and renames, so that a reader sees the old bytes or all of the new ones.
Result<void> writeFileAtomically(const std::filesystem::path& path, std::string_view bytes);

}  // namespace cuco
