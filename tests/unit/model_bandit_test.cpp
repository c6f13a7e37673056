// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/population/model_bandit.h"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <stdexcept>

namespace cuco {
namespace {

using ::testing::HasSubstr;

const std::vector<std::string> models{"large", "small", "tiny"};

std::map<std::string, int> drawsOf(const ModelBandit& bandit, int count)
{
    std::map<std::string, int> draws;
    for (int i = 0; i < count; ++i) {
        ProposalRandom random(7, static_cast<std::uint64_t>(i));
        ++draws[bandit.choose(random)];
    }
    return draws;
}

const ModelBandit::Arm& armOf(const ModelBandit& bandit, const std::string& model)
{
    for (const auto& arm : bandit.arms())
        if (arm.model == model)
            return arm;
    throw std::out_of_range(model);
}

TEST(ModelBandit, TriesEveryModelBeforeItJudges)
{
    ModelBandit bandit(models, {.epsilon = 0});
    std::set<std::string> tried;
    for (std::uint64_t i = 0; i < 3; ++i) {
        ProposalRandom random(1, i);
        const std::string model = bandit.choose(random);
        tried.insert(model);
        bandit.observe(model, 0.0, 1.0);
    }
    EXPECT_EQ(tried.size(), 3u);
}

TEST(ModelBandit, SpreadsProposalsThatAreMadeAtOnce)
{
    ModelBandit bandit(models, {.epsilon = 0});
    std::map<std::string, int> chosen;
    for (std::uint64_t i = 0; i < 9; ++i) {
        ProposalRandom random(1, i);
        const std::string model = bandit.choose(random);
        bandit.submitted(model);
        ++chosen[model];
    }
    for (const std::string& model : models)
        EXPECT_EQ(chosen[model], 3) << model;
    bandit.abandoned("tiny");
    EXPECT_EQ(armOf(bandit, "tiny").in_flight, 2);
}

TEST(ModelBandit, ComesToPreferTheModelThatImproves)
{
    ModelBandit bandit(models, {});
    std::map<std::string, int> chosen;
    for (std::uint64_t i = 0; i < 600; ++i) {
        ProposalRandom random(3, i);
        const std::string model = bandit.choose(random);
        ++chosen[model];
        bandit.observe(model, 0.1, model == "small" ? 0.6 : 0.1);
    }
    EXPECT_GT(chosen["small"], 250);
    EXPECT_GT(chosen["large"], 40);  // evenly drawn now and then, and explored as old tries fade
    EXPECT_GT(chosen["tiny"], 40);
}

TEST(ModelBandit, CountsOnlyImprovements)
{
    ModelBandit bandit(models, {});
    bandit.observe("large", 0.5, 0.2);           // worse
    bandit.observe("small", 0.5, std::nullopt);  // failed
    bandit.observe("tiny", 0.5, 0.5);            // as fit
    for (const auto& arm : bandit.arms())
        EXPECT_EQ(arm.reward, 0) << arm.model;
    bandit.observe("tiny", 0.5, 0.75);
    EXPECT_DOUBLE_EQ(armOf(bandit, "tiny").reward, 0.25);
}

TEST(ModelBandit, RanksOneRareBreakthroughAboveManyFailuresOfOthers)
{
    ModelBandit bandit({"rare", "never"}, {.decay = 1});
    for (int i = 0; i < 10; ++i) {
        bandit.observe("rare", 0.0, i == 3 ? std::optional(0.4) : std::nullopt);
        bandit.observe("never", 0.0, std::nullopt);
    }
    EXPECT_GT(bandit.score(bandit.arms()[0]), bandit.score(bandit.arms()[1]));
}

TEST(ModelBandit, ScoresByMeanRewardAndTheUpperConfidenceBound)
{
    ModelBandit bandit({"a", "b"}, {.exploration = 1, .decay = 1});
    bandit.observe("a", 0.0, 0.2);
    bandit.observe("a", 0.0, 0.0);
    bandit.observe("b", 0.0, 0.1);
    EXPECT_DOUBLE_EQ(bandit.score(bandit.arms()[0]), 0.5 + std::sqrt(2 * std::log(4.0) / 2));
    EXPECT_DOUBLE_EQ(bandit.score(bandit.arms()[1]), 0.5 + std::sqrt(2 * std::log(4.0)));
}

TEST(ModelBandit, LetsWhatItSawFade)
{
    ModelBandit bandit({"a", "b"}, {.decay = 0.5});
    bandit.observe("a", 0.0, 1.0);
    bandit.observe("b", 0.0, 0.0);
    bandit.observe("b", 0.0, 0.0);
    EXPECT_DOUBLE_EQ(armOf(bandit, "a").count, 0.25);
    EXPECT_DOUBLE_EQ(armOf(bandit, "a").reward, 0.25);
    EXPECT_DOUBLE_EQ(armOf(bandit, "b").count, 1.5);
}

TEST(ModelBandit, DrawsEvenlyWhenEpsilonIsOne)
{
    ModelBandit bandit(models, {.epsilon = 1});
    bandit.observe("large", 0.0, 3.0);
    for (const auto& [model, draws] : drawsOf(bandit, 3000))
        EXPECT_NEAR(draws, 1000, 120) << model;
}

TEST(ModelBandit, DrawsTheSameForTheSameStateAndRandomNumbers)
{
    ModelBandit bandit(models, {});
    bandit.observe("large", 0.0, 3.0);
    EXPECT_EQ(drawsOf(bandit, 200), drawsOf(bandit, 200));
}

TEST(ModelBandit, TakesAFitnessThatIsNoNumberForNoImprovement)
{
    ModelBandit bandit(models, {});
    bandit.observe("large", 0.0, std::numeric_limits<double>::quiet_NaN());
    bandit.observe("large", 0.0, std::numeric_limits<double>::infinity());
    bandit.observe("unheard-of", 0.0, 1.0);
    EXPECT_EQ(armOf(bandit, "large").reward, 0);
    EXPECT_EQ(bandit.arms().size(), 3u);
}

TEST(ModelBandit, HasNothingToChooseWithoutModels)
{
    ProposalRandom random(1, 1);
    EXPECT_EQ(ModelBandit({}, {}).choose(random), "");
    EXPECT_EQ(ModelBandit({"a", "a"}, {}).arms().size(), 1u);
}

TEST(ModelBandit, GoesOnAfterARestartAsIfThereHadBeenNone)
{
    ModelBandit before(models, {});
    for (int i = 0; i < 30; ++i)
        before.observe(models[static_cast<std::size_t>(i) % 3], 0.1, 0.1 + 0.01 * (i % 7));
    ModelBandit after(models, {});
    ASSERT_TRUE(after.restore(nlohmann::json::parse(before.state().dump()), "run.cuco"));
    EXPECT_EQ(after.state(), before.state());
    EXPECT_EQ(drawsOf(after, 500), drawsOf(before, 500));
}

TEST(ModelBandit, RestoresWhatItStillHasModelsFor)
{
    ModelBandit before({"old", "kept"}, {});
    before.observe("old", 0.0, 1.0);
    before.observe("kept", 0.0, 0.5);
    ModelBandit after({"kept", "new"}, {});
    ASSERT_TRUE(after.restore(before.state(), "run.cuco"));
    EXPECT_DOUBLE_EQ(armOf(after, "kept").reward, 0.5);
    EXPECT_EQ(armOf(after, "new").count, 0);
    EXPECT_EQ(after.arms().size(), 2u);
}

TEST(ModelBandit, SaysWhatIsWrongWithAStateAndKeepsItsOwn)
{
    ModelBandit bandit({"a"}, {});
    bandit.observe("a", 0.0, 1.0);
    const auto state = bandit.state();
    for (const char* text : {"[]", "{}", R"({"largest_reward": -1, "arms": []})", R"({"largest_reward": 1, "arms": 3})",
                             R"({"largest_reward": 1, "arms": [{"model": "a", "count": "nan", "reward": 0}]})"}) {
        const auto restored = bandit.restore(nlohmann::json::parse(text), "run.cuco");
        ASSERT_FALSE(restored) << text;
        EXPECT_EQ(restored.error().where, "run.cuco");
        EXPECT_EQ(bandit.state(), state);
    }
    EXPECT_THAT(bandit.restore({{"largest_reward", 1}, {"arms", {{{"model", "a"}, {"count", -1}, {"reward", 0}}}}}, "x")
                    .error()
                    .what,
                HasSubstr("arms[0].count"));
}

TEST(ModelBanditSettings, AreReadBackAsWrittenAndHaveASentenceForWhatCannotWork)
{
    const auto settings = modelBanditSettingsFromJson(toJson(ModelBanditSettings{0.5, 0.1, 0.9}), "run.json");
    EXPECT_EQ(settings->exploration, 0.5);
    EXPECT_EQ(settings->epsilon, 0.1);
    EXPECT_EQ(settings->decay, 0.9);
    EXPECT_TRUE(validate(ModelBanditSettings{}));
    EXPECT_THAT(validate(ModelBanditSettings{.exploration = -1}).error().what,
                HasSubstr("model_bandit.exploration is -1"));
    EXPECT_THAT(validate(ModelBanditSettings{.epsilon = 1.5}).error().what, HasSubstr("model_bandit.epsilon is 1.5"));
    EXPECT_THAT(validate(ModelBanditSettings{.decay = 0}).error().what, HasSubstr("model_bandit.decay is 0"));
}

}  // namespace
}  // namespace cuco
