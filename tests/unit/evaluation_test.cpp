// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/evaluation/evaluation.h"
#include "core/evaluation/shape_timing.h"
#include "tests/support/evaluation_samples.h"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include <cmath>
#include <limits>
#include <string>

namespace cuco {
namespace {

using testing::hostAt;
using ::testing::Not;

TEST(Evaluation, MeansAreGeometricOverTheShapes)
{
    Evaluation evaluation;
    EXPECT_EQ(evaluation.speedup(), std::nullopt);
    evaluation.timings = {timeShape("a", 4, {10}, hostAt({40}, 5), true),
                          timeShape("b", 4, {10}, hostAt({10}, 5), true)};
    EXPECT_DOUBLE_EQ(*evaluation.speedup(), 2);
    EXPECT_DOUBLE_EQ(*evaluation.timeUs(), 10);
}

TEST(Evaluation, ComesBackFromJsonAsItWas)
{
    Evaluation evaluation;
    evaluation.verdict = Verdict::wrong_result;
    evaluation.stage = Stage::verify;
    evaluation.message = "m";
    evaluation.detail = "d";
    evaluation.at = {7, "here"};
    Mismatch mismatch;
    mismatch.buffer = "c";
    mismatch.got = std::nan("");
    mismatch.relative_l2 = std::numeric_limits<double>::infinity();
    evaluation.mismatches = {mismatch};
    auto baselines = hostAt({40, 41}, 5);
    baselines.problems["zero_cta"] = "No.";
    baselines.compute_alone_us = 7;
    baselines.noise_floor = 0.01;
    evaluation.timings = {timeShape("a", 4, {10, 11}, baselines, false)};
    evaluation.timings[0].conditions = {{"0000:06", {1980}, {3201}, {50}, {300.5}, {"hw_thermal"}}};
    evaluation.timings[0].event_us = {9, 10};
    evaluation.remarks = {"The profile is missing."};
    evaluation.input_seed = 0x7fffffffffffffff;
    OverlapReport overlap;
    overlap.ranks.resize(2);
    overlap.ranks[1].rank = 1;
    overlap.ranks[1].exposed_us = 3;
    overlap.makespan_us = 9;
    overlap.hidden_share = 0.25;
    evaluation.overlap = overlap;
    evaluation.modelled = true;
    evaluation.compile_ms = 12;

    const auto json = nlohmann::json::parse(toJson(evaluation).dump());
    const auto back = evaluationFromJson(json);
    ASSERT_TRUE(back.has_value()) << describe(back.error());
    EXPECT_EQ(toJson(*back), toJson(evaluation));
    EXPECT_TRUE(std::isnan(back->mismatches[0].got));
    EXPECT_EQ(back->overlap->ranks[1].exposed_us, 3);
    EXPECT_EQ(back->overlap->ranks[0].hidden_share, std::nullopt);
    EXPECT_EQ(back->timings[0].ci_high, evaluation.timings[0].ci_high);
}

TEST(Evaluation, RefusesJsonOfAnotherKind)
{
    EXPECT_FALSE(evaluationFromJson(nlohmann::json::array()).has_value());
    auto json = toJson(Evaluation{});
    json["verdict"] = "excellent";
    EXPECT_FALSE(evaluationFromJson(json).has_value());
    json = toJson(Evaluation{});
    json["timings"] = {3};
    EXPECT_FALSE(evaluationFromJson(json).has_value());
    json = toJson(Evaluation{});
    json["at"] = {{"line", -1}, {"message", ""}};
    EXPECT_FALSE(evaluationFromJson(json).has_value());
}

TEST(Evaluation, EveryVerdictAndStageHasANameThatLeadsBack)
{
    for (int i = 0; i <= static_cast<int>(Verdict::tampering); ++i) {
        const auto verdict = static_cast<Verdict>(i);
        EXPECT_THAT(std::string(toString(verdict)), Not("unknown"));
        EXPECT_EQ(verdictFromString(toString(verdict)), verdict);
    }
    for (int i = 0; i <= static_cast<int>(Stage::profile); ++i)
        EXPECT_EQ(stageFromString(toString(static_cast<Stage>(i))), static_cast<Stage>(i));
    EXPECT_EQ(verdictFromString("fine"), std::nullopt);
}

}  // namespace
}  // namespace cuco
