// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/population/novelty.h"

#include "core/base/json.h"
#include "core/population/normalised_tokens.h"
#include "core/population/setting_checks.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>

namespace cuco {

namespace {

using Signature = std::array<std::uint32_t, SourceSketch::signature_size>;

/// Of a duplicate that no band finds.
constexpr double most_missed = 1e-4;

/// By eleven bits at a time, the lowest first.
void sortHashes(std::vector<std::uint32_t>& hashes)
{
    constexpr unsigned digit_bits = 11;
    constexpr std::size_t digits = std::size_t{1} << digit_bits;
    std::vector<std::uint32_t> sorted(hashes.size());
    for (unsigned shift = 0; shift < 32; shift += digit_bits) {
        std::array<std::size_t, digits + 1> begins{};
        for (const std::uint32_t hash : hashes)
            ++begins[((hash >> shift) & (digits - 1)) + 1];
        std::partial_sum(begins.begin(), begins.end(), begins.begin());
        for (const std::uint32_t hash : hashes)
            sorted[begins[(hash >> shift) & (digits - 1)]++] = hash;
        hashes.swap(sorted);
    }
}

std::vector<std::uint32_t> shinglesOf(std::span<const std::uint64_t> tokens)
{
    // Blanks at both ends: each token is in as many shingles, the first and the last, too. A shingle is a polynomial of
    // its tokens, so that the next one follows from it.
    constexpr std::size_t width = SourceSketch::shingle_tokens;
    constexpr std::uint64_t base = 0x9e3779b97f4a7c15u;
    std::uint64_t leaving_factor = 1, polynomial = 0;
    for (std::size_t i = 0; i < width; ++i)
        leaving_factor *= base;
    std::vector<std::uint32_t> shingles;
    shingles.reserve(tokens.size() + width - 1);
    for (std::size_t end = 0; end + 1 < tokens.size() + width; ++end) {
        const std::uint64_t enters = end < tokens.size() ? tokens[end] : 0;
        const std::uint64_t leaves = end < width ? 0 : tokens[end - width];
        polynomial = polynomial * base + enters - leaves * leaving_factor;
        shingles.push_back(static_cast<std::uint32_t>(mixHash(0, polynomial) >> 32));
    }
    // A multiset as a set: the second of equal shingles is another element than the first.
    sortHashes(shingles);
    std::vector<std::uint32_t> repeated;
    std::uint64_t occurrence = 0;
    const auto again = std::unique(shingles.begin(), shingles.end(), [&](std::uint32_t first, std::uint32_t next) {
        occurrence = first == next ? occurrence + 1 : 0;
        if (occurrence > 0)
            repeated.push_back(static_cast<std::uint32_t>(mixHash(next, occurrence) >> 32));
        return first == next;
    });
    shingles.erase(again, shingles.end());
    sortHashes(repeated);
    const auto middle = shingles.insert(shingles.end(), repeated.begin(), repeated.end());
    std::inplace_merge(shingles.begin(), middle, shingles.end());
    return shingles;
}

/// The least shingle in each bin: the hashes are evenly spread already, so their leading bits name the bin. An empty
/// bin has that of the next one, told apart by the distance.
Signature signatureOf(std::span<const std::uint32_t> shingles)
{
    constexpr std::size_t bins = std::tuple_size_v<Signature>;
    static_assert(bins == 256, "the leading eight bits name the bin");
    Signature signature{};
    if (shingles.empty())
        return signature;
    for (std::size_t bin = 0; bin < bins; ++bin) {
        auto least = std::ranges::lower_bound(shingles, static_cast<std::uint32_t>(bin << 24));
        if (least == shingles.end())
            least = shingles.begin();
        const std::size_t distance = ((*least >> 24) + bins - bin) % bins;
        signature[bin] = *least + static_cast<std::uint32_t>(distance) * 0x9e3779b9u;
    }
    return signature;
}

/// How many elements two sets with so many in all may differ in and still have |A ∩ B| / |A ∪ B| ≥ `least`; one more
/// for rounding.
double mostDifferent(std::size_t sizes, double least)
{
    return (1 - least) / (1 + least) * static_cast<double>(sizes) + 1;
}

/// Nothing when it is below `least`, which is seen early where there is little in common.
std::optional<double> similarityOf(std::span<const std::uint32_t> a, std::span<const std::uint32_t> b, double least)
{
    const std::size_t sizes = a.size() + b.size();
    const double most_different = mostDifferent(sizes, least);
    std::size_t different = 0, common = 0;
    auto x = a.begin(), y = b.begin();
    while (x != a.end() && y != b.end()) {
        if (*x == *y) {
            ++common;
            ++x;
            ++y;
            continue;
        }
        *x < *y ? ++x : ++y;
        if (static_cast<double>(++different) > most_different)
            return std::nullopt;
    }
    const std::size_t all = sizes - common;
    const double found = all == 0 ? 1 : static_cast<double>(common) / static_cast<double>(all);
    return found >= least ? std::optional(found) : std::nullopt;
}

/// The longest rows, which let the fewest others through, with which a duplicate is still found.
std::size_t rowsFor(double threshold)
{
    std::size_t rows = 64;
    for (; rows > 1; rows /= 2) {
        const auto bands = static_cast<double>(SourceSketch::signature_size / rows);
        if (std::pow(1 - std::pow(threshold, rows), bands) <= most_missed)
            break;
    }
    return rows;
}

}  // namespace

Result<void> validate(const NoveltySettings& settings)
{
    for (auto checked : {realInRange("novelty.embedding_cosine", settings.embedding_cosine, 0, 1),
                         realInRange("novelty.shingle_similarity", settings.shingle_similarity, 0.5, 1),
                         wholeInRange("novelty.attempts", settings.attempts, 0, 100),
                         wholeInRange("novelty.embedded_sources", settings.embedded_sources, 1, 100'000),
                         wholeInRange("novelty.embedded_bytes", settings.embedded_bytes, 1, 128 * 1024)})
        if (!checked)
            return checked;
    return {};
}

nlohmann::json toJson(const NoveltySettings& settings)
{
    return {{"embedding_cosine", settings.embedding_cosine},
            {"shingle_similarity", settings.shingle_similarity},
            {"attempts", settings.attempts},
            {"embedded_sources", settings.embedded_sources},
            {"embedded_bytes", settings.embedded_bytes}};
}

Result<NoveltySettings> noveltySettingsFromJson(const nlohmann::json& json, const std::string& where)
{
    NoveltySettings settings;
    JsonReader reader(json, where, "novelty");
    reader.optional("embedding_cosine", settings.embedding_cosine)
        .optional("shingle_similarity", settings.shingle_similarity)
        .optional("attempts", settings.attempts)
        .optional("embedded_sources", settings.embedded_sources)
        .optional("embedded_bytes", settings.embedded_bytes);
    if (auto done = reader.finish(); !done)
        return std::unexpected(done.error());
    return settings;
}

SourceSketch sketchOf(const KernelSource& source)
{
    SourceSketch sketch;
    sketch.shingles = shinglesOf(normalisedTokens(source));
    sketch.signature = signatureOf(sketch.shingles);
    return sketch;
}

double similarity(const SourceSketch& a, const SourceSketch& b)
{
    return similarityOf(a.shingles, b.shingles, 0).value_or(0);
}

double estimatedSimilarity(const SourceSketch& a, const SourceSketch& b)
{
    std::size_t equal = 0;
    for (std::size_t i = 0; i < a.signature.size(); ++i)
        equal += a.signature[i] == b.signature[i] ? 1 : 0;
    return static_cast<double>(equal) / static_cast<double>(a.signature.size());
}

NoveltyIndex::NoveltyIndex(double threshold) : threshold_(threshold), rows_(rowsFor(threshold)) {}

std::vector<std::uint64_t> NoveltyIndex::bandsOf(const SourceSketch& sketch) const
{
    std::vector<std::uint64_t> bands;
    for (std::size_t begin = 0; begin < sketch.signature.size(); begin += rows_) {
        std::uint64_t hash = begin + 1;
        for (std::size_t row = begin; row < begin + rows_; ++row)
            hash = mixHash(hash, sketch.signature[row]);
        bands.push_back(hash);
    }
    return bands;
}

NoveltyIndex::PartSums NoveltyIndex::partSumsOf(const SourceSketch& sketch)
{
    PartSums sums{};
    for (const std::uint32_t shingle : sketch.shingles)
        sums[shingle >> 24] += static_cast<std::uint32_t>(mixHash(1, shingle) >> 32);
    return sums;
}

void NoveltyIndex::add(std::string id, const SourceSketch& sketch)
{
    const auto index = static_cast<std::uint32_t>(sources_.size());
    sources_.push_back({std::move(id), sketch.shingles.size(), partSumsOf(sketch)});
    for (const std::uint64_t band : bandsOf(sketch))
        buckets_[band].push_back(index);
}

Result<std::optional<NoveltyMatch>> NoveltyIndex::duplicateOf(const SourceSketch& sketch,
                                                              const SketchOf& sketch_of) const
{
    std::vector<std::uint32_t> alike;
    for (const std::uint64_t band : bandsOf(sketch))
        if (const auto bucket = buckets_.find(band); bucket != buckets_.end())
            alike.insert(alike.end(), bucket->second.begin(), bucket->second.end());
    std::ranges::sort(alike);
    const auto repeated = std::ranges::unique(alike);
    alike.erase(repeated.begin(), repeated.end());

    const PartSums sums = partSumsOf(sketch);
    std::optional<NoveltyMatch> best;
    for (const std::uint32_t index : alike) {
        const Source& source = sources_[index];
        // Parts with different sums differ in an element at least.
        std::size_t different = 0;
        for (std::size_t part = 0; part < sums.size(); ++part)
            different += sums[part] == source.sums[part] ? 0 : 1;
        if (different == 0 && source.shingles == sketch.shingles.size())
            return NoveltyMatch{source.id, 1};
        const double least = best ? best->similarity : threshold_;
        if (static_cast<double>(different) > mostDifferent(source.shingles + sketch.shingles.size(), least))
            continue;
        const auto other = sketch_of(source.id);
        if (!other)
            return std::unexpected(other.error());
        const auto found = similarityOf(sketch.shingles, other->shingles, least);
        if (found && (!best || *found > best->similarity))
            best = NoveltyMatch{source.id, *found};
    }
    return best;
}

}  // namespace cuco
