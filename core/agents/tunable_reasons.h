// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/design/tunable.h"
#include "core/population/parent_selection.h"

#include <span>
#include <string>
#include <vector>

namespace cuco {

/// A weighted draw with what was drawn from.
struct ParentChoice {
    std::vector<PossibleParent> parents;
    std::vector<double> weights;
    const Candidate* chosen = nullptr;  ///< nothing when all weights are zero
};
ParentChoice drawParent(std::vector<PossibleParent> parents, const ParentSelectionSettings& settings,
                        ProposalRandom& random);

// The Markdown bodies of the tunable proposer's steps.
std::string explainSeed(int island, const std::string& strategy, const std::string& directive);
std::string explainParent(const ParentChoice& choice, const ParentSelectionSettings& settings, const std::string& from);
std::string explainStart(std::span<const std::string> untried, const std::string& started);
std::string explainMove(std::span<const Tunable> tunables, const TunableValues& values, const std::string& why);
std::string explainCross(const ParentChoice& partner, const std::string& strategy, const std::string& taker,
                         const std::string& giver, const std::string& changes);

}  // namespace cuco
