// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/files.h"
#include "core/run/run_file.h"

#include <set>
#include <string>
#include <vector>

namespace cuco {

/// The candidate and all it descends from.
std::set<std::string> withAncestors(const RunSnapshot& snapshot, const std::string& candidate_id);

/// Steps of agents and calls of models made for these candidates: steps.md, and for each call llm/N.md and llm/N.json.
/// Texts of models are quoted, so that none of them is Markdown of the file.
Result<std::vector<FolderFile>> traceFiles(RunFile& file, const std::set<std::string>& candidates);

}  // namespace cuco
