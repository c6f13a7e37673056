// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/population/islands.h"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <map>
#include <set>

namespace cuco {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

/// `each` on every island; "i1c3" is the fourth fittest of island 1.
std::vector<IslandMember> population(int islands, int each)
{
    std::vector<IslandMember> members;
    for (int island = 0; island < islands; ++island)
        for (int i = 0; i < each; ++i)
            members.push_back({"i" + std::to_string(island) + "c" + std::to_string(i), island, 1.0 - 0.01 * i});
    return members;
}

TEST(IslandPlace, BeginsWithASeedForEachIslandAndThenTakesThemInTurn)
{
    const std::vector<std::pair<int, int>> expected{{0, 0}, {1, 0}, {0, 1}, {1, 1}, {0, 1}, {1, 1}, {0, 2}, {1, 2}};
    for (int number = 0; number < 8; ++number) {
        const IslandPlace place = placeOf(number, 2, 2);
        EXPECT_EQ(std::pair(place.island, place.generation), expected[static_cast<std::size_t>(number)]) << number;
    }
}

TEST(Migration, IsDueEveryEighthGeneration)
{
    for (int generation = 0; generation <= 24; ++generation)
        EXPECT_EQ(isMigrationDue(generation, 2, {}), generation > 0 && generation % 8 == 0) << generation;
    EXPECT_FALSE(isMigrationDue(8, 1, {}));
    EXPECT_FALSE(isMigrationDue(8, 2, {.rate = 0}));
    EXPECT_THAT(migrations(1, 7, population(2, 20), 2, {}), IsEmpty());
}

TEST(Migration, CopiesTheGivenShareOfEachIsland)
{
    const auto moves = migrations(1, 8, population(3, 20), 3, {});
    std::map<int, int> from;
    for (const Migration& move : moves) {
        ++from[move.from];
        EXPECT_NE(move.from, move.to);
        EXPECT_TRUE(move.candidate.starts_with("i" + std::to_string(move.from)));
        EXPECT_GE(move.to, 0);
        EXPECT_LT(move.to, 3);
    }
    EXPECT_EQ(from, (std::map<int, int>{{0, 3}, {1, 3}, {2, 3}}));
}

TEST(Migration, CopiesAtLeastOneFromASmallIsland)
{
    EXPECT_EQ(migrations(1, 8, population(2, 3), 2, {}).size(), 2u);
}

TEST(Migration, LeavesTheElitesAtHomeUnlessTheyMayGo)
{
    bool elite_went = false;
    for (std::uint64_t seed = 0; seed < 100; ++seed) {
        for (const Migration& move : migrations(seed, 8, population(2, 7), 2, {}))
            EXPECT_FALSE(move.candidate.ends_with("c0")) << seed;
        for (const Migration& move : migrations(seed, 8, population(2, 7), 2, {.keep_elites = false}))
            elite_went = elite_went || move.candidate.ends_with("c0");
    }
    EXPECT_TRUE(elite_went);
    EXPECT_THAT(migrations(1, 8, population(2, 1), 2, {}), IsEmpty());
}

TEST(Migration, TakesNobodyWhoWasRejectedOrNeverVerified)
{
    auto members = population(2, 10);
    for (IslandMember& member : members)
        if (!member.candidate.ends_with("c0") && !member.candidate.ends_with("c5"))
            member.fitness.reset();
    for (std::uint64_t seed = 0; seed < 20; ++seed)
        for (const Migration& move : migrations(seed, 8, members, 2, {}))
            EXPECT_TRUE(move.candidate.ends_with("c5"));
}

TEST(Migration, SendsNobodyWhereItAlreadyIs)
{
    std::vector<IslandMember> members = population(3, 12);
    for (int generation = 8; generation <= 160; generation += 8) {
        std::set<std::pair<std::string, int>> present;
        for (const IslandMember& member : members)
            EXPECT_TRUE(present.emplace(member.candidate, member.island).second);
        for (const Migration& move : migrations(5, generation, members, 3, {})) {
            EXPECT_TRUE(present.contains({move.candidate, move.from}));  // copied, so it is still there
            EXPECT_TRUE(present.emplace(move.candidate, move.to).second);
            const auto original = std::ranges::find(members, move.candidate, &IslandMember::candidate);
            members.push_back({move.candidate, move.to, original->fitness});
        }
    }
}

TEST(Migration, DependsOnSeedGenerationAndMembersButNotTheirOrder)
{
    auto members = population(3, 20);
    const auto moves = migrations(1, 8, members, 3, {});
    std::ranges::reverse(members);
    EXPECT_EQ(migrations(1, 8, members, 3, {}), moves);
    EXPECT_NE(migrations(2, 8, members, 3, {}), moves);
    EXPECT_NE(migrations(1, 16, members, 3, {}), moves);
}

TEST(Migration, ReachesAllOtherIslandsAlike)
{
    std::map<int, int> to;
    for (std::uint64_t seed = 0; seed < 300; ++seed)
        for (const Migration& move : migrations(seed, 8, population(4, 10), 4, {}))
            if (move.from == 0)
                ++to[move.to];
    EXPECT_EQ(to.size(), 3u);
    for (const auto& [island, count] : to)
        EXPECT_NEAR(count, 100, 40) << island;
}

TEST(Migration, LeavesOutMembersOfIslandsThatAreNotThere)
{
    auto members = population(2, 5);
    members.push_back({"stray", 9, 3.0});
    members.push_back({"stray", -1, 3.0});
    for (const Migration& move : migrations(1, 8, members, 2, {}))
        EXPECT_NE(move.candidate, "stray");
}

TEST(MigrationSettings, AreReadBackAsWrittenAndHaveASentenceForWhatCannotWork)
{
    const auto settings = migrationSettingsFromJson(toJson(MigrationSettings{3, 0.5, false}), "run.json");
    EXPECT_EQ(settings->interval, 3);
    EXPECT_EQ(settings->rate, 0.5);
    EXPECT_FALSE(settings->keep_elites);
    EXPECT_TRUE(validate(MigrationSettings{}));
    EXPECT_THAT(validate(MigrationSettings{.interval = 0}).error().what, HasSubstr("migration.interval is 0"));
    EXPECT_THAT(validate(MigrationSettings{.rate = 1.5}).error().what, HasSubstr("migration.rate is 1.5"));
}

}  // namespace
}  // namespace cuco
