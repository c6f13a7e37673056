// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/population/search_population.h"

#include <algorithm>
#include <utility>

namespace cuco {

SearchPopulation::SearchPopulation(Settings settings)
    : settings_(std::move(settings)),
      archive_(settings_.archive),
      pools_(static_cast<std::size_t>(std::max(1, settings_.islands)) + 1),
      failures_(pools_.size() - 1)
{
}

void SearchPopulation::clear()
{
    archive_ = Archive(settings_.archive);
    candidates_.clear();
    by_id_.clear();
    for (auto& pool : pools_)
        pool = {};
    for (auto& failures : failures_)
        failures.clear();
    rejected_.clear();
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
    candidates_.push_back(candidate);
    for (const std::string& parent : candidate->parents)
        if (const auto found = by_id_.find(parent); found != by_id_.end()) {
            ++found->second.children;
            for (const auto& [pool, index] : found->second.places)
                ++pools_[pool].parents[index].children;
        }
    Known& known = by_id_[candidate->id];
    known.candidate = candidate;
    const bool on_island = candidate->island >= 0 && std::cmp_less(candidate->island, islands());
    const auto island = static_cast<std::size_t>(candidate->island);
    if (on_island)
        join(island, known);
    join(islands(), known);
    if (candidate->decision == DecisionKind::rejected)
        rejected_.push_back(candidate);
    else if (on_island && candidate->evaluation && !candidate->evaluation->verified() &&
             candidate->evaluation->verdict != Verdict::duplicate)
        failures_[island].push_back(candidate);
    archive_.insert(*candidate);
}

/// Nothing for one that cannot be a parent.
void SearchPopulation::join(std::size_t pool, Known& known)
{
    const auto parent = asPossibleParent(*known.candidate, known.children);
    if (!parent)
        return;
    auto& [parents, by_fitness] = pools_[pool];
    const auto index = static_cast<std::uint32_t>(parents.size());
    known.places.emplace_back(pool, index);
    parents.push_back(*parent);
    const auto behind = std::ranges::upper_bound(
        by_fitness, index, [&parents](std::uint32_t a, std::uint32_t b) { return isFitter(parents[a], parents[b]); });
    by_fitness.insert(behind, index);
}

void SearchPopulation::migrate(int generation)
{
    if (!isMigrationDue(generation, settings_.islands, settings_.migration))
        return;
    std::vector<IslandMember> members;
    for (std::size_t island = 0; island < islands(); ++island)
        for (const PossibleParent& parent : pools_[island].parents)
            members.push_back({parent.candidate->id, static_cast<int>(island), parent.fitness});
    for (const Migration& move :
         migrations(settings_.seed, generation, members, settings_.islands, settings_.migration))
        join(static_cast<std::size_t>(move.to), by_id_.at(move.candidate));
}

SearchPopulation::Pointer SearchPopulation::find(const std::string& id) const
{
    const auto found = by_id_.find(id);
    return found == by_id_.end() ? nullptr : found->second.candidate;
}

}  // namespace cuco
