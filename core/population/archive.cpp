// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/population/archive.h"

#include "core/base/json.h"
#include "core/population/setting_checks.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <array>
#include <cmath>
#include <iterator>

namespace cuco {

namespace {

constexpr std::array<std::string_view, chunk_sizes> chunk_size_names{"whole", "≤64KiB", "≤1MiB", "≤16MiB", ">16MiB"};

/// A size of each class, to ask the design space with.
constexpr std::array<std::uint64_t, chunk_sizes> example_chunks{0, 64u << 10, 1u << 20, 16u << 20, 32u << 20};

}  // namespace

ChunkSize chunkSize(std::uint64_t chunk_bytes)
{
    if (chunk_bytes == 0)
        return ChunkSize::whole;
    if (chunk_bytes <= 64u << 10)
        return ChunkSize::up_to_64_kib;
    if (chunk_bytes <= 1u << 20)
        return ChunkSize::up_to_1_mib;
    return chunk_bytes <= 16u << 20 ? ChunkSize::up_to_16_mib : ChunkSize::larger;
}

std::string_view toString(ChunkSize size)
{
    return chunk_size_names.at(static_cast<std::size_t>(size));
}

ArchiveCell cellOf(const Directive& directive)
{
    return {directive.backend, directive.placement, directive.sync, directive.issuer, chunkSize(directive.chunk_bytes)};
}

std::string toString(const ArchiveCell& cell)
{
    return fmt::format("backend={} placement={} sync={} issuer={} chunk={}", cell.backend, cell.placement, cell.sync,
                       cell.issuer, toString(cell.chunk));
}

std::vector<ArchiveCell> validCells(const DesignSpace& space, const std::set<std::string>& capabilities)
{
    std::vector<ArchiveCell> cells;
    for (const std::string& backend : space.backends())
        for (const std::string& placement : space.placements())
            for (const std::string& sync : space.syncs())
                for (const std::string& issuer : space.issuers())
                    for (const std::uint64_t chunk : example_chunks) {
                        const Directive directive{backend, placement, sync, issuer, chunk};
                        if (space.violation(directive, capabilities).empty())
                            cells.push_back(cellOf(directive));
                    }
    return cells;
}

Result<void> validate(const ArchiveSettings& settings)
{
    return wholeInRange("archive.capacity", settings.capacity, 1, 100'000);
}

nlohmann::json toJson(const ArchiveSettings& settings)
{
    return {{"capacity", settings.capacity}};
}

Result<ArchiveSettings> archiveSettingsFromJson(const nlohmann::json& json, const std::string& where)
{
    ArchiveSettings settings;
    JsonReader reader(json, where, "archive");
    reader.optional("capacity", settings.capacity);
    if (auto done = reader.finish(); !done)
        return std::unexpected(done.error());
    return settings;
}

Archive::Insertion Archive::insert(std::string id, const Directive& directive, double fitness)
{
    remove(id);
    if (!std::isfinite(fitness))
        return {Outcome::no_fitness, {}};
    Entry entry{{id, fitness, cellOf(directive)}, inserted_++};
    Insertion insertion{Outcome::new_cell, {}};
    if (const auto held = by_cell_.find(entry.elite.cell); held != by_cell_.end()) {
        if (!(fitness > held->second->elite.fitness))
            return {Outcome::not_fitter, {}};
        insertion = {Outcome::replaced, held->second->elite.id};
        erase(held->second);
    } else if (ranked_.size() >= capacity_) {
        if (ranked_.empty() || !(fitness > ranked_.rbegin()->elite.fitness))
            return {Outcome::no_room, {}};
        insertion.displaced = ranked_.rbegin()->elite.id;
        erase(std::prev(ranked_.end()));
    }
    const auto place = ranked_.insert(std::move(entry)).first;
    by_cell_.emplace(place->elite.cell, place);
    by_id_.emplace(std::move(id), place);
    return insertion;
}

Archive::Insertion Archive::insert(const Candidate& candidate)
{
    const auto score = candidate.decision == DecisionKind::rejected ? std::nullopt : fitness(candidate);
    return insert(candidate.id, candidate.directive, score.value_or(std::nan("")));
}

bool Archive::remove(const std::string& id)
{
    const auto found = by_id_.find(id);
    if (found == by_id_.end())
        return false;
    erase(found->second);
    return true;
}

void Archive::erase(Ranked::const_iterator entry)
{
    by_cell_.erase(entry->elite.cell);
    by_id_.erase(by_id_.find(entry->elite.id));
    ranked_.erase(entry);
}

const Elite* Archive::at(const ArchiveCell& cell) const
{
    const auto found = by_cell_.find(cell);
    return found == by_cell_.end() ? nullptr : &found->second->elite;
}

std::vector<Elite> Archive::elites() const
{
    std::vector<Elite> elites;
    elites.reserve(ranked_.size());
    for (const Entry& entry : ranked_)
        elites.push_back(entry.elite);
    return elites;
}

ArchiveCoverage Archive::coverage(const DesignSpace& space, const std::set<std::string>& capabilities) const
{
    ArchiveCoverage coverage;
    for (const ArchiveCell& cell : validCells(space, capabilities)) {
        ++coverage.valid;
        if (by_cell_.contains(cell))
            ++coverage.filled;
    }
    return coverage;
}

Archive archiveOf(std::span<const Candidate* const> candidates, const ArchiveSettings& settings)
{
    Archive archive(settings);
    for (const Candidate* candidate : candidates)
        archive.insert(*candidate);
    return archive;
}

}  // namespace cuco
