// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/run/event_log.h"
#include "core/run/open_run.h"
#include "tests/integration/gather_workload.h"
#include "tests/support/fake_run.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace cuco {
namespace {

using ::testing::HasSubstr;
using testing::outcomeOf;

/// The whole engine with the emulated node: a small workload, compiled and run for every candidate.
class EmulatedRun : public ::testing::Test {
protected:
    void SetUp() override
    {
        ASSERT_TRUE(test::writeGatherWorkload(folder.path()));
        paths = DataPaths::find().value();
        config.workload = "gather";
        config.workload_folder = folder.path().string();
        config.node = "emulated";
        config.islands = 1;
        config.generations = 1;
        config.children = 2;
    }
    RunState finish(Result<std::unique_ptr<RunController>> run)
    {
        EXPECT_TRUE(run) << describe(run.error());
        if (!run)
            return RunState::failed;
        (*run)->start();
        (*run)->wait();
        return (*run)->state();
    }

    testing::TemporaryFolder folder;
    DataPaths paths;
    RunConfig config;
};

TEST_F(EmulatedRun, EvaluatesEveryCandidateAndGivesTheSameForTheSameSeed)
{
    const auto first = folder / "first.cuco", second = folder / "second.cuco";
    ASSERT_EQ(finish(newRun(paths, first, config, {})), RunState::finished);
    auto file = RunFile::open(first, RunFile::Access::read).value();
    const auto snapshot = file->snapshot().value();
    ASSERT_EQ(snapshot.candidates.size(), 3u);
    for (const Candidate& candidate : snapshot.candidates)
        EXPECT_EQ(candidate.evaluation->verdict, Verdict::verified) << candidate.evaluation->message;
    ASSERT_EQ(snapshot.baselines.size(), 1u);
    EXPECT_EQ(snapshot.baselines[0].name, "host.cu");
    EXPECT_TRUE(snapshot.modelled);
    EXPECT_TRUE(file->timeline("c0").value());
    EXPECT_TRUE(file->baselineTimeline("host.cu").value());
    EXPECT_EQ(file->baselineSource("host.cu").value(), test::gather_host);

    ASSERT_EQ(finish(newRun(paths, second, config, {})), RunState::finished);
    EXPECT_EQ(outcomeOf(first), outcomeOf(second));
    const auto events = eventLog(*file);
    ASSERT_TRUE(events) << describe(events.error());
    EXPECT_GE(events->size(), 3u);
    EXPECT_EQ(*events, eventLog(*RunFile::open(second, RunFile::Access::read).value()).value());
}

TEST_F(EmulatedRun, GoesOnAfterAStop)
{
    const auto path = folder / "run.cuco";
    {
        auto run = newRun(paths, path, config, {}).value();
        run->start();
        run->stop();
        run->wait();
        EXPECT_EQ(run->state(), RunState::stopped);
    }
    EXPECT_EQ(finish(openRun(paths, path, {})), RunState::finished);
    EXPECT_EQ(RunFile::open(path, RunFile::Access::read).value()->snapshot()->candidates.size(), 3u);
}

TEST_F(EmulatedRun, IsNotCreatedWhenAPartCannotBeMade)
{
    config.node = "moon";
    EXPECT_FALSE(newRun(paths, folder / "run.cuco", config, {}));
    config.node = "emulated";
    config.seed_source = "no evolve block";
    EXPECT_FALSE(newRun(paths, folder / "run.cuco", config, {}));
    config.seed_source.clear();
    config.islands = 0;
    EXPECT_FALSE(newRun(paths, folder / "run.cuco", config, {}));
    EXPECT_FALSE(std::filesystem::exists(folder / "run.cuco"));
}

TEST_F(EmulatedRun, FailsWithTheCompilersWordsWhenTheBaselineDoesNotCompile)
{
    testing::writeText(folder / "host.cu", test::gather_host + "\nint broken(\n");
    const auto path = folder / "run.cuco";
    EXPECT_EQ(finish(newRun(paths, path, config, {})), RunState::failed);
    EXPECT_THAT(RunFile::open(path, RunFile::Access::read).value()->snapshot()->message, HasSubstr("baseline"));
    testing::writeText(folder / "host.cu", test::gather_host);
    EXPECT_EQ(finish(openRun(paths, path, {})), RunState::finished);
}

}  // namespace
}  // namespace cuco
