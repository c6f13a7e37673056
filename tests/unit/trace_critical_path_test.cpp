// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/trace/overlap_report.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include <random>

namespace cuco {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

Interval of(std::int64_t begin_ns, std::int64_t end_ns, Activity activity, std::uint32_t name = 0)
{
    return {begin_ns, end_ns, name, 0, 0, activity};
}

Timeline timelineOf(std::vector<Lane> lanes)
{
    Timeline timeline;
    timeline.names = {"x", "fused"};
    timeline.lanes = std::move(lanes);
    return timeline;
}

std::vector<std::string> pathOf(const Timeline& timeline)
{
    std::vector<std::string> steps;
    for (const PathStep& step : overlapOf(timeline).critical_path) {
        steps.push_back(fmt::format("{} {} {}-{}", step.rank, step.activity ? toString(*step.activity) : "idle",
                                    step.begin_ns, step.end_ns));
    }
    return steps;
}

TEST(CriticalPath, FollowsAWaitToTheRankThatItWaitedFor)
{
    const Timeline timeline = timelineOf({{0, "stream 0", {of(0, 50, Activity::compute)}},
                                          {0, "in-kernel wait", {of(50, 200, Activity::wait, 1)}},
                                          {1, "stream 0", {of(10, 150, Activity::compute)}},
                                          {1, "copy engine", {of(150, 190, Activity::communication)}}});
    EXPECT_THAT(pathOf(timeline),
                ElementsAre("1 idle 0-10", "1 compute 10-150", "1 communication 150-190", "0 wait 190-200"));
    const auto report = overlapOf(timeline);
    EXPECT_EQ(report.last_rank, 0);
    EXPECT_EQ(report.last_lane, "in-kernel wait");
    EXPECT_DOUBLE_EQ((criticalPathTimes(report)[{1, Activity::compute}]), 0.14);
}

TEST(CriticalPath, FollowsACollectiveToTheRankThatCameLast)
{
    EXPECT_THAT(
        pathOf(timelineOf({{0, "stream 0", {of(0, 40, Activity::compute), of(40, 200, Activity::communication)}},
                           {1, "stream 0", {of(0, 120, Activity::compute), of(120, 199, Activity::communication)}}})),
        ElementsAre("1 compute 0-120", "0 communication 120-200"));
}

TEST(CriticalPath, CountsComputingBeforeCommunicationBesideIt)
{
    EXPECT_THAT(pathOf(timelineOf({{0, "stream 0", {of(0, 30, Activity::compute), of(60, 80, Activity::compute)}},
                                   {0, "copy engine", {of(20, 100, Activity::communication)}}})),
                ElementsAre("0 compute 0-30", "0 communication 30-60", "0 compute 60-80", "0 communication 80-100"));
}

TEST(CriticalPath, SaysWhereTheGpuIdled)
{
    EXPECT_THAT(pathOf(timelineOf({{0, "stream 0", {of(5, 10, Activity::compute), of(30, 40, Activity::copy)}},
                                   {0, "host", {of(0, 100, Activity::host)}}})),
                ElementsAre("0 compute 5-10", "0 idle 10-30", "0 copy 30-40"));
    EXPECT_THAT(pathOf(timelineOf({{0, "host", {of(0, 100, Activity::host)}}})), IsEmpty());
}

TEST(CriticalPath, IsWithoutGapsWhateverTheTimeline)
{
    std::mt19937 random(3);
    for (int round = 0; round < 300; ++round) {
        std::vector<Lane> lanes;
        std::int64_t first = INT64_MAX, last = INT64_MIN;
        for (unsigned lane = 0; lane < random() % 6 + 1; ++lane) {
            lanes.push_back({static_cast<int>(random() % 3), "lane", {}});
            std::int64_t at = random() % 50;
            for (unsigned i = 0; i < random() % 10 + 1; ++i) {
                const std::int64_t end = at + 1 + random() % 40;
                lanes.back().intervals.push_back(of(at, end, static_cast<Activity>(random() % 4)));
                first = std::min(first, at);
                last = std::max(last, end);
                at = end + random() % 20;
            }
        }
        const auto path = overlapOf(timelineOf(std::move(lanes))).critical_path;
        ASSERT_FALSE(path.empty());
        EXPECT_EQ(path.front().begin_ns, first);
        EXPECT_EQ(path.back().end_ns, last);
        for (std::size_t i = 1; i < path.size(); ++i) {
            ASSERT_EQ(path[i].begin_ns, path[i - 1].end_ns);
            ASSERT_LT(path[i].begin_ns, path[i].end_ns);
        }
    }
}

TEST(OverlapReport, CountsAFusedKernelByItsPhases)
{
    const Timeline timeline =
        timelineOf({{0, "stream 0", {of(0, 100, Activity::compute, 1), of(100, 110, Activity::compute)}},
                    {0, "in-kernel compute, SMs 0–32", {of(0, 60, Activity::compute, 1)}},
                    {0, "in-kernel put, SMs 0–32", {of(50, 90, Activity::communication, 1)}},
                    {0, "in-kernel wait, SMs 0–32", {of(90, 100, Activity::wait, 1)}}});
    const auto report = overlapOf(timeline);
    EXPECT_DOUBLE_EQ(report.ranks.at(0).compute_us, 0.07);
    EXPECT_DOUBLE_EQ(report.ranks.at(0).communication_us, 0.04);
    EXPECT_DOUBLE_EQ(report.ranks.at(0).exposed_us, 0.03);
    EXPECT_DOUBLE_EQ(report.ranks.at(0).wait_us, 0.01);
}

TEST(OverlapReport, ComesBackFromJsonWithItsCriticalPath)
{
    Timeline timeline =
        timelineOf({{0, "stream 0", {of(0, 3000, Activity::compute), of(4000, 5000, Activity::compute)}},
                    {1, "copy engine", {of(1000, 4500, Activity::communication)}}});
    timeline.dropped = 7;
    timeline.axis_error_us = 0.055;
    const auto report = overlapOf(timeline, 2.5);
    const auto json = toJson(report);
    EXPECT_EQ(json["gap_to_bound_us"], 2.5);
    EXPECT_EQ(json["critical_path"][1]["activity"], "idle");
    const auto again = overlapReportFromJson(json);
    ASSERT_TRUE(again.has_value());
    EXPECT_EQ(toJson(*again), json);
    EXPECT_EQ(again->dropped, 7u);
    auto broken = json;
    broken["critical_path"][0]["end_us"] = -1;
    EXPECT_FALSE(overlapReportFromJson(broken).has_value());
}

}  // namespace
}  // namespace cuco
