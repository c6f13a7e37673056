// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/population/search_phase.h"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include <limits>
#include <map>

namespace cuco {
namespace {

using ::testing::HasSubstr;

struct Draws {
    std::map<PatchKind, int> kinds;
    std::map<double, int> temperatures;
};

Draws draw(SearchPhase phase, bool crossover_possible)
{
    Draws draws;
    for (std::uint64_t number = 0; number < 10'000; ++number) {
        ProposalRandom random(11, number);
        const ProposalMove move = drawMove(phase, crossover_possible, {}, random);
        ++draws.kinds[move.kind];
        ++draws.temperatures[move.temperature];
    }
    return draws;
}

TEST(SearchPhase, ExploresForTheFirstTwoFifths)
{
    for (int done = 0; done < 100; ++done)
        EXPECT_EQ(phaseAt(done, 100, {}), done < 40 ? SearchPhase::explore : SearchPhase::exploit) << done;
    EXPECT_EQ(phaseAt(0, 1, {}), SearchPhase::explore);
    EXPECT_EQ(phaseAt(0, 100, {.explore_share = 0}), SearchPhase::exploit);
    EXPECT_EQ(phaseAt(99, 100, {.explore_share = 1}), SearchPhase::explore);
}

TEST(SearchPhase, ExploringMostlyWritesAnew)
{
    auto draws = draw(SearchPhase::explore, true);
    EXPECT_NEAR(draws.kinds[PatchKind::diff], 1500, 150);
    EXPECT_NEAR(draws.kinds[PatchKind::full], 7000, 200);
    EXPECT_NEAR(draws.kinds[PatchKind::crossover], 1500, 150);
    EXPECT_EQ(draws.temperatures.size(), 3u);
    for (const double temperature : {0.2, 0.5, 0.8})
        EXPECT_NEAR(draws.temperatures[temperature], 3333, 200) << temperature;
}

TEST(SearchPhase, ExploitingChangesMoreInPlaceAndIsCooler)
{
    auto draws = draw(SearchPhase::exploit, true);
    EXPECT_NEAR(draws.kinds[PatchKind::diff], 2500, 180);
    EXPECT_NEAR(draws.kinds[PatchKind::full], 6000, 200);
    EXPECT_NEAR(draws.kinds[PatchKind::crossover], 1500, 150);
    for (const double temperature : {0.0, 0.2, 0.5})
        EXPECT_NEAR(draws.temperatures[temperature], 3333, 200) << temperature;
}

TEST(SearchPhase, CrossesNothingWhereThereIsNothingToCross)
{
    auto draws = draw(SearchPhase::explore, false);
    EXPECT_EQ(draws.kinds[PatchKind::crossover], 0);
    EXPECT_NEAR(draws.kinds[PatchKind::diff], 10'000 * 15 / 85, 180);
}

TEST(SearchPhase, DrawsAsOftenWhateverIsDrawn)
{
    ProposalRandom crossing(1, 1), not_crossing(1, 1);
    drawMove(SearchPhase::explore, true, {}, crossing);
    drawMove(SearchPhase::exploit, false, {}, not_crossing);
    EXPECT_EQ(crossing.next(), not_crossing.next());
}

TEST(SearchPhaseSettings, AreReadBackAsWritten)
{
    SearchPhaseSettings settings;
    settings.explore_share = 0.7;
    settings.explore = {1, 2, 3, {0.1}};
    settings.exploit = {4, 5, 0, {0.9, 1.0}};
    const auto read = searchPhaseSettingsFromJson(nlohmann::json::parse(toJson(settings).dump()), "run.json");
    ASSERT_TRUE(read);
    EXPECT_EQ(read->explore_share, 0.7);
    EXPECT_EQ(read->explore, settings.explore);
    EXPECT_EQ(read->exploit, settings.exploit);
}

TEST(SearchPhaseSettings, KeepTheirDefaultsWhereNothingIsSaid)
{
    const auto read = searchPhaseSettingsFromJson({{"exploit", {{"diff", 99}}}}, "run.json");
    ASSERT_TRUE(read);
    EXPECT_EQ(read->exploit, (PhaseMix{99, 60, 15, {0, 0.2, 0.5}}));
    EXPECT_EQ(read->explore, SearchPhaseSettings{}.explore);
}

TEST(SearchPhaseSettings, HaveASentenceForWhatCannotWork)
{
    EXPECT_TRUE(validate(SearchPhaseSettings{}));
    const auto wrong = [](auto change) {
        SearchPhaseSettings settings;
        change(settings);
        return validate(settings).error().what;
    };
    EXPECT_EQ(wrong([](auto& s) { s.explore_share = 1.1; }), "The setting search_phase.explore_share is 1.1");
    EXPECT_EQ(wrong([](auto& s) { s.explore.full = -1; }), "The setting search_phase.explore.full is -1");
    EXPECT_EQ(wrong([](auto& s) { s.exploit.crossover = std::numeric_limits<double>::quiet_NaN(); }),
              "The setting search_phase.exploit.crossover is nan");
    EXPECT_EQ(wrong([](auto& s) { s.exploit.diff = s.exploit.full = 0; }),
              "The settings search_phase.exploit.diff and .full are both 0");
    EXPECT_EQ(wrong([](auto& s) { s.explore.temperatures.clear(); }),
              "The setting search_phase.explore.temperatures has 0 numbers");
    EXPECT_EQ(wrong([](auto& s) {
                  s.explore.temperatures = {0.5, 3};
              }),
              "The setting search_phase.explore.temperatures is 3");
    EXPECT_THAT(searchPhaseSettingsFromJson({{"explore", {{"diff", "all"}}}}, "run.json").error().what,
                HasSubstr("search_phase.explore.diff"));
    EXPECT_THAT(searchPhaseSettingsFromJson({{"explore", 3}}, "run.json").error().what,
                HasSubstr("search_phase.explore"));
}

}  // namespace
}  // namespace cuco
