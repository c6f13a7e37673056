// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/error.h"
#include "core/population/archive.h"
#include "core/population/islands.h"
#include "core/population/model_bandit.h"
#include "core/population/novelty.h"
#include "core/population/search_phase.h"

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace cuco {

/// What makes an island different from the others; empty where it is not.
struct IslandPlan {
    std::string backend;   ///< every candidate's: "lsa", "gin", "lsa+gin" or "host"
    std::string strategy;  ///< the workload's strategy to begin with
    std::string prompt;    ///< a person's words, told with each proposal
};

/// How models search (CUCo, arXiv 2603.02376, section 6; the method of ShinkaEvolve, arXiv 2509.19349).
struct SlowPathSettings {
    SearchPhaseSettings phases;
    ArchiveSettings archive;
    NoveltySettings novelty;
    MigrationSettings migration;
    ModelBanditSettings bandit;
    int archive_inspirations = 3;                ///< drawn from the archive's elites
    int top_inspirations = 3;                    ///< the island's fittest
    int crossover_parents = 3;                   ///< at most, the parent included
    int told_failures = 3, told_rejections = 5;  ///< the latest, of the island and of all
    int raced_choices = 6;         ///< of the tunables of a program that verified, each compiled and raced; 0: none
    int summary_interval = 8;      ///< candidates; 0: no summaries
    int answers_a_proposal = 3;    ///< until one can be used
    int substitutes_in_a_row = 4;  ///< tunables moved where no answer could be used, until the run pauses
    std::int64_t proposal_tokens = 32768, summary_tokens = 4096;
    std::vector<std::string> further_models;  ///< beside the provider's model; the bandit chooses
    std::string summary_model;                ///< empty: the provider's model
    std::vector<IslandPlan> islands;          ///< of the first so many
};

/// A sentence for the first setting that cannot work, or contradicts another.
Result<void> validate(const SlowPathSettings& settings, int islands);

nlohmann::json toJson(const SlowPathSettings& settings);
Result<SlowPathSettings> slowPathSettingsFromJson(const nlohmann::json& json, const std::string& where);

}  // namespace cuco
