// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/population/archive.h"
#include "core/population/islands.h"

#include <memory>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

namespace cuco {

/// Settled candidates in the order of their numbers, and what a search derives from them: who lives on which island,
/// the archive, numbers of children. Taking one more costs O(log n). Not for several threads at once.
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
    /// Those that were born there and those that migrated there, rejected and failed ones included.
    const std::vector<Pointer>& membersOf(int island) const { return islands_.at(static_cast<std::size_t>(island)); }
    int childrenOf(const std::string& id) const;
    Pointer find(const std::string& id) const;  ///< null: not there
    const Archive& archive() const { return archive_; }

private:
    void clear();
    void add(const Pointer& candidate);
    void migrate(int generation);

    Settings settings_;
    Archive archive_;
    std::vector<Pointer> candidates_;
    std::vector<std::vector<Pointer>> islands_;
    std::unordered_map<std::string, int> children_;
    std::unordered_map<std::string, std::size_t> by_id_;
    int generation_ = 0;
};

}  // namespace cuco
