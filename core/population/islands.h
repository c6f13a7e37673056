// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/error.h"

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace cuco {

struct MigrationSettings {
    int interval = 8;    ///< generations
    double rate = 0.15;  ///< of an island's candidates that can be parents; at least one, unless 0
    /// An island's fittest is not copied, so that islands do not become alike; where it is alone, nobody migrates.
    bool keep_elites = true;
};
Result<void> validate(const MigrationSettings& settings);
nlohmann::json toJson(const MigrationSettings& settings);
Result<MigrationSettings> migrationSettingsFromJson(const nlohmann::json& json, const std::string& where);

/// Where a proposal belongs by its number: seeds first, one an island; then the islands in turn.
struct IslandPlace {
    int island = 0, generation = 0;
};
IslandPlace placeOf(int number, int islands, int children_per_island);

/// How many candidates, from the first on, a proposal may see: those that were settled a generation before it, and
/// always the seeds. Fixed, so that a seed repeats a run however long evaluations take.
int visibleTo(int number, int islands, int children_per_island);

/// A candidate on an island; one that migrated is a member of several.
struct IslandMember {
    std::string candidate;
    int island = 0;
    std::optional<double> fitness;  ///< nothing: rejected or unverified, does not migrate
};

struct Migration {
    std::string candidate;
    int from = 0, to = 0;
    bool operator==(const Migration&) const = default;
};

/// When the generation has just ended.
bool isMigrationDue(int generation, int islands, const MigrationSettings& settings);

/// Who is copied where after this generation; empty when none is due. Depends on nothing but its arguments, nor on the
/// members' order. Nobody goes where it already is. By islands of origin, then in the order drawn.
std::vector<Migration> migrations(std::uint64_t seed, int generation, std::span<const IslandMember> members,
                                  int islands, const MigrationSettings& settings);

}  // namespace cuco
