// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/error.h"

#include <filesystem>
#include <stop_token>
#include <string>
#include <vector>

namespace cuco {

struct RunConfig;

struct ImportReport {
    int programs = 0, correct = 0, timed = 0, calls = 0;
    std::vector<std::string> remarks;  ///< sentences: what could not be taken as it stood
};

/// Writes a new run file with the programs of a ShinkaDatabase as candidates: sources, lineage, verdicts, costs, and
/// the call of a model that each came from, where it was kept. A time is taken where the public metrics have CUCo's
/// `time_ms`; its speed-up is against the first correct program of the first generation. All of it is the other
/// program's word: every evaluation is self-reported, and the run is `isImported()`. `workload` names it; empty: the
/// database's name.
Result<ImportReport> importShinka(const std::filesystem::path& database, const std::filesystem::path& run_file,
                                  const std::string& workload = {}, std::stop_token stop = {});

/// All figures of the run are another program's word; it can be looked at and decided on, but not gone on with.
bool isImported(const RunConfig& config);

}  // namespace cuco
