// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/run/evidence.h"

#include <filesystem>
#include <string>
#include <vector>

namespace cuco {

/// verify.sh for the candidate. What comes from the run file is quoted for the shell.
Result<FolderFile> verifyScript(const std::filesystem::path& resources, const RunSnapshot& snapshot,
                                const Candidate& candidate);

/// README.md. `missing`: sentences on what the run file does not have.
Result<FolderFile> evidenceReadme(const std::filesystem::path& resources, const RunSnapshot& snapshot,
                                  const Candidate& candidate, const std::vector<DescribedFile>& files,
                                  const std::vector<std::string>& missing);

}  // namespace cuco
