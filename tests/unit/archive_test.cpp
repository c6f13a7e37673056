// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/population/archive.h"

#include "core/population/parent_selection.h"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <functional>
#include <limits>

namespace cuco {
namespace {

using Outcome = Archive::Outcome;
using ::testing::HasSubstr;

const Directive pushing{"lsa", "sequential", "world", "cta", 0};
const Directive fused{"lsa", "fused", "tile", "warp", 64u << 10};

DesignSpace designSpace()
{
    return DesignSpace::load(CUCO_TEST_ROOT "/resources/design_space.json").value();
}

Candidate verified(const std::string& id, const Directive& directive, double low)
{
    Candidate candidate;
    candidate.id = id;
    candidate.directive = directive;
    candidate.evaluation.emplace();
    ShapeTiming timing;
    timing.speedup = timing.ci_low = timing.ci_high = low;
    candidate.evaluation->timings = {timing};
    return candidate;
}

std::vector<std::string> idsOf(const Archive& archive)
{
    std::vector<std::string> ids;
    for (const Elite& elite : archive.elites())
        ids.push_back(elite.id);
    return ids;
}

TEST(ArchiveCell, PutsChunksIntoFiveSizes)
{
    const std::vector<std::pair<std::uint64_t, ChunkSize>> expected{
        {0, ChunkSize::whole},
        {1, ChunkSize::up_to_64_kib},
        {64u << 10, ChunkSize::up_to_64_kib},
        {(64u << 10) + 1, ChunkSize::up_to_1_mib},
        {1u << 20, ChunkSize::up_to_1_mib},
        {(1u << 20) + 1, ChunkSize::up_to_16_mib},
        {16u << 20, ChunkSize::up_to_16_mib},
        {(16u << 20) + 1, ChunkSize::larger},
        {std::numeric_limits<std::uint64_t>::max(), ChunkSize::larger}};
    for (const auto& [bytes, size] : expected)
        EXPECT_EQ(chunkSize(bytes), size) << bytes;
}

TEST(ArchiveCell, IsNamedByItsDimensions)
{
    EXPECT_EQ(toString(cellOf(fused)), "backend=lsa placement=fused sync=tile issuer=warp chunk=≤64KiB");
}

TEST(Archive, KeepsTheFitterOfACell)
{
    Archive archive;
    EXPECT_EQ(archive.insert("c1", pushing, 0.1).outcome, Outcome::new_cell);
    const auto better = archive.insert("c2", pushing, 0.2);
    EXPECT_EQ(better.outcome, Outcome::replaced);
    EXPECT_EQ(better.displaced, "c1");
    EXPECT_EQ(archive.insert("c3", pushing, 0.15).outcome, Outcome::not_fitter);
    EXPECT_EQ(idsOf(archive), std::vector<std::string>{"c2"});
    EXPECT_EQ(archive.at(cellOf(pushing))->id, "c2");
    EXPECT_EQ(archive.at(cellOf(fused)), nullptr);
}

TEST(Archive, KeepsTheFirstOfEquallyFitOnes)
{
    Archive archive;
    archive.insert("c1", pushing, 0.1);
    EXPECT_EQ(archive.insert("c2", pushing, 0.1).outcome, Outcome::not_fitter);
    EXPECT_EQ(idsOf(archive), std::vector<std::string>{"c1"});
}

TEST(Archive, LetsTheLeastFitCellGoWhenItIsFull)
{
    Archive archive(ArchiveSettings{.capacity = 2});
    archive.insert("c1", pushing, 0.1);
    archive.insert("c2", fused, 0.3);
    Directive split = pushing;
    split.placement = "split";
    EXPECT_EQ(archive.insert("c3", split, 0.05).outcome, Outcome::no_room);
    const auto insertion = archive.insert("c4", split, 0.2);
    EXPECT_EQ(insertion.outcome, Outcome::new_cell);
    EXPECT_EQ(insertion.displaced, "c1");
    EXPECT_EQ(idsOf(archive), (std::vector<std::string>{"c2", "c4"}));
}

TEST(Archive, TakesACandidateThatIsMeasuredAgainAtItsNewFitness)
{
    Archive archive;
    archive.insert("c1", pushing, 0.4);
    archive.insert("c2", fused, 0.3);
    archive.insert("c1", pushing, 0.1);
    EXPECT_EQ(idsOf(archive), (std::vector<std::string>{"c2", "c1"}));
}

TEST(Archive, HoldsNoFitnessThatIsNoNumber)
{
    Archive archive;
    for (const double fitness : {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()})
        EXPECT_EQ(archive.insert("c1", pushing, fitness).outcome, Outcome::no_fitness);
    EXPECT_EQ(archive.size(), 0u);
}

TEST(Archive, DropsACandidateThatIsRejectedAndNeverTakesAnUnverifiedOne)
{
    Archive archive;
    Candidate candidate = verified("c1", pushing, 1.2);
    EXPECT_EQ(archive.insert(candidate).outcome, Outcome::new_cell);
    candidate.decision = DecisionKind::rejected;
    EXPECT_EQ(archive.insert(candidate).outcome, Outcome::no_fitness);
    EXPECT_EQ(archive.size(), 0u);
    Candidate racing = verified("c2", pushing, 1.2);
    racing.evaluation->verdict = Verdict::race;
    EXPECT_EQ(archive.insert(racing).outcome, Outcome::no_fitness);
    EXPECT_EQ(archive.insert(Candidate{}).outcome, Outcome::no_fitness);
    EXPECT_EQ(archive.size(), 0u);
}

TEST(Archive, MadeAnewHasTheRunnerUpOfARejectedElite)
{
    std::vector<Candidate> candidates{verified("c1", pushing, 1.1), verified("c2", pushing, 1.3)};
    const std::vector<const Candidate*> pointers{&candidates[0], &candidates[1]};
    EXPECT_EQ(idsOf(archiveOf(pointers)), std::vector<std::string>{"c2"});
    candidates[1].decision = DecisionKind::rejected;
    EXPECT_EQ(idsOf(archiveOf(pointers)), std::vector<std::string>{"c1"});
}

TEST(Archive, RemovesByIdAndSaysWhetherItWasThere)
{
    Archive archive;
    archive.insert("c1", pushing, 0.1);
    EXPECT_FALSE(archive.remove("c2"));
    EXPECT_TRUE(archive.remove("c1"));
    EXPECT_FALSE(archive.remove("c1"));
    EXPECT_EQ(archive.at(cellOf(pushing)), nullptr);
}

TEST(Archive, StaysWholeWhenItIsMoved)
{
    Archive first;
    first.insert("c1", pushing, 0.1);
    Archive archive = std::move(first);
    EXPECT_EQ(archive.insert("c2", pushing, 0.2).displaced, "c1");
    EXPECT_TRUE(archive.remove("c2"));
    EXPECT_EQ(archive.size(), 0u);
}

TEST(Archive, AgreesWithALinearSearchOverTenThousandInsertions)
{
    constexpr std::size_t capacity = 60;
    const auto space = designSpace();
    const auto cells = validCells(space, {"lsa", "gin", "copy_engine"});
    ASSERT_GT(cells.size(), capacity);
    Archive archive;
    struct Seen {
        std::string id;
        ArchiveCell cell;
        double fitness;
    };
    std::vector<Seen> best;  // of every cell, no bound
    ProposalRandom random(1, 2);
    for (int i = 0; i < 10'000; ++i) {
        const ArchiveCell& cell = cells[random.index(cells.size())];
        const std::uint64_t chunk = std::array<std::uint64_t, 5>{0, 4096, 1u << 19, 1u << 23, 1u << 28}.at(
            static_cast<std::size_t>(cell.chunk));
        const double fitness = static_cast<double>(random.index(500)) / 500;  // many are equal
        const std::string id = "c" + std::to_string(i);
        archive.insert(id, {cell.backend, cell.placement, cell.sync, cell.issuer, chunk}, fitness);
        ASSERT_LE(archive.size(), capacity);
        const auto held = std::ranges::find(best, cell, &Seen::cell);
        if (held != best.end() && fitness > held->fitness) {
            best.erase(held);
            best.push_back({id, cell, fitness});
        } else if (held == best.end()) {
            best.push_back({id, cell, fitness});
        }
        if (i % 97 != 0 && i != 9'999)
            continue;
        std::vector<double> expected, actual;
        for (const Seen& seen : best)
            expected.push_back(seen.fitness);
        std::ranges::sort(expected, std::greater<>());
        expected.resize(std::min(expected.size(), capacity));
        for (const Elite& elite : archive.elites()) {
            actual.push_back(elite.fitness);
            const auto seen = std::ranges::find(best, elite.cell, &Seen::cell);
            ASSERT_NE(seen, best.end());
            EXPECT_EQ(seen->fitness, elite.fitness);
            EXPECT_EQ(archive.at(elite.cell)->id, elite.id);
        }
        ASSERT_EQ(actual, expected);
    }
}

TEST(ArchiveCoverage, CountsCellsThatTheDesignSpaceAllows)
{
    const auto space = designSpace();
    const auto cells = validCells(space, {"lsa"});
    for (const ArchiveCell& cell : cells)
        EXPECT_EQ(space.violation({cell.backend, cell.placement, cell.sync, cell.issuer, 0}, {"lsa"}), "");
    EXPECT_EQ(validCells(space, {}).size(), 15u);  // the host's: three placements, five sizes of chunk
    EXPECT_LT(cells.size(), validCells(space, {"lsa", "gin"}).size());

    Archive archive;
    archive.insert("c1", pushing, 0.1);
    archive.insert("c2", fused, 0.1);
    archive.insert("c3", {"gin", "sequential", "world", "cta", 0}, 0.1);
    const auto coverage = archive.coverage(space, {"lsa"});
    EXPECT_EQ(coverage.filled, 2u);  // gin is not valid there
    EXPECT_EQ(coverage.valid, cells.size());
    EXPECT_DOUBLE_EQ(coverage.share(), 2.0 / static_cast<double>(cells.size()));
}

TEST(ArchiveSettings, AreReadBackAsWritten)
{
    const ArchiveSettings settings{.capacity = 17};
    EXPECT_EQ(archiveSettingsFromJson(toJson(settings), "run.json")->capacity, 17);
    EXPECT_EQ(archiveSettingsFromJson(nlohmann::json::object(), "run.json")->capacity, 60);
}

TEST(ArchiveSettings, HaveASentenceForWhatCannotWork)
{
    EXPECT_TRUE(validate(ArchiveSettings{}));
    const auto error = validate(ArchiveSettings{.capacity = 0}).error();
    EXPECT_EQ(error.what, "The setting archive.capacity is 0");
    EXPECT_THAT(error.remedy, HasSubstr("from 1 to"));
    EXPECT_THAT(archiveSettingsFromJson({{"capacity", "many"}}, "run.json").error().what,
                HasSubstr("archive.capacity"));
}

}  // namespace
}  // namespace cuco
