// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/error.h"
#include "core/source/kernel_source.h"

#include <nlohmann/json_fwd.hpp>

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

namespace cuco {

/// What is too alike to what was tried is not tried.
struct NoveltySettings {
    double embedding_cosine = 0.995;  ///< above it embedded sources are duplicates
    /// From it on sources are duplicates by their shingles. The plain counterpart of the cosine would be
    /// c/(2 − c) = 0.99, but a changed number among 1,600 tokens is as alike as that, and it is just what a search for
    /// speed must try. One changed token leaves (n − 8)/(n + 8) of n shingles; 0.9995 tells it apart up to n = 32,000,
    /// more than a model writes in an answer. Renames, comments and layout leave 1.
    double shingle_similarity = 0.9995;
    int attempts = 5;             ///< proposals until one is new; 0: none is compared
    int embedded_sources = 4096;  ///< kept for comparison, the latest; each is compared with
    int embedded_bytes = 24'000;  ///< longer sources are compared by their shingles alone: models for embeddings take
                                  ///< some 8,000 tokens
};
Result<void> validate(const NoveltySettings& settings);
nlohmann::json toJson(const NoveltySettings& settings);
Result<NoveltySettings> noveltySettingsFromJson(const nlohmann::json& json, const std::string& where);

/// What is compared of a source: its shingles of 8 normalised tokens (normalised_tokens.h) as a multiset, and their
/// MinHash signature (Broder 1997) by one permutation (Li, Owen, Zhang 2012), its empty bins filled from the next ones
/// (Shrivastava, Li 2014).
struct SourceSketch {
    static constexpr std::size_t shingle_tokens = 8, signature_size = 256;
    std::vector<std::uint32_t> shingles;  ///< sorted; about one for each token
    std::array<std::uint32_t, signature_size> signature{};
};

SourceSketch sketchOf(const KernelSource& source);
/// |A ∩ B| / |A ∪ B| of the shingles, exact.
double similarity(const SourceSketch& a, const SourceSketch& b);
/// The same from the signatures alone; standard error some 0.03, more where there are fewer shingles than bins.
double estimatedSimilarity(const SourceSketch& a, const SourceSketch& b);

struct NoveltyMatch {
    std::string id;
    double similarity = 0;
};

/// Finds duplicates among the sources of a run: bands of the signature (locality-sensitive hashing; Leskovec et al.,
/// Mining of Massive Datasets, 3.4) name those that may be alike, and sums over parts of their shingles those of them
/// that are not, so that few are compared in full. Grows by 1.5 KB for each source, however long it is. Not for several
/// threads at once.
class NoveltyIndex {
public:
    /// The sketch of a source that was added under this id.
    using SketchOf = std::function<Result<SourceSketch>(const std::string& id)>;

    /// Sources from `threshold` on are duplicates; at least 0.5. Equal ones are always found, others with a probability
    /// of some 0.9999.
    explicit NoveltyIndex(double threshold = NoveltySettings{}.shingle_similarity);

    void add(std::string id, const SourceSketch& sketch);
    /// The one most alike, of equal ones the first added; nothing when all are below the threshold. Asks for the
    /// sketches of the few that must be compared in full. Errors: those of `sketch_of`.
    Result<std::optional<NoveltyMatch>> duplicateOf(const SourceSketch& sketch, const SketchOf& sketch_of) const;
    std::size_t size() const { return sources_.size(); }
    std::size_t rowsInBand() const { return rows_; }

private:
    /// The sum of the shingles with the same leading bits, mixed: equal parts have equal sums.
    using PartSums = std::array<std::uint32_t, 256>;
    struct Source {
        std::string id;
        std::size_t shingles = 0;
        PartSums sums{};
    };
    static PartSums partSumsOf(const SourceSketch& sketch);
    std::vector<std::uint64_t> bandsOf(const SourceSketch& sketch) const;

    double threshold_;
    std::size_t rows_;
    std::vector<Source> sources_;
    std::unordered_map<std::uint64_t, std::vector<std::uint32_t>> buckets_;  ///< by band and its rows
};

}  // namespace cuco
