// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>

namespace cuco::testing {

/// A program of what packaging/test-servers installs, such as "python"; nothing where that was not run.
inline std::optional<std::filesystem::path> testServerProgram(const std::string& name)
{
    const char* const chosen = std::getenv("CUCO_TEST_SERVERS");
    const std::filesystem::path folder = chosen != nullptr
                                             ? std::filesystem::path(chosen)
                                             : std::filesystem::path(CUCO_TEST_ROOT) / "build" / "test-servers";
    const std::filesystem::path program = folder / "bin" / name;
    return std::filesystem::exists(program) ? std::optional(program) : std::nullopt;
}

}  // namespace cuco::testing
