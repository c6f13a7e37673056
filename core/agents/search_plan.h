// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/agents/proposer.h"
#include "core/agents/slow_path_settings.h"
#include "core/population/search_population.h"

namespace cuco {

/// How one child of a search by models is to be made.
struct SearchPlan {
    using Pointer = SearchPopulation::Pointer;

    SearchPhase phase = SearchPhase::explore;
    ProposalMove move;
    Pointer parent;                 ///< null: there is nothing to begin with
    bool repair = false;            ///< nothing can be a parent yet; this one failed and is to be mended
    std::vector<Pointer> partners;  ///< of a crossover
    std::vector<Pointer> inspirations, failures, rejected;
    std::string why;  ///< Markdown: what the parent was drawn from
};

/// Depends on its arguments alone. A crossover needs a second candidate that could be a parent.
SearchPlan planProposal(const SearchPopulation& population, const ProposalContext& context,
                        const SlowPathSettings& settings);

/// The archive as a table, the fittest first, and which cells of the design space nobody has filled.
std::string describeArchive(const Archive& archive, const std::vector<ArchiveCell>& valid_cells);

}  // namespace cuco
