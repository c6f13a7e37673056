// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/evaluation/harness_job.h"
#include "tests/support/evaluation_samples.h"

#include <gmock/gmock.h>

namespace cuco {
namespace {

using testing::expression;
using ::testing::HasSubstr;
using testing::product;

TEST(HarnessJob, WritesSizesOfEveryRankAndTheScaleOfTheRepresentedShape)
{
    const Workload workload = product();
    HarnessJob job;
    job.files = {"candidate.so", "/cache/reference.so", "/data/h200.model"};
    job.ranks = 4;
    job.limit = std::chrono::seconds(30);
    JobShape shape;
    shape.shape = workload.emulated_search_shapes[0];
    shape.shape.parameters["n"] = 10;
    shape.seed = 99;
    shape.dump = shape.time = true;
    shape.skew = 5;
    job.shapes = {shape};
    const auto text = writeHarnessJob(workload, job);
    ASSERT_TRUE(text.has_value()) << text.error().what;
    EXPECT_EQ(*text,
              "cuco-job 1\n"
              "candidate candidate.so\n"
              "reference /cache/reference.so\n"
              "model /data/h200.model\n"
              "ranks 4\n"
              "limit 30\n"
              "tolerance 0.01 0.05\n"
              "shape small 10 4\n"
              "seed 99\n"
              "scale 640 80\n"
              "buffer in a bf16 3 3 2 2\n"
              "buffer out c f32 40 40 40 40\n"
              "iterations 1\n"
              "warmup 0\n"
              "dump 1\n"
              "time 1\n"
              "trace 0\n"
              "skew 5\n");
}

TEST(HarnessJob, NamesTheProgramsThatTakeTurns)
{
    HarnessJob job;
    job.ranks = 2;
    job.baselines = {{"host.cu", "/cache/host.so", true}, {"alone", "/cache/alone.so", false}};
    job.rates = true;
    JobShape shape;
    shape.shape = product().search_shapes.front();
    shape.consecutive = 3;
    shape.rounds = 10;
    shape.least_rounds = 6;
    shape.against = {"host.cu"};
    job.traced = {"profiled.so", {{"CUDA_INJECTION64_PATH", "/cache/profile.so"}}};
    job.shapes = {shape};
    const auto text = writeHarnessJob(product(), job);
    ASSERT_TRUE(text.has_value());
    for (const char* line : {"\nbaseline host.cu /cache/host.so\n", "\nunchecked alone /cache/alone.so\n",
                             "\nrates 1\n", "\nconsecutive 3\n", "\nrounds 10 6\n", "\nagainst host.cu\n",
                             "\ntraced profiled.so\ntraced_variable CUDA_INJECTION64_PATH /cache/profile.so\n"})
        EXPECT_THAT(*text, HasSubstr(line));
    job.baselines[0].name = "two words";
    EXPECT_FALSE(writeHarnessJob(product(), job).has_value());
}

TEST(HarnessJob, RefusesASizeThatIsNegative)
{
    Workload workload = product();
    workload.outputs[0].elements = expression("n - 100");
    HarnessJob job;
    job.shapes = {{workload.emulated_search_shapes[0]}};
    const auto text = writeHarnessJob(workload, job);
    ASSERT_FALSE(text.has_value());
    EXPECT_THAT(text.error().what, HasSubstr("c would have -92 elements"));
}

TEST(HarnessJob, RefusesANameThatWouldBreakItsLine)
{
    const Workload workload = product();
    HarnessJob job;
    job.shapes = {{workload.emulated_search_shapes[0]}};
    job.shapes[0].shape.name = "small\nranks 1";
    EXPECT_FALSE(writeHarnessJob(workload, job).has_value());
}

TEST(HarnessJob, LargestDumpIsTheLargestOutputInBytes)
{
    const Workload workload = product();
    HarnessJob job;
    job.ranks = 2;
    job.shapes = {{workload.emulated_search_shapes[0]}, {workload.emulated_search_shapes[1]}};
    EXPECT_EQ(largestDumpBytes(workload, job), 16u * 4 * 4);
}

}  // namespace
}  // namespace cuco
