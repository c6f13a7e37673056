// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/agents/fast_path_settings.h"
#include "core/agents/slow_path_settings.h"
#include "core/base/error.h"
#include "core/llm/provider_settings.h"
#include "core/population/parent_selection.h"

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace cuco {

/// Everything a run needs to be repeated; stored in the run file.
struct RunConfig {
    std::string workload;
    std::string workload_folder;  ///< where it was loaded from
    std::string node = "emulated";
    std::string proposer = "tunable";  ///< one of proposerNames()
    std::string seed_source;           ///< text; empty: the workload's own. Of the fast path: what it converts
    int ranks = 0;                     ///< 0: the workload's default
    int generations = 8;
    int islands = 2;
    int children = 2;  ///< per island and generation
    std::uint64_t seed = 1;
    int compile_workers = 0;      ///< 0: one a core, at least 1
    int proposals_in_flight = 0;  ///< asked of models at once; 0: as many as a generation has
    double budget_usd = 0;
    bool check_races = false;  ///< of every candidate, before it is verified
    ParentSelectionSettings parent_selection;
    ProviderSettings provider{.provider = ""};  ///< of models; no provider: none is asked
    FastPathSettings fast_path;
    SlowPathSettings slow_path;

    int proposals() const { return islands + generations * islands * children; }  ///< seeds included
};

/// "tunable", "fastpath", "llm".
const std::vector<std::string>& proposerNames();

nlohmann::json toJson(const RunConfig& config);
Result<RunConfig> runConfigFromJson(const nlohmann::json& json);
/// A sentence for the first setting that cannot work.
Result<void> validate(const RunConfig& config);

}  // namespace cuco
