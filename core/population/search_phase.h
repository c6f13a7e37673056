// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/error.h"
#include "core/population/parent_selection.h"
#include "core/source/patch.h"

#include <nlohmann/json_fwd.hpp>

#include <string>
#include <vector>

namespace cuco {

enum class SearchPhase { explore, exploit };
std::string_view toString(SearchPhase phase);

/// How proposals of a phase are made. Weights need no certain sum.
struct PhaseMix {
    double diff = 0, full = 0, crossover = 0;
    std::vector<double> temperatures;  ///< one is drawn, evenly
    bool operator==(const PhaseMix&) const = default;
};

/// Exploring first ends better than exploiting only (CUCo, arXiv 2603.02376, its ablations).
struct SearchPhaseSettings {
    double explore_share = 0.4;  ///< of the run's proposals
    PhaseMix explore{15, 70, 15, {0.2, 0.5, 0.8}};
    PhaseMix exploit{25, 60, 15, {0, 0.2, 0.5}};
    const PhaseMix& mix(SearchPhase phase) const { return phase == SearchPhase::explore ? explore : exploit; }
};
Result<void> validate(const SearchPhaseSettings& settings);
nlohmann::json toJson(const SearchPhaseSettings& settings);
Result<SearchPhaseSettings> searchPhaseSettingsFromJson(const nlohmann::json& json, const std::string& where);

/// Of what comes after `done` of `total` steps; proposals or generations.
SearchPhase phaseAt(int done, int total, const SearchPhaseSettings& settings);

struct ProposalMove {
    PatchKind kind = PatchKind::diff;
    double temperature = 0;
};

/// Always two draws. Where no crossover is possible (fewer than two parents), its share falls to the others.
ProposalMove drawMove(SearchPhase phase, bool crossover_possible, const SearchPhaseSettings& settings,
                      ProposalRandom& random);

}  // namespace cuco
