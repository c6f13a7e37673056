// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/files.h"
#include "core/run/run_file.h"

#include <filesystem>
#include <string>
#include <vector>

namespace cuco {

/// A file of the bundle with its line in README.md; no description, no line.
struct DescribedFile {
    FolderFile file;
    std::string description;
};

struct EvidenceOptions {
    std::filesystem::path resources;     ///< the product's, with evidence/
    std::vector<DescribedFile> further;  ///< what does not come from the run file
};

/// Everything that the run file has on one candidate, for somebody who does not believe it: docs/evidence.md has the
/// files. Works for any candidate; README.md says what it is worth. Errors: no such candidate, an unreadable run file.
Result<std::vector<FolderFile>> collectEvidence(RunFile& file, const std::string& candidate_id,
                                                const EvidenceOptions& options);

}  // namespace cuco
