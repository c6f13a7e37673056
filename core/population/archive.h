// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/error.h"
#include "core/design/directive.h"
#include "core/population/candidate.h"

#include <nlohmann/json_fwd.hpp>

#include <compare>
#include <map>
#include <set>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

namespace cuco {

/// Chunks are told apart by their size: the whole message at once, or pieces up to a limit.
enum class ChunkSize { whole, up_to_64_kib, up_to_1_mib, up_to_16_mib, larger };
inline constexpr int chunk_sizes = 5;
ChunkSize chunkSize(std::uint64_t chunk_bytes);
std::string_view toString(ChunkSize size);

/// One cell of the archive's map: a directive whose chunk is a class of sizes.
struct ArchiveCell {
    std::string backend, placement, sync, issuer;
    ChunkSize chunk = ChunkSize::whole;
    auto operator<=>(const ArchiveCell&) const = default;
};

ArchiveCell cellOf(const Directive& directive);
std::string toString(const ArchiveCell& cell);  ///< "backend=lsa placement=… chunk=whole"

/// The cells that a design space allows where only `capabilities` are there; in the order of its values.
std::vector<ArchiveCell> validCells(const DesignSpace& space, const std::set<std::string>& capabilities);

struct ArchiveSettings {
    int capacity = 60;  ///< elites, so cells
};
Result<void> validate(const ArchiveSettings& settings);
nlohmann::json toJson(const ArchiveSettings& settings);
Result<ArchiveSettings> archiveSettingsFromJson(const nlohmann::json& json, const std::string& where);

struct Elite {
    std::string id;
    double fitness = 0;
    ArchiveCell cell;
};

struct ArchiveCoverage {
    std::size_t filled = 0, valid = 0;  ///< cells; filled ones that are not valid do not count
    double share() const { return valid == 0 ? 0 : static_cast<double>(filled) / static_cast<double>(valid); }
};

/// MAP-Elites (Mouret and Clune, arXiv 1504.04909): the fittest candidate of each cell. Full, it holds the cells whose
/// elites are fittest. Of equally fit ones the one inserted first counts as fitter. Candidates that were beaten are
/// forgotten, so after a rejection or its undo archiveOf() makes the archive anew. O(log n) an insertion or removal.
class Archive {
public:
    explicit Archive(const ArchiveSettings& settings = {}) : capacity_(static_cast<std::size_t>(settings.capacity)) {}

    Archive(Archive&&) = default;  // its parts point into each other
    Archive& operator=(Archive&&) = default;

    enum class Outcome { new_cell, replaced, not_fitter, no_room, no_fitness };
    struct Insertion {
        Outcome outcome = Outcome::no_fitness;
        std::string displaced;  ///< the id of the elite that had to go; may be empty
    };
    /// An id that is there already is measured again: its older entry goes. A fitness that is not finite: no_fitness.
    Insertion insert(std::string id, const Directive& directive, double fitness);
    /// Rejected and unverified candidates have no_fitness; they go if they were there.
    Insertion insert(const Candidate& candidate);
    bool remove(const std::string& id);  ///< whether it was there

    std::size_t size() const { return ranked_.size(); }
    const Elite* at(const ArchiveCell& cell) const;  ///< nullptr: empty
    std::vector<Elite> elites() const;               ///< the fittest first
    ArchiveCoverage coverage(const DesignSpace& space, const std::set<std::string>& capabilities) const;

private:
    struct Entry {
        Elite elite;
        std::uint64_t order = 0;  ///< of insertion
    };
    struct FitterFirst {
        bool operator()(const Entry& a, const Entry& b) const
        {
            return a.elite.fitness != b.elite.fitness ? a.elite.fitness > b.elite.fitness : a.order < b.order;
        }
    };
    using Ranked = std::set<Entry, FitterFirst>;
    void erase(Ranked::const_iterator entry);

    std::size_t capacity_;
    std::uint64_t inserted_ = 0;
    Ranked ranked_;
    std::map<ArchiveCell, Ranked::const_iterator> by_cell_;
    std::unordered_map<std::string, Ranked::const_iterator> by_id_;
};

Archive archiveOf(std::span<const Candidate* const> candidates, const ArchiveSettings& settings = {});

}  // namespace cuco
