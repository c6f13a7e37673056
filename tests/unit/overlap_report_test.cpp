// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/trace/overlap_report.h"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include <bitset>
#include <map>
#include <random>

namespace cuco {
namespace {

Interval interval(std::int64_t begin_us, std::int64_t end_us, Activity activity)
{
    return {begin_us * 1000, end_us * 1000, 0, 0, 0, activity};
}

Timeline timelineOf(std::vector<Lane> lanes)
{
    Timeline timeline;
    timeline.names = {"x"};
    timeline.lanes = std::move(lanes);
    return timeline;
}

TEST(OverlapReport, TellsHiddenFromExposedCommunication)
{
    const auto report = overlapOf(timelineOf({{0, "stream 0", {interval(10, 50, Activity::compute)}},
                                              {0, "copy engine", {interval(40, 80, Activity::communication)}},
                                              {0, "wait", {interval(60, 100, Activity::wait)}}}),
                                  45.0);
    ASSERT_EQ(report.ranks.size(), 1u);
    const RankOverlap& rank = report.ranks[0];
    EXPECT_DOUBLE_EQ(rank.busy_us, 90);
    EXPECT_DOUBLE_EQ(rank.compute_us, 40);
    EXPECT_DOUBLE_EQ(rank.communication_us, 40);
    EXPECT_DOUBLE_EQ(rank.overlapped_us, 10);
    EXPECT_DOUBLE_EQ(rank.exposed_us, 30);
    EXPECT_DOUBLE_EQ(rank.wait_us, 20);
    EXPECT_DOUBLE_EQ(rank.hidden_share.value(), 0.25);
    EXPECT_DOUBLE_EQ(report.makespan_us, 90);
    EXPECT_EQ(report.bound_us, 45.0);
}

TEST(OverlapReport, GivesNoShareWhereThereIsNoCommunication)
{
    const auto report = overlapOf(timelineOf({{0, "stream 0", {interval(0, 50, Activity::compute)}}}));
    EXPECT_FALSE(report.ranks.at(0).hidden_share.has_value());
    EXPECT_FALSE(report.hidden_share.has_value());
    EXPECT_EQ(report.exposed_us, 0);
    EXPECT_TRUE(toJson(report)["hidden_share"].is_null());
}

TEST(OverlapReport, OfAnEmptyTimelineIsEmpty)
{
    const auto report = overlapOf(timelineOf({{0, "stream 0", {}}}));
    EXPECT_TRUE(report.ranks.empty());
    EXPECT_EQ(report.makespan_us, 0);
}

TEST(OverlapReport, DoesNotCountLocalCopiesAsCommunication)
{
    const auto report = overlapOf(timelineOf({{0, "stream 0", {interval(0, 50, Activity::copy)}}}));
    EXPECT_EQ(report.ranks.at(0).communication_us, 0);
    EXPECT_DOUBLE_EQ(report.makespan_us, 50);
}

TEST(OverlapReport, TakesTheWorstRankAndTheSharedMakespan)
{
    const auto report = overlapOf(timelineOf({{0, "s", {interval(0, 10, Activity::communication)}},
                                              {1, "s", {interval(20, 50, Activity::communication)}},
                                              {1, "t", {interval(20, 30, Activity::compute)}}}));
    EXPECT_DOUBLE_EQ(report.makespan_us, 50);
    EXPECT_DOUBLE_EQ(report.exposed_us, 20);
    EXPECT_DOUBLE_EQ(report.hidden_share.value(), 0.25);
    EXPECT_DOUBLE_EQ(report.ranks.at(1).busy_us, 30);
}

TEST(OverlapReport, IsTheSameAfterWritingAndReading)
{
    const auto report = overlapOf(timelineOf({{0, "s", {interval(0, 10, Activity::communication)}},
                                              {1, "s", {interval(0, 3, Activity::compute)}}}),
                                  1.5);
    const auto read = overlapReportFromJson(toJson(report));
    ASSERT_TRUE(read.has_value()) << read.error().what;
    EXPECT_EQ(toJson(*read), toJson(report));
    EXPECT_FALSE(overlapReportFromJson(nlohmann::json::object()).has_value());
}

/// One bit a microsecond for each activity: the definition itself.
struct Bitmap {
    std::map<Activity, std::bitset<128>> bits;
};

TEST(OverlapReport, AgreesWithABitmapOnRandomTimelines)
{
    std::mt19937 random(20260101);
    const auto draw = [&](int from, int to) { return std::uniform_int_distribution(from, to)(random); };
    for (int repeat = 0; repeat < 2000; ++repeat) {
        Timeline timeline = timelineOf({});
        std::map<int, Bitmap> bitmaps;
        for (int lane = draw(0, 6); lane > 0; --lane) {
            Lane& added = timeline.lanes.emplace_back();
            added.rank = draw(0, 2);
            for (int count = draw(0, 8); count > 0; --count) {
                const int begin = draw(0, 100), end = begin + draw(0, 20);
                const auto activity = static_cast<Activity>(draw(0, 4));
                added.intervals.push_back(interval(begin, end, activity));
                auto& bits = bitmaps[added.rank].bits[activity];
                for (int at = begin; at < end; ++at) {
                    bits.set(static_cast<std::size_t>(at));
                }
            }
        }
        const auto report = overlapOf(timeline);
        ASSERT_EQ(report.ranks.size(), bitmaps.size());
        double overlapped = 0, communication = 0, exposed = 0;
        for (const RankOverlap& rank : report.ranks) {
            auto& bits = bitmaps.at(rank.rank).bits;
            const auto compute = bits[Activity::compute], comm = bits[Activity::communication];
            const auto count = [](const auto& set) { return static_cast<double>(set.count()); };
            ASSERT_DOUBLE_EQ(rank.compute_us, count(compute));
            ASSERT_DOUBLE_EQ(rank.communication_us, count(comm));
            ASSERT_DOUBLE_EQ(rank.overlapped_us, count(comm & compute));
            ASSERT_DOUBLE_EQ(rank.exposed_us, count(comm & ~compute));
            ASSERT_DOUBLE_EQ(rank.wait_us, count(bits[Activity::wait] & ~(comm | compute)));
            ASSERT_EQ(rank.hidden_share.has_value(), comm.any());
            overlapped += rank.overlapped_us;
            communication += rank.communication_us;
            exposed = std::max(exposed, rank.exposed_us);
        }
        ASSERT_DOUBLE_EQ(report.exposed_us, exposed);
        if (communication > 0) {
            ASSERT_DOUBLE_EQ(report.hidden_share.value(), overlapped / communication);
        }
    }
}

}  // namespace
}  // namespace cuco
