// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
// What the population's structures cost with 1,000 and 10,000 candidates, and how that grows.
#include "core/base/files.h"
#include "core/population/archive.h"
#include "core/population/embedding_index.h"
#include "core/population/novelty.h"
#include "core/population/parent_selection.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <functional>
#include <iterator>

namespace cuco {
namespace {

double microseconds(const std::function<void()>& work)
{
    const auto begin = std::chrono::steady_clock::now();
    work();
    return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - begin).count();
}

std::vector<Candidate> candidatesOf(int count, const std::vector<ArchiveCell>& cells)
{
    constexpr std::array<std::uint64_t, chunk_sizes> chunks{0, 4096, 1u << 19, 1u << 23, 1u << 28};
    std::vector<Candidate> candidates;
    ProposalRandom random(1, 1);
    for (int i = 0; i < count; ++i) {
        Candidate candidate;
        candidate.id = "c" + std::to_string(i);
        candidate.number = i;
        const ArchiveCell& cell = cells[random.index(cells.size())];
        candidate.directive = {cell.backend, cell.placement, cell.sync, cell.issuer,
                               chunks.at(static_cast<std::size_t>(cell.chunk))};
        candidate.evaluation.emplace();
        for (int shape = 0; shape < 3; ++shape) {
            ShapeTiming timing;
            timing.speedup = timing.ci_low = timing.ci_high = 0.5 + random.uniform();
            candidate.evaluation->timings.push_back(timing);
        }
        candidates.push_back(std::move(candidate));
    }
    return candidates;
}

/// Families of sources of a usual length that differ in a number or some: what a search makes.
std::vector<KernelSource> sourcesOf(int count, const std::vector<std::string>& originals)
{
    std::vector<KernelSource> sources;
    ProposalRandom random(2, 2);
    for (int i = 0; i < count; ++i) {
        std::string text = originals[static_cast<std::size_t>(i) % originals.size()];
        const std::size_t begin = text.find('\n', text.find("// cuco:")) + 1;
        std::string changes;
        for (std::size_t change = random.index(4); change < 4; ++change)
            changes += fmt::format("constexpr int extra{} = {};\n", change, random.index(1'000'000));
        text.insert(begin, changes);
        sources.push_back(KernelSource::parse(std::move(text)).value());
    }
    return sources;
}

struct Figures {
    double archive = 0, sketches = 0, novelty = 0, selection = 0, embeddings = 0;  ///< µs for all, selection: for one
    double total() const { return archive + sketches + novelty + selection; }
};

Figures measure(int count, const std::vector<ArchiveCell>& cells, const std::vector<std::string>& originals)
{
    Figures figures;
    const auto candidates = candidatesOf(count, cells);
    std::size_t kept = 0, duplicates = 0, near = 0;
    figures.archive = microseconds([&] {
        Archive archive;
        for (const Candidate& candidate : candidates)
            archive.insert(candidate);
        kept = archive.size();
    });

    const auto sources = sourcesOf(count, originals);
    std::vector<SourceSketch> sketches;
    sketches.reserve(sources.size());
    figures.sketches = microseconds([&] {
        for (const KernelSource& source : sources)
            sketches.push_back(sketchOf(source));
    });
    figures.novelty = microseconds([&] {
        NoveltyIndex index;
        for (std::size_t i = 0; i < sketches.size(); ++i) {
            const auto match = index.duplicateOf(sketches[i], [&](const std::string& id) -> Result<SourceSketch> {
                return sketchOf(sources[std::stoul(id.substr(1))]);
            });
            duplicates += match && *match ? 1 : 0;
            index.add(candidates[i].id, sketches[i]);
        }
    });

    std::vector<PossibleParent> parents;
    for (const Candidate& candidate : candidates)
        if (const auto parent = asPossibleParent(candidate, 1))
            parents.push_back(*parent);
    ProposalRandom random(3, 3);
    constexpr int draws = 20;
    double chosen = 0;
    figures.selection = microseconds([&] {
                            for (int i = 0; i < draws; ++i)
                                chosen += static_cast<double>(random.weighted(parentWeights(parents, {})));
                        }) /
                        draws;

    EmbeddingIndex embeddings;
    std::vector<float> vector(1536);
    const int queries = 100;
    for (int i = 0; i < count; ++i) {
        for (float& value : vector)
            value = static_cast<float>(static_cast<std::int32_t>(random.next())) * 0x1p-31f;
        if (auto added = embeddings.add(std::to_string(i), vector); !added)
            return figures;
    }
    figures.embeddings = microseconds([&] {
                             for (int i = 0; i < queries; ++i)
                                 near += *embeddings.duplicateOf(vector) ? 1 : 0;
                         }) /
                         queries;
    fmt::print("{} candidates: {} elites, {} duplicates, parents drawn up to {:.0f}, {} of {} embeddings near\n", count,
               kept, duplicates, chosen, near, queries);
    return figures;
}

void print(const char* what, double few, double many, double few_count, double many_count)
{
    fmt::print("{:34}{:12.2f}{:12.2f}{:10.1f}x\n", what, few / few_count, many / many_count, many / few);
}

int benchmark()
{
    const auto space = DesignSpace::load(CUCO_TEST_ROOT "/resources/design_space.json");
    if (!space) {
        fmt::print(stderr, "{}\n", describe(space.error()));
        return 1;
    }
    std::vector<std::string> originals;
    for (const char* file : {"gemm_allgather/seed_lsa.cu", "gemm_allgather/strategies/stream_overlap_sm_push.cu",
                             "ring_attention/seed_lsa.cu", "moe_layer/seed_lsa.cu", "kv_transfer/seed_lsa.cu"}) {
        auto text = readFile(std::filesystem::path(CUCO_TEST_ROOT "/workloads") / file, 1u << 20);
        if (!text) {
            fmt::print(stderr, "{}\n", describe(text.error()));
            return 1;
        }
        originals.push_back(std::move(*text));
    }
    const auto cells = validCells(*space, {"lsa", "gin", "copy_engine"});
    const Figures few = measure(1'000, cells, originals), many = measure(10'000, cells, originals);
    fmt::print("{:34}{:>12}{:>12}{:>11}\n", "µs each", "1,000", "10,000", "in all");
    print("archive: an insertion", few.archive, many.archive, 1'000, 10'000);
    print("novelty: a sketch", few.sketches, many.sketches, 1'000, 10'000);
    print("novelty: a query and an addition", few.novelty, many.novelty, 1'000, 10'000);
    print("selection: a parent of all", few.selection, many.selection, 1, 1);
    print("embeddings: a query, 4,096 at most", few.embeddings, many.embeddings, 1, 1);
    fmt::print("\nAll insertions, sketches and queries and one selection: {:.1f} ms, {:.1f} ms, {:.1f}x\n",
               few.total() / 1e3, many.total() / 1e3, many.total() / few.total());
    return 0;
}

}  // namespace
}  // namespace cuco

int main()
{
    return cuco::benchmark();
}
