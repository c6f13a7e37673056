// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/evaluation/tunable_race.h"
#include "tests/support/fake_evaluator.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace cuco {
namespace {

using testing::FakeEvaluator;
using ::testing::HasSubstr;
using testing::strategyText;

class TunableRaceTest : public ::testing::Test {
protected:
    TunableRaceTest()
    {
        workload.emulated_search_shapes = {{"small", {}, {}}, {"middle", {}, {}}, {"large", {}, {}}};
        EXPECT_TRUE(FakeEvaluator(workload, {}).prepare({}));
    }
    TunableVariant variant(int ctas, int rows) const
    {
        return {{{"ctas", ctas}, {"rows", rows}}, strategyText("s", 1.2, ctas, rows), {}};
    }
    Result<TuningOutcome> race(FakeEvaluator& evaluator, const std::vector<TunableVariant>& variants) const
    {
        EvaluationRequest request;
        request.source = strategyText("s", 1.2);
        const auto own = evaluator.measure(request, {}, {});
        return raceTunables(evaluator, request, {{"ctas", 8}, {"rows", 1024}}, own->evaluation, variants, {});
    }

    testing::TemporaryFolder folder;
    Workload workload = testing::fakeWorkload(folder.path());
};

TEST_F(TunableRaceTest, FindsTheFastestByHalvingTheFieldAfterEachShape)
{
    FakeEvaluator evaluator(workload, {});
    std::vector<TunableVariant> variants;
    for (const int ctas : {4, 8, 16, 32})
        for (const int rows : {256, 512})
            variants.push_back(variant(ctas, rows));
    const auto outcome = race(evaluator, variants);
    ASSERT_TRUE(outcome);
    ASSERT_TRUE(outcome->winner);
    EXPECT_EQ(variants[*outcome->winner].values, (TunableValues{{"ctas", 16}, {"rows", 256}}));
    EXPECT_DOUBLE_EQ(*outcome->result.evaluation.speedup(), 1.2);
    EXPECT_TRUE(outcome->result.timeline);
    EXPECT_EQ(evaluator.measured, 1 + 8 + 4 + 2);
}

TEST_F(TunableRaceTest, LeavesTheCandidateAsItWasWrittenWhenNothingIsFaster)
{
    FakeEvaluator evaluator(workload, {});
    EvaluationRequest request;
    request.source = strategyText("s", 1.2, 16, 256);
    const auto own = evaluator.measure(request, {}, {});
    const auto outcome = raceTunables(evaluator, request, {{"ctas", 16}, {"rows", 256}}, own->evaluation,
                                      {variant(8, 256), variant(32, 256), variant(4, 128)}, {});
    ASSERT_TRUE(outcome);
    EXPECT_FALSE(outcome->winner);
    EXPECT_TRUE(outcome->table.front().won);
}

TEST_F(TunableRaceTest, LetsNoVariantWinThatDoesNotCompileOrIsWrong)
{
    FakeEvaluator::Options options;
    options.is_wrong = [](const std::string& source) { return source.contains("CUCO_TUNE(ctas, 16"); };
    FakeEvaluator evaluator(workload, options);
    std::vector<TunableVariant> variants{variant(16, 256), variant(8, 256), variant(32, 256)};
    variants[1].compiled.evaluation.verdict = Verdict::compile_error;
    variants[1].compiled.evaluation.message = "Line 3: expected ';'.";
    const auto outcome = race(evaluator, variants);
    ASSERT_TRUE(outcome && outcome->winner);
    EXPECT_EQ(*outcome->winner, 2u);
    EXPECT_EQ(outcome->table[1].verdict, Verdict::wrong_result);
    EXPECT_EQ(outcome->table[2].verdict, Verdict::compile_error);
    const std::string table = tuningTable(*outcome, true);
    EXPECT_THAT(table, HasSubstr("| ctas=16 rows=256 | wrong_result | 0 | – |"));
    EXPECT_THAT(table, HasSubstr("| **ctas=32 rows=256** | verified |"));
    EXPECT_THAT(table, HasSubstr("- ctas=8 rows=256: Line 3: expected ';'.\n"));
    EXPECT_THAT(table, HasSubstr("Times are modelled."));
}

TEST_F(TunableRaceTest, HandsOnAFailureOfTheNode)
{
    FakeEvaluator::Options options;
    options.breaks_node = [](const std::string& source) { return source.contains("CUCO_TUNE(ctas, 32"); };
    FakeEvaluator evaluator(workload, options);
    const auto outcome = race(evaluator, {variant(32, 256)});
    ASSERT_FALSE(outcome);
    EXPECT_EQ(outcome.error().what, "The node is gone");
}

}  // namespace
}  // namespace cuco
