// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/nodes/toolchain.h"

#include <filesystem>
#include <map>
#include <string>
#include <string_view>

namespace cuco {

/// What a compiler said about `file_name` as a BuildFault: the first error, the line of that file it names
/// (or that led to it, when it lies in a header), and the log, at most 64 KiB. Reads the formats of GCC,
/// Clang and nvcc ("file:12:3: error: …", "file(12): error: …"). Folders in `shown_as` are replaced.
BuildFault readCompilerLog(std::string log, std::string_view file_name,
                           const std::map<std::filesystem::path, std::string>& shown_as);

}  // namespace cuco
