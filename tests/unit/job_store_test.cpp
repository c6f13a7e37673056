// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/nodes/job_store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace cuco {
namespace {

TEST(JobStore, RunsNothingInAJobOnceTheDiskIsFullAndSaysSo)
{
    std::uint64_t free_bytes = 64ull << 30;
    JobStore store([&](const auto&) { return std::optional(free_bytes); });
    const auto job = store.createJob();
    ASSERT_TRUE(job) << describe(job.error());
    Command command;
    command.argv = {"/bin/sh", "-c", "echo built"};
    command.working_directory = (*job)->path();
    ASSERT_TRUE(store.run(command, {}).has_value());

    free_bytes = 100ull << 20;
    const auto outcome = store.run(command, {});
    ASSERT_FALSE(outcome.has_value()) << "a candidate must not be blamed for it";
    EXPECT_THAT(outcome.error().what, ::testing::HasSubstr("full"));
    EXPECT_THAT(outcome.error().remedy, ::testing::HasSubstr("Free some space"));

    command.working_directory = "/";
    EXPECT_TRUE(store.run(command, {}).has_value()) << "a probe needs no space";
}

}  // namespace
}  // namespace cuco
