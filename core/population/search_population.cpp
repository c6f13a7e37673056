// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/population/search_population.h"

#include <algorithm>
#include <utility>

namespace cuco {

SearchPopulation::SearchPopulation(Settings settings)
    : settings_(std::move(settings)),
      archive_(settings_.archive),
      islands_(static_cast<std::size_t>(std::max(1, settings_.islands)))
{
}

void SearchPopulation::clear()
{
    archive_ = Archive(settings_.archive);
    candidates_.clear();
    for (auto& island : islands_)
        island.clear();
    children_.clear();
    by_id_.clear();
    generation_ = 0;
}

void SearchPopulation::update(std::span<const Pointer> candidates)
{
    const bool as_before = candidates.size() >= candidates_.size() &&
                           std::equal(candidates_.begin(), candidates_.end(), candidates.begin());
    if (!as_before)
        clear();
    for (std::size_t i = candidates_.size(); i < candidates.size(); ++i)
        add(candidates[i]);
}

void SearchPopulation::add(const Pointer& candidate)
{
    for (; generation_ < candidate->generation; ++generation_)
        migrate(generation_);
    by_id_.emplace(candidate->id, candidates_.size());
    candidates_.push_back(candidate);
    if (candidate->island >= 0 && std::cmp_less(candidate->island, islands_.size()))
        islands_[static_cast<std::size_t>(candidate->island)].push_back(candidate);
    for (const std::string& parent : candidate->parents)
        ++children_[parent];
    archive_.insert(*candidate);
}

void SearchPopulation::migrate(int generation)
{
    if (!isMigrationDue(generation, settings_.islands, settings_.migration))
        return;
    std::vector<IslandMember> members;
    for (std::size_t island = 0; island < islands_.size(); ++island)
        for (const Pointer& candidate : islands_[island])
            members.push_back({candidate->id, static_cast<int>(island),
                               candidate->decision == DecisionKind::rejected ? std::nullopt : fitness(*candidate)});
    for (const Migration& move :
         migrations(settings_.seed, generation, members, settings_.islands, settings_.migration))
        islands_[static_cast<std::size_t>(move.to)].push_back(candidates_[by_id_.at(move.candidate)]);
}

int SearchPopulation::childrenOf(const std::string& id) const
{
    const auto found = children_.find(id);
    return found == children_.end() ? 0 : found->second;
}

SearchPopulation::Pointer SearchPopulation::find(const std::string& id) const
{
    const auto found = by_id_.find(id);
    return found == by_id_.end() ? nullptr : candidates_[found->second];
}

}  // namespace cuco
