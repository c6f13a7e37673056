// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/trace/timeline.h"
#include "core/base/json.h"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

namespace cuco {
namespace {

using nlohmann::json;
using testing::ElementsAre;
using testing::HasSubstr;

/// The example of workloads/harness/README.md, filled in.
const char* const written = R"json({"source":"modelled","title":"256, 2 ranks","names":["gemm","put"],"dropped":2,
    "lanes":[{"rank":1,"name":"stream 0","intervals":[[500,900,0,0,0,0]]},
             {"rank":0,"name":"stream 0","intervals":[[0,1000,0,0,0,0],[1000,1500,1,1,4096,7]]},
             {"rank":1,"name":"copy engine","intervals":[[1200,1700,1,1,4096,7]]}]})json";

json document()
{
    return json::parse(written);
}

std::string faultWith(const std::string& pointer, const json& value)
{
    json changed = document();
    changed[json::json_pointer(pointer)] = value;
    const auto timeline = timelineFromJson(changed);
    EXPECT_FALSE(timeline.has_value()) << pointer << " = " << value;
    return timeline ? std::string() : timeline.error().what;
}

TEST(Timeline, IsReadFromTheHarnesssJson)
{
    const auto timeline = timelineFromJson(document());
    ASSERT_TRUE(timeline.has_value()) << timeline.error().what;
    EXPECT_EQ(timeline->source, TimeSource::modelled);
    EXPECT_EQ(timeline->dropped, 2u);
    EXPECT_EQ(timeline->duration_ns(), 1700);
    ASSERT_EQ(timeline->lanes.size(), 3u);
    EXPECT_EQ(timeline->lanes[0].rank, 0);
    EXPECT_EQ(timeline->lanes[1].name, "stream 0");
    EXPECT_EQ(timeline->lanes[2].name, "copy engine");
    const Interval& put = timeline->lanes[0].intervals.at(1);
    EXPECT_EQ(put.begin_ns, 1000);
    EXPECT_EQ(put.end_ns, 1500);
    EXPECT_EQ(put.name, 1u);
    EXPECT_EQ(put.activity, Activity::communication);
    EXPECT_EQ(put.bytes, 4096u);
    EXPECT_EQ(put.flow, 7u);
}

TEST(Timeline, IsTheSameAfterWritingAndReading)
{
    const json once = toJson(timelineFromJson(document()).value());
    EXPECT_EQ(toJson(timelineFromJson(once).value()), once);
    EXPECT_EQ(toJson(timelineFromJson(json::parse(once.dump())).value()), once);
    EXPECT_EQ(once["lanes"][0]["intervals"], json::parse("[[0,1000,0,0,0,0],[1000,1500,1,1,4096,7]]"));
}

TEST(Timeline, SortsIntervalsOuterOnesFirst)
{
    json changed = document();
    changed["lanes"][0]["intervals"] = json::parse("[[50,60,0,0,0,0],[10,20,0,3,0,0],[10,40,0,0,0,0]]");
    const auto timeline = timelineFromJson(changed).value();
    std::vector<std::int64_t> ends;
    for (const Interval& interval : timeline.lanes[1].intervals) {
        ends.push_back(interval.end_ns);
    }
    EXPECT_THAT(ends, ElementsAre(40, 20, 60));
}

TEST(Timeline, RefusesWhatIsOutOfBounds)
{
    const std::string interval = "/lanes/0/intervals/0";
    for (const char* value : {"[-1,5,0,0,0,0]", "[5,4,0,0,0,0]", "[0,5,2,0,0,0]", "[0,5,0,5,0,0]", "[0,5,0,0,-1,0]",
                              "[0,5,0,0,0,4294967296]", "[0,9223372036854775808,0,0,0,0]", "[0.5,1,0,0,0,0]",
                              "[0,1,0,0,0]", "[0,1,0,0,0,0,0]", "7", "{}"}) {
        EXPECT_THAT(faultWith(interval, json::parse(value)), HasSubstr("lanes[0].intervals[0]")) << value;
    }
    EXPECT_THAT(faultWith("/source", "guessed"), HasSubstr("\"source\""));
    EXPECT_THAT(faultWith("/lanes/2/rank", -1), HasSubstr("\"lanes[2].rank\""));
    EXPECT_THAT(faultWith("/names", "gemm"), HasSubstr("\"names\""));
    EXPECT_THAT(faultWith("/lanes", json(1001, json::object())), HasSubstr("1000 lanes"));
    EXPECT_FALSE(timelineFromJson(json::array()).has_value());
}

TEST(Timeline, GivesPartialOverlapsLanesOfTheirOwn)
{
    const auto timeline = timelineFromJson(json::parse(
        R"({"source":"cupti","title":"","names":["k"],"lanes":[{"rank":2,"name":"stream 0","intervals":
            [[0,10,0,0,0,0],[5,15,0,0,0,0],[2,4,0,0,0,0],[10,12,0,0,0,0]]}]})"));
    ASSERT_TRUE(timeline.has_value());
    ASSERT_EQ(timeline->lanes.size(), 2u);
    EXPECT_EQ(timeline->lanes[0].intervals.size(), 3u);
    EXPECT_EQ(timeline->lanes[1].name, "stream 0 (2)");
    EXPECT_EQ(timeline->lanes[1].rank, 2);
    EXPECT_EQ(timeline->lanes[1].intervals.at(0).begin_ns, 5);
}

TEST(Timeline, KeepsANameOnce)
{
    Timeline timeline;
    EXPECT_EQ(timeline.nameIndex("a"), 0u);
    EXPECT_EQ(timeline.nameIndex("b"), 1u);
    EXPECT_EQ(timeline.nameIndex("a"), 0u);
    EXPECT_THAT(timeline.names, ElementsAre("a", "b"));
    EXPECT_EQ(timeline.duration_ns(), 0);
}

std::vector<json> eventsOf(const json& trace, const std::string& phase)
{
    std::vector<json> events;
    std::ranges::copy_if(trace["traceEvents"], std::back_inserter(events),
                         [&](const json& event) { return event["ph"] == phase; });
    return events;
}

TEST(Perfetto, ShowsARankAsAProcessAndALaneAsAThread)
{
    const json trace = toPerfetto(timelineFromJson(document()).value());
    std::vector<std::string> names;
    for (const json& event : eventsOf(trace, "M")) {
        names.push_back(event["name"].get<std::string>() + " " + std::to_string(event["pid"].get<int>()) + "/" +
                        std::to_string(event["tid"].get<int>()) + " " + event["args"]["name"].get<std::string>());
    }
    EXPECT_THAT(names, ElementsAre("process_name 0/0 rank 0", "thread_name 0/0 stream 0", "process_name 1/0 rank 1",
                                   "thread_name 1/0 stream 0", "thread_name 1/1 copy engine"));
}

TEST(Perfetto, CountsInMicroseconds)
{
    const auto slices = eventsOf(toPerfetto(timelineFromJson(document()).value()), "X");
    ASSERT_EQ(slices.size(), 4u);
    EXPECT_EQ(slices[1]["name"], "put");
    EXPECT_EQ(slices[1]["cat"], "communication");
    EXPECT_DOUBLE_EQ(slices[1]["ts"], 1.0);
    EXPECT_DOUBLE_EQ(slices[1]["dur"], 0.5);
    EXPECT_EQ(slices[1]["args"]["bytes"], 4096);
    EXPECT_FALSE(slices[0].contains("args"));
}

TEST(Perfetto, DrawsAFlowFromItsFirstToItsLastInterval)
{
    const json trace = toPerfetto(timelineFromJson(document()).value());
    const auto starts = eventsOf(trace, "s"), ends = eventsOf(trace, "f");
    ASSERT_EQ(starts.size(), 1u);
    ASSERT_EQ(ends.size(), 1u);
    EXPECT_EQ(starts[0]["id"], ends[0]["id"]);
    EXPECT_EQ(starts[0]["pid"], 0);
    EXPECT_EQ(ends[0]["pid"], 1);
    EXPECT_EQ(ends[0]["tid"], 1);
    EXPECT_DOUBLE_EQ(ends[0]["ts"], 1.2);
    EXPECT_EQ(ends[0]["bp"], "e");
}

}  // namespace
}  // namespace cuco
