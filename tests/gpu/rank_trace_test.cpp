// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
//
// The part of the harness' traces that needs no GPU: records to lanes, lanes to one timeline.
#include "workloads/harness/rank_trace.h"
#include "core/trace/overlap_report.h"
#include "workloads/harness/device_trace_layout.h"
#include "workloads/harness/rank_trace_lanes.h"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include <random>

namespace cuco_harness {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr uint64_t epoch = 1'763'000'000'000'000'000;

cuco_profile_record record(cuco_profile_kind kind, const char* name, uint64_t begin, uint64_t end, uint32_t stream,
                           uint32_t flags = 0, uint32_t channel = 0)
{
    cuco_profile_record result{};
    result.kind = kind;
    result.name = name;
    result.begin_ns = epoch + begin;
    result.end_ns = epoch + end;
    result.stream = stream;
    result.flags = flags;
    result.channel = channel;
    return result;
}

std::vector<std::string> dump(const std::vector<TraceLane>& lanes)
{
    std::vector<std::string> lines;
    for (const TraceLane& lane : lanes) {
        for (const TraceInterval& i : lane.intervals) {
            lines.push_back(lane.name + ": " + i.name + "@" + std::to_string(i.begin_ns - epoch) + "-" +
                            std::to_string(i.end_ns - epoch) + " " + std::to_string(int(i.activity)));
        }
    }
    return lines;
}

TEST(RankTrace, SortsRecordsIntoLanesByFirstUse)
{
    const auto lanes = lanesOf(
        {record(cuco_profile_kernel, "_Z7productPfi", 0, 100, 13),
         record(cuco_profile_sync, "wait for the device", 5, 400, 0),
         record(cuco_profile_copy, "copy to a peer", 50, 90, 17, cuco_profile_peer | cuco_profile_copy_engine, 9),
         record(cuco_profile_kernel, "ncclDevKernel_AllGather_RING_LL(ncclDevKernelArgsStorage<4096ul>)", 100, 200, 7),
         record(cuco_profile_kernel, "mine", 200, 210, 7, cuco_profile_marked),
         record(cuco_profile_copy, "copy device to device", 220, 230, 13, cuco_profile_on_device),
         record(cuco_profile_copy, "copy device to host", 240, 250, 13, cuco_profile_copy_engine, 4),
         record(cuco_profile_range, "step", 0, 300, 4711)},
        {});
    EXPECT_THAT(dump(lanes),
                ElementsAre("stream 0: product@0-100 0", "stream 0: copy device to device@220-230 2",
                            "stream 1: ncclDevKernel_AllGather_RING_LL@100-200 1", "stream 1: mine@200-210 1",
                            "copy engine: copy to a peer@50-90 1", "copy engine 1: copy device to host@240-250 2",
                            "host waits: wait for the device@5-400 3", "host ranges: step@0-300 4"));
}

TEST(RankTrace, MatchesPhasesWithTheirKernelAndMergesThemBySms)
{
    const auto phase = [](uint64_t begin, uint64_t end, uint32_t kind, uint32_t sm, uint64_t grid) {
        return PhaseRecord{epoch + begin, epoch + end, kind, sm, grid};
    };
    const auto lanes =
        lanesOf({record(cuco_profile_kernel, "fused", 0, 100, 1), record(cuco_profile_kernel, "push", 100, 130, 1)},
                {phase(1, 50, cuco_phase_compute, 0, 8), phase(40, 80, cuco_phase_compute, 1, 8),
                 phase(80, 95, cuco_phase_put, 1, 8), phase(2, 60, cuco_phase_compute, 7, 8),
                 phase(101, 120, cuco_phase_put, 0, 9), phase(120, 129, cuco_phase_wait, 0, 9)});
    EXPECT_THAT(
        dump(lanes),
        ElementsAre("stream 0: fused@0-100 0", "stream 0: push@100-130 1", "in-kernel compute, SMs 0–1: fused@1-80 0",
                    "in-kernel put, SMs 0–1: fused@80-95 1", "in-kernel put, SMs 0–1: push@101-120 1",
                    "in-kernel wait, SMs 0–1: push@120-129 3", "in-kernel compute, SMs 6–7: fused@2-60 0"));
}

TEST(RankTrace, ShortensKernelNames)
{
    EXPECT_EQ(kernelName("void candidate::productToAll<128>(candidate::Problem, ncclDevComm)"),
              "candidate::productToAll<128>");
    EXPECT_EQ(kernelName("(anonymous namespace)::push(int)"), "(anonymous namespace)::push");
    EXPECT_EQ(kernelName("sm90_gemm\n\x01\xff"), "sm90_gemm???");
    EXPECT_EQ(kernelName(std::string(5000, 'k').c_str()).size(), 200u);
}

RankLanes lanes(int rank, uint64_t shift)
{
    RankLanes result;
    result.rank = rank;
    result.has_cupti = true;
    result.dropped = 1;
    result.moments_ns = {epoch + 10 + shift, epoch + 20 + shift};
    result.lanes = {
        {"stream 0", {{epoch + 100 + shift, epoch + 200 + shift, 64, TraceActivity::communication, "a \"b\""}}}};
    return result;
}

TEST(RankTrace, PutsRanksOnOneAxisThatTheProductReads)
{
    auto first = lanes(0, 0);
    first.notes = {"something is missing"};
    const std::string json =
        mergeRankTraces({toText(first), toText(lanes(1, 7)), "nonsense"}, "8192, 3 ranks", {100, 103});
    const auto timeline = cuco::timelineFromJson(nlohmann::json::parse(json));
    ASSERT_TRUE(timeline.has_value()) << json;
    EXPECT_EQ(timeline->source, cuco::TimeSource::cupti);
    EXPECT_EQ(timeline->title, "8192, 3 ranks");
    EXPECT_EQ(timeline->dropped, 2u);
    EXPECT_DOUBLE_EQ(timeline->axis_error_us.value(), 0.007);
    EXPECT_DOUBLE_EQ(timeline->untraced_us.value(), 100);
    EXPECT_DOUBLE_EQ(timeline->traced_us.value(), 103);
    EXPECT_THAT(timeline->notes, ElementsAre("rank 2 gave no trace", "rank 0: something is missing"));
    ASSERT_EQ(timeline->lanes.size(), 2u);
    EXPECT_EQ(timeline->lanes[0].intervals[0].begin_ns, 0);
    EXPECT_EQ(timeline->lanes[1].intervals[0].end_ns, 107);
    EXPECT_EQ(timeline->lanes[1].intervals[0].bytes, 64u);
    EXPECT_EQ(timeline->names.at(0), "a \"b\"");
}

TEST(RankTrace, SaysNothingOfAnAxisThatWasNotMeasured)
{
    auto first = lanes(0, 0), second = lanes(1, 0);
    second.moments_ns.clear();
    const auto json = nlohmann::json::parse(mergeRankTraces({toText(first), toText(second)}, ""));
    EXPECT_FALSE(json.contains("axis_error_ns"));
    EXPECT_FALSE(json.contains("traced_us"));
    EXPECT_TRUE(cuco::timelineFromJson(nlohmann::json::parse(mergeRankTraces({}, ""))).has_value());
}

/// A candidate lives in the process that writes the text.
TEST(RankTrace, BelievesNoForgedText)
{
    const std::string whole = toText(lanes(0, 0));
    EXPECT_TRUE(fromText(whole).has_value());
    EXPECT_FALSE(fromText(whole.substr(0, whole.size() - 4)).has_value());
    for (const char* line : {"i 5 4 0 0 0\n", "i 0 1 9 0 0\n", "i 0 1 0 0 7\n", "i 0 18446744073709551615 0 0 0\n",
                             "rank -1\n", "moment x\n", "surprise\n"}) {
        std::string text = whole;
        text.insert(text.find("end\n"), line);
        EXPECT_FALSE(fromText(text).has_value()) << line;
    }
    std::mt19937 random(5);
    for (int round = 0; round < 2000; ++round) {
        std::string text = whole;
        for (int edits = 0; edits < 3; ++edits)
            text[random() % text.size()] = static_cast<char>(random() % 96 + 32);
        const auto json = nlohmann::json::parse(mergeRankTraces({text, whole}, "t"));
        if (const auto timeline = cuco::timelineFromJson(json))
            cuco::overlapOf(*timeline);
    }
}

}  // namespace
}  // namespace cuco_harness
