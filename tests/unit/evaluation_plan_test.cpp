// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/evaluation/evaluation_plan.h"
#include "tests/support/evaluation_samples.h"

#include <gmock/gmock.h>

namespace cuco {
namespace {

using testing::emulated;
using ::testing::HasSubstr;
using testing::product;

TEST(EvaluationPlan, TakesTheNodesOwnShapesAndTheFirstRankCountThatFits)
{
    NodeProbe probe = emulated();
    probe.max_ranks = 3;
    const auto plan = planEvaluation(product(), probe, {}, {});
    ASSERT_TRUE(plan.has_value());
    EXPECT_EQ(plan->ranks, 2);
    EXPECT_EQ(plan->timed_shapes.size(), 2u);
    probe.modelled = false;
    EXPECT_EQ(planEvaluation(product(), probe, {}, {})->timed_shapes[0].name, "large");
}

TEST(EvaluationPlan, RefusesRanksThatTheWorkloadOrTheNodeLacks)
{
    EvaluationRequest request;
    request.ranks = 3;
    const auto wrong_workload = planEvaluation(product(), emulated(), {}, request);
    ASSERT_FALSE(wrong_workload.has_value());
    EXPECT_THAT(wrong_workload.error().remedy, HasSubstr("4, 2"));
    NodeProbe small = emulated();
    small.max_ranks = 1;
    EXPECT_FALSE(planEvaluation(product(), small, {}, {}).has_value());
    request.ranks = 2;
    EXPECT_FALSE(planEvaluation(product(), small, {}, request).has_value());
}

TEST(EvaluationPlan, VerifiesOddShapesWithSkewAndTracesOnlyTheFirstTimedShape)
{
    const auto plan = planEvaluation(product(), emulated(), {}, {});
    const auto job = modelledJob(*plan, product());
    ASSERT_EQ(job.shapes.size(), 3u);
    EXPECT_EQ(job.shapes[0].shape.name, "odd");
    EXPECT_GT(job.shapes[0].iterations, 2) << "the buffers of an iteration must come again";
    EXPECT_NE(job.shapes[0].skew, 0u);
    EXPECT_FALSE(job.shapes[0].time);
    EXPECT_TRUE(job.shapes[1].trace && job.shapes[1].time && job.shapes[1].dump);
    EXPECT_FALSE(job.shapes[2].trace);
    EXPECT_NE(job.shapes[0].seed, job.shapes[1].seed);
}

TEST(EvaluationPlan, TracesTheFirstTimedShapeOnAGpuWhereAProfileIsWanted)
{
    NodeProbe probe = emulated();
    probe.modelled = false;
    EvaluationRequest timed;
    timed.until = Stage::benchmark;
    for (const auto& shape : candidateJob(*planEvaluation(product(), probe, {}, timed), product()).shapes)
        EXPECT_FALSE(shape.trace);
    const auto plan = planEvaluation(product(), probe, {}, {});
    for (const auto& shape : baselineJob(*plan, product()).shapes)
        EXPECT_FALSE(shape.trace);
    for (const auto& shape : candidateJob(*plan, product()).shapes)
        EXPECT_EQ(shape.trace, shape.shape.name == plan->timed_shapes.front().name);
}

TEST(EvaluationPlan, EndsTheRoundsEarlyUnlessAllOfThemAreWanted)
{
    NodeProbe probe = emulated();
    probe.modelled = false;
    const auto shapeOf = [&](bool all_rounds) {
        EvaluationRequest request;
        request.all_rounds = all_rounds;
        return candidateJob(*planEvaluation(product(), probe, {}, request), product()).shapes.back();
    };
    EXPECT_LT(shapeOf(false).least_rounds, shapeOf(false).rounds);
    EXPECT_EQ(shapeOf(true).least_rounds, shapeOf(true).rounds);
    EXPECT_EQ(shapeOf(true).rounds, shapeOf(false).rounds);
}

TEST(EvaluationPlan, VerifiesOddShapesAndTimesTheOthersOnAGpu)
{
    NodeProbe probe = emulated();
    probe.modelled = false;
    const auto plan = planEvaluation(product(), probe, {}, {});
    const auto job = candidateJob(*plan, product());
    EXPECT_GT(job.shapes.front().consecutive, 1);
    EXPECT_EQ(job.shapes.front().rounds, 0) << "odd shapes are only verified";
    EXPECT_GT(job.shapes.back().rounds, 0);
    EXPECT_FALSE(job.shapes.back().dump) << "outputs are compared on the GPU";
}

TEST(EvaluationPlan, DrawsAnotherSeedForEachEvaluationUnlessOneIsGiven)
{
    EXPECT_NE(planEvaluation(product(), emulated(), {}, {})->seed, planEvaluation(product(), emulated(), {}, {})->seed);
    EvaluationRequest request;
    request.input_seed = 7;
    EXPECT_EQ(planEvaluation(product(), emulated(), {}, request)->seed, 7u);
}

}  // namespace
}  // namespace cuco
