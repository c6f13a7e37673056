// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/population/islands.h"

#include "core/base/json.h"
#include "core/population/parent_selection.h"
#include "core/population/setting_checks.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

namespace cuco {

namespace {

/// Keeps these draws apart from those of proposals, which use the run's seed as it is.
constexpr std::uint64_t migration_stream = 0x6d696772617465u;

}  // namespace

Result<void> validate(const MigrationSettings& settings)
{
    for (auto checked : {wholeInRange("migration.interval", settings.interval, 1, 1'000'000),
                         realInRange("migration.rate", settings.rate, 0, 1)})
        if (!checked)
            return checked;
    return {};
}

nlohmann::json toJson(const MigrationSettings& settings)
{
    return {{"interval", settings.interval}, {"rate", settings.rate}, {"keep_elites", settings.keep_elites}};
}

Result<MigrationSettings> migrationSettingsFromJson(const nlohmann::json& json, const std::string& where)
{
    MigrationSettings settings;
    JsonReader reader(json, where, "migration");
    reader.optional("interval", settings.interval)
        .optional("rate", settings.rate)
        .optional("keep_elites", settings.keep_elites);
    if (auto done = reader.finish(); !done)
        return std::unexpected(done.error());
    return settings;
}

IslandPlace placeOf(int number, int islands, int children_per_island)
{
    if (number < islands)
        return {number, 0};
    const int child = number - islands;
    return {child % islands, 1 + child / (islands * children_per_island)};
}

int visibleTo(int number, int islands, int children_per_island)
{
    if (number < islands)
        return 0;
    return std::max(islands, number - islands * children_per_island + 1);
}

bool isMigrationDue(int generation, int islands, const MigrationSettings& settings)
{
    return islands > 1 && settings.rate > 0 && generation > 0 && generation % settings.interval == 0;
}

std::vector<Migration> migrations(std::uint64_t seed, int generation, std::span<const IslandMember> members,
                                  int islands, const MigrationSettings& settings)
{
    std::vector<Migration> result;
    if (!isMigrationDue(generation, islands, settings))
        return result;
    std::set<std::pair<std::string, int>> present;
    std::vector<std::vector<const IslandMember*>> populations(static_cast<std::size_t>(islands));
    for (const IslandMember& member : members)
        if (member.island >= 0 && member.island < islands && present.emplace(member.candidate, member.island).second &&
            member.fitness && std::isfinite(*member.fitness))
            populations[static_cast<std::size_t>(member.island)].push_back(&member);

    ProposalRandom random(seed ^ migration_stream, static_cast<std::uint64_t>(generation));
    for (int from = 0; from < islands; ++from) {
        auto& island = populations[static_cast<std::size_t>(from)];
        const auto share = static_cast<std::size_t>(settings.rate * static_cast<double>(island.size()));
        std::ranges::sort(island, [](const IslandMember* a, const IslandMember* b) {
            return *a->fitness != *b->fitness ? *a->fitness > *b->fitness : a->candidate < b->candidate;
        });
        if (settings.keep_elites && !island.empty())
            island.erase(island.begin());
        for (std::size_t left = std::max<std::size_t>(1, share); left > 0 && !island.empty();) {
            const auto drawn = island.begin() + static_cast<std::ptrdiff_t>(random.index(island.size()));
            const std::string& candidate = (*drawn)->candidate;
            std::vector<int> targets;
            for (int to = 0; to < islands; ++to)
                if (!present.contains({candidate, to}))
                    targets.push_back(to);
            if (!targets.empty()) {
                const int to = targets[random.index(targets.size())];
                present.emplace(candidate, to);
                result.push_back({candidate, from, to});
                --left;
            }
            island.erase(drawn);
        }
    }
    return result;
}

}  // namespace cuco
