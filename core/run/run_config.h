// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/error.h"
#include "core/population/parent_selection.h"

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <string>

namespace cuco {

/// Everything a run needs to be repeated; stored in the run file.
struct RunConfig {
    std::string workload;
    std::string workload_folder;  ///< where it was loaded from
    std::string node = "emulated";
    std::string proposer = "tunable";
    std::string seed_source;  ///< text; empty: the workload's own
    int ranks = 0;            ///< 0: the workload's default
    int generations = 8;
    int islands = 2;
    int children = 2;  ///< per island and generation
    std::uint64_t seed = 1;
    int compile_workers = 0;  ///< 0: one a core, at least 1
    double budget_usd = 0;
    bool check_races = false;  ///< of every candidate, before it is verified
    ParentSelectionSettings parent_selection;

    int proposals() const { return islands + generations * islands * children; }  ///< seeds included
};

nlohmann::json toJson(const RunConfig& config);
Result<RunConfig> runConfigFromJson(const nlohmann::json& json);
/// A sentence for the first setting that cannot work.
Result<void> validate(const RunConfig& config);

}  // namespace cuco
