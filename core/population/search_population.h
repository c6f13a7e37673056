// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/population/archive.h"
#include "core/population/islands.h"
#include "core/population/parent_selection.h"

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

namespace cuco {

/// Those of some candidates that can be parents.
struct ParentPool {
    std::vector<PossibleParent> parents;    ///< as they joined
    std::vector<std::uint32_t> by_fitness;  ///< indices of `parents`, the fittest first
};

/// Settled candidates in the order of their numbers, and what a search derives from them: who can be a parent on which
/// island, the archive, numbers of children. Not for several threads at once.
class SearchPopulation {
public:
    using Pointer = std::shared_ptr<const Candidate>;
    struct Settings {
        int islands = 1;
        std::uint64_t seed = 0;
        ArchiveSettings archive;
        MigrationSettings migration;
    };
    explicit SearchPopulation(Settings settings);

    /// `candidates` are those of the update before and further ones. When one of them was replaced, which a decision
    /// does, all is derived anew. After a generation's last candidate comes its migration.
    void update(std::span<const Pointer> candidates);

    const std::vector<Pointer>& candidates() const { return candidates_; }
    const ParentPool& parents() const { return pools_.back(); }
    /// Of those that were born there or migrated there.
    const ParentPool& parentsOn(int island) const { return pools_.at(static_cast<std::size_t>(island)); }
    /// Those that were born there and did not verify; duplicates and rejected ones are none of them.
    const std::vector<Pointer>& failuresOn(int island) const { return failures_.at(static_cast<std::size_t>(island)); }
    const std::vector<Pointer>& rejected() const { return rejected_; }
    Pointer find(const std::string& id) const;  ///< null: not there
    const Archive& archive() const { return archive_; }

private:
    struct Known {
        Pointer candidate;
        int children = 0;
        std::vector<std::pair<std::size_t, std::size_t>> places;  ///< pool, index of its parents
    };
    std::size_t islands() const { return failures_.size(); }
    void clear();
    void add(const Pointer& candidate);
    void join(std::size_t pool, Known& known);
    void migrate(int generation);

    Settings settings_;
    Archive archive_;
    std::vector<Pointer> candidates_;
    std::unordered_map<std::string, Known> by_id_;
    std::vector<ParentPool> pools_;               ///< of each island; the last one of all
    std::vector<std::vector<Pointer>> failures_;  ///< of each island
    std::vector<Pointer> rejected_;
    int generation_ = 0;
};

}  // namespace cuco
