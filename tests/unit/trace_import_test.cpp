// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/trace/import.h"

#include "core/trace/json_scanner.h"
#include "core/trace/overlap_report.h"
#include "tests/support/temporary_folder.h"

#include <gmock/gmock.h>
#include <sqlite3.h>
#include <zlib.h>
#include <nlohmann/json.hpp>

#include <fstream>
#include <random>

namespace cuco {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class TraceImport : public ::testing::Test {
protected:
    std::filesystem::path write(const std::string& text, const char* name = "trace.json")
    {
        testing::writeText(folder_.path() / name, text);
        return folder_.path() / name;
    }

    Timeline imported(const std::string& text)
    {
        auto timeline = importTrace(write(text));
        EXPECT_TRUE(timeline) << (timeline ? "" : describe(timeline.error()));
        return timeline ? std::move(*timeline) : Timeline{};
    }

    std::string faultOf(const std::string& text)
    {
        const auto timeline = importTrace(write(text));
        EXPECT_FALSE(timeline.has_value()) << text.substr(0, 200);
        return timeline ? "" : describe(timeline.error());
    }

    std::filesystem::path database(const std::vector<std::string>& statements)
    {
        const auto path = folder_.path() / "report.sqlite";
        std::filesystem::remove(path);
        sqlite3* handle = nullptr;
        EXPECT_EQ(sqlite3_open(path.c_str(), &handle), SQLITE_OK);
        for (const std::string& statement : statements) {
            EXPECT_EQ(sqlite3_exec(handle, statement.c_str(), nullptr, nullptr, nullptr), SQLITE_OK)
                << statement << ": " << sqlite3_errmsg(handle);
        }
        sqlite3_close(handle);
        return path;
    }

    testing::TemporaryFolder folder_;
};

/// "rank lane: name@begin-end activity", a line an interval.
std::vector<std::string> dump(const Timeline& timeline)
{
    std::vector<std::string> lines;
    for (const Lane& lane : timeline.lanes) {
        for (const Interval& i : lane.intervals) {
            lines.push_back(std::to_string(lane.rank) + " " + lane.name + ": " + timeline.names.at(i.name) + "@" +
                            std::to_string(i.begin_ns) + "-" + std::to_string(i.end_ns) + " " +
                            std::string(toString(i.activity)));
        }
    }
    return lines;
}

constexpr const char* kineto = R"json({"schemaVersion":1,"deviceProperties":[{"id":0,"name":"NVIDIA H200"}],
"distributedInfo":{"backend":"nccl","rank":3,"world_size":8},
"traceEvents":[
{"ph":"X","cat":"cpu_op","name":"aten::mm","pid":4242,"tid":4242,"ts":1700000000000000.125,"dur":20,"args":{"External id":1}},
{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":4242,"tid":4242,"ts":1700000000000002.125,"dur":5,"args":{"correlation":7}},
{"ph":"X","cat":"kernel","name":"sm90_gemm","pid":0,"tid":7,"ts":1700000000000010.000,"dur":100.5,"args":{"device":0,"context":1,"stream":7,"correlation":7,"grid":[1,2,3]}},
{"ph":"X","cat":"kernel","name":"ncclDevKernel_AllGather_RING_LL(ncclDevKernelArgsStorage<4096ul>)","pid":0,"tid":20,"ts":1700000000000060.000,"dur":80.25,"args":{"device":0,"stream":20}},
{"ph":"X","cat":"gpu_memcpy","name":"Memcpy PtoP (Device -> Device)","pid":0,"tid":21,"ts":1700000000000150.000,"dur":10,"args":{"device":0,"stream":21,"bytes":1048576}},
{"ph":"X","cat":"gpu_memset","name":"Memset (Device)","pid":0,"tid":7,"ts":1700000000000170.000,"dur":1,"args":{"device":0,"stream":7,"bytes":64}},
{"ph":"X","cat":"gpu_user_annotation","name":"step","pid":0,"tid":7,"ts":1700000000000009.000,"dur":50,"args":{"device":0,"stream":7}},
{"ph":"s","id":7,"pid":4242,"tid":4242,"ts":1700000000000002.125,"cat":"ac2g","name":"ac2g"},
{"ph":"f","id":7,"pid":0,"tid":7,"ts":1700000000000010.000,"cat":"ac2g","name":"ac2g","bp":"e"},
{"ph":"M","name":"thread_name","pid":4242,"tid":4242,"ts":0,"args":{"name":"thread 4242 (python)"}},
{"ph":"i","s":"t","name":"mark","pid":4242,"tid":4242,"ts":1700000000000003.125}
],"traceName":"x.json"})json";

TEST_F(TraceImport, ReadsKernelsCopiesAndTheHostOfAPyTorchTrace)
{
    const Timeline timeline = imported(kineto);
    EXPECT_THAT(
        dump(timeline),
        ElementsAre("3 stream 20: ncclDevKernel_AllGather_RING_LL(ncclDevKernelArgsStorage<4096ul>)"
                    "@59875-140125 communication",
                    "3 stream 21: Memcpy PtoP (Device -> Device)@149875-159875 communication",
                    "3 stream 7: sm90_gemm@9875-110375 compute", "3 stream 7: Memset (Device)@169875-170875 copy",
                    "3 annotations, stream 7: step@8875-58875 host", "3 thread 4242 (python): aten::mm@0-20000 host",
                    "3 thread 4242 (python): cudaLaunchKernel@2000-7000 host"));
    const Interval& kernel = timeline.lanes[2].intervals[0];
    EXPECT_NE(kernel.flow, 0u);
    EXPECT_EQ(kernel.flow, timeline.lanes[4].intervals[1].flow) << "the launch and its kernel belong together";
    EXPECT_EQ(timeline.lanes[1].intervals[0].bytes, 1'048'576u);
    EXPECT_EQ(timeline.source, TimeSource::imported);
    const auto report = overlapOf(timeline);
    EXPECT_DOUBLE_EQ(report.ranks.at(0).communication_us, 90.25);
    EXPECT_DOUBLE_EQ(report.ranks.at(0).overlapped_us, 50.5);
}

TEST_F(TraceImport, TakesADeviceAsRankWherePyTorchNamesNone)
{
    const Timeline timeline = imported(R"({"traceEvents":[
        {"ph":"X","cat":"kernel","name":"a","pid":0,"tid":7,"ts":1,"dur":1,"args":{"device":0,"stream":7}},
        {"ph":"X","cat":"kernel","name":"b","pid":1,"tid":7,"ts":2,"dur":1,"args":{"device":1,"stream":7}}]})");
    EXPECT_THAT(dump(timeline), ElementsAre("0 stream 7: a@0-1000 compute", "1 stream 7: b@1000-2000 compute"));
}

TEST_F(TraceImport, ReadsItsOwnExportAgain)
{
    Timeline timeline;
    timeline.title = "8192, 2 ranks";
    timeline.names = {"product", "push", "wait"};
    timeline.lanes = {
        {0, "stream 0", {{0, 1000, 0, 1, 0, Activity::compute}}},
        {0, "copy engine", {{500, 2000, 1, 1, 4096, Activity::communication}}},
        {1, "stream 0", {{100, 1500, 0, 0, 0, Activity::compute}, {1500, 1600, 2, 0, 0, Activity::wait}}}};
    timeline.axis_error_us = 0.25;
    const Timeline again = imported(toPerfetto(timeline).dump());
    EXPECT_THAT(dump(again), ::testing::UnorderedElementsAreArray(dump(timeline)));
    EXPECT_EQ(again.title, timeline.title);
    EXPECT_EQ(again.axis_error_us, timeline.axis_error_us);
    EXPECT_EQ(again.lanes[0].intervals[0].flow, again.lanes[1].intervals[0].flow);
    EXPECT_NE(again.lanes[0].intervals[0].flow, 0u);
    EXPECT_EQ(toJson(overlapOf(again))["ranks"], toJson(overlapOf(timeline))["ranks"]);
}

TEST_F(TraceImport, ReadsAListOfEventsAndPairs)
{
    const Timeline timeline = imported(R"([
        {"ph":"B","name":"outer","pid":"server","tid":1,"ts":10},
        {"ph":"B","name":"inner \"\u00e9\ud83d\ude00\"","pid":"server","tid":1,"ts":11},
        {"ph":"E","pid":"server","tid":1,"ts":12},
        {"ph":"E","pid":"server","tid":1,"ts":20},
        {"ph":"B","name":"open","pid":"server","tid":1,"ts":21},
        {"ph":"X","name":"late","pid":"server","tid":2,"ts":"25.5","dur":"1"})");  // the list may stay open
    EXPECT_THAT(dump(timeline), ElementsAre("0 thread 1: outer@0-10000 host", "0 thread 1: inner \"é😀\"@1000-2000 host",
                                            "0 thread 1: open@11000-11000 host", "0 thread 2: late@15500-16500 host"));
    EXPECT_THAT(timeline.notes, ElementsAre(HasSubstr("never end")));
}

TEST_F(TraceImport, PutsKernelsThatRunSideBySideOnLanesOfTheirOwn)
{
    const Timeline timeline = imported(R"({"traceEvents":[
        {"ph":"X","cat":"kernel","name":"a","ts":0,"dur":10,"args":{"device":0,"stream":7}},
        {"ph":"X","cat":"kernel","name":"b","ts":5,"dur":10,"args":{"device":0,"stream":7}},
        {"ph":"X","cat":"kernel","name":"c","ts":6,"dur":10,"args":{"device":0,"stream":7}},
        {"ph":"X","cat":"kernel","name":"d","ts":12,"dur":2,"args":{"device":0,"stream":7}}]})");
    EXPECT_THAT(dump(timeline),
                ElementsAre("0 stream 7: a@0-10000 compute", "0 stream 7: d@12000-14000 compute",
                            "0 stream 7 (2): b@5000-15000 compute", "0 stream 7 (3): c@6000-16000 compute"));
    EXPECT_EQ(timeline.dropped, 0u);
}

TEST_F(TraceImport, CountsWhatRunsBesideMoreThanCanBeDrawn)
{
    std::string text = "[";
    for (int i = 0; i < 100; ++i) {
        text += (i ? "," : "") + std::string(R"({"ph":"X","cat":"kernel","name":"k","ts":)") + std::to_string(i) +
                R"(,"dur":1000,"args":{"device":0,"stream":7}})";
    }
    const Timeline timeline = imported(text + "]");
    EXPECT_EQ(timeline.lanes.size(), 64u);
    EXPECT_EQ(timeline.dropped, 36u);
}

TEST_F(TraceImport, ReadsATimelineOfItsOwn)
{
    const Timeline timeline = imported(
        R"({"source":"cupti","title":"t","names":["k"],"dropped":2,"notes":["rank 1: x"],"axis_error_ns":55,
            "untraced_us":100,"traced_us":102.5,"lanes":[{"rank":0,"name":"stream 0","intervals":[[0,5,0,0,0,0]]}]})");
    EXPECT_EQ(timeline.source, TimeSource::cupti);
    EXPECT_DOUBLE_EQ(timeline.axis_error_us.value(), 0.055);
    EXPECT_DOUBLE_EQ(timeline.traced_us.value(), 102.5);
    EXPECT_THAT(timeline.notes, ElementsAre("rank 1: x"));
}

TEST_F(TraceImport, ReadsGzip)
{
    const auto path = folder_.path() / "trace.json.gz";
    gzFile file = gzopen(path.c_str(), "wb");
    const std::string text = kineto;
    ASSERT_EQ(gzwrite(file, text.data(), static_cast<unsigned>(text.size())), static_cast<int>(text.size()));
    gzclose(file);
    const auto timeline = importTrace(path);
    ASSERT_TRUE(timeline) << describe(timeline.error());
    EXPECT_EQ(dump(*timeline), dump(imported(text)));
    std::filesystem::resize_file(path, std::filesystem::file_size(path) / 2);
    const auto half = importTrace(path);
    ASSERT_FALSE(half);
    EXPECT_THAT(describe(half.error()), HasSubstr("ends in the middle"));
}

TEST_F(TraceImport, ReadsAnNsysExport)
{
    const auto path = database({
        "CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT)",
        "INSERT INTO StringIds VALUES (1,'product'),(2,'ncclDevKernel_AllGather_RING_LL')",
        "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INT, end INT, deviceId INT, contextId INT, streamId INT, "
        "correlationId INT, globalPid INT, demangledName INT, shortName INT)",
        "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES "
        "(1000,2000,0,1,7,1,16777216,1,1),(1500,3000,0,1,20,2,16777216,2,2),"
        "(1100,1900,1,1,7,1,33554432,1,1)",
        "CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY (start INT, end INT, deviceId INT, streamId INT, globalPid INT, "
        "bytes INT, copyKind INT)",
        "INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES (3000,3500,0,21,16777216,4096,10),(3500,3600,1,7,33554432,64,8)",
        "CREATE TABLE CUPTI_ACTIVITY_KIND_SYNCHRONIZATION (start INT, end INT, globalPid INT, syncType INT)",
        "INSERT INTO CUPTI_ACTIVITY_KIND_SYNCHRONIZATION VALUES (900,3600,16777216,4),(950,960,16777216,2)",
        "CREATE TABLE TARGET_INFO_GPU (id INT, name TEXT)",
        "INSERT INTO TARGET_INFO_GPU VALUES (0,'NVIDIA H200'),(1,'NVIDIA H200')",
    });
    const auto timeline = importTrace(path);
    ASSERT_TRUE(timeline) << describe(timeline.error());
    EXPECT_THAT(
        dump(*timeline),
        ElementsAre("0 stream 20: ncclDevKernel_AllGather_RING_LL@600-2100 communication",
                    "0 stream 21: copy to a peer@2100-2600 communication", "0 stream 7: product@100-1100 compute",
                    "0 host waits: host waits for the GPU@0-2700 wait", "1 stream 7: product@200-1000 compute",
                    "1 stream 7: copy device to device@2600-2700 copy"));
    EXPECT_THAT(timeline->notes,
                ElementsAre("the table CUPTI_ACTIVITY_KIND_MEMSET is missing", "recorded on 2 × NVIDIA H200"));
}

TEST_F(TraceImport, NamesWhatADatabaseLacks)
{
    const auto other = importTrace(database({"CREATE TABLE cake (flour INT)"}));
    ASSERT_FALSE(other);
    EXPECT_THAT(describe(other.error()), HasSubstr("CUPTI_ACTIVITY_KIND_KERNEL"));
    const auto untimed = importTrace(database({"CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (begin INT)"}));
    ASSERT_FALSE(untimed);
    const auto odd = importTrace(database({"CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start, end, deviceId, streamId)",
                                           "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES ('a',x'00',NULL,1e300),"
                                           "(5,1,0,0),(-9223372036854775808,9223372036854775807,0,0),(1,2,0,0)"}));
    ASSERT_TRUE(odd) << describe(odd.error());
    EXPECT_EQ(odd->dropped, 3u);
    EXPECT_THAT(odd->notes, ::testing::Contains(HasSubstr("3 rows")));
    const auto view = importTrace(database({"CREATE VIEW CUPTI_ACTIVITY_KIND_KERNEL AS SELECT 1 AS start, 2 AS end"}));
    EXPECT_FALSE(view);
}

TEST_F(TraceImport, SaysWhatABrokenOrForeignFileLacks)
{
    EXPECT_THAT(faultOf(""), HasSubstr("empty"));
    EXPECT_THAT(faultOf("digraph { a -> b }"), HasSubstr("neither JSON nor a database"));
    EXPECT_THAT(faultOf(R"({"a":1})"), HasSubstr("no \"traceEvents\""));
    EXPECT_THAT(faultOf(R"({"traceEvents":[]})"), HasSubstr("no event with a length"));
    EXPECT_THAT(faultOf(R"({"traceEvents":[{"ph":"X","name":"a","dur":1}]})"), HasSubstr("no usable \"ts\""));
    EXPECT_THAT(faultOf(R"({"traceEvents":[{"ph":"X","ts":1,"dur":-1}]})"), HasSubstr("negative"));
    EXPECT_THAT(faultOf(R"({"traceEvents":[{"ph":"X","ts":1e300,"dur":1}]})"), HasSubstr("no usable \"ts\""));
    EXPECT_THAT(faultOf(R"({"traceEvents":7})"), HasSubstr("a list was expected"));
    EXPECT_THAT(faultOf(R"({"traceEvents":[{"ph":"X","ts":1,"dur":1}{)"), HasSubstr("comma"));
    EXPECT_THAT(faultOf(R"({"traceEvents":[{"ph":"X","ts":1,"dur":1},)"), HasSubstr("not complete"));
    EXPECT_THAT(faultOf(R"([{"ph":"X","ts":1,"dur":1},{"ph":"X","ts":1)"), HasSubstr("not complete"));
    EXPECT_THAT(faultOf(R"([{"ph":"X","ts":1,"dur":1,"name":"\x"}])"), HasSubstr("escape"));
    EXPECT_THAT(faultOf("{\"traceEvents\":[" + std::string(100'000, '[')), HasSubstr("nested too deeply"));
    EXPECT_THAT(faultOf("{\"x\":" + std::string(100'000, '{')), HasSubstr("nested too deeply"));
    EXPECT_THAT(faultOf(R"({"lanes":[{"rank":0}],"names":[],"source":"cupti","title":""})"), HasSubstr("lanes"));
    const auto missing = importTrace(folder_.path() / "nothing.json");
    ASSERT_FALSE(missing);
    EXPECT_THAT(describe(missing.error()), HasSubstr("no such file"));
}

TEST_F(TraceImport, CanBeCancelled)
{
    std::string text = "[";
    for (int i = 0; i < 40'000; ++i) {
        text += (i ? "," : "") + std::string(R"({"ph":"X","name":"k","ts":)") + std::to_string(i) + R"(,"dur":1})";
    }
    std::stop_source stop;
    ImportWatch watch{stop.get_token(), [&](double share) {
                          EXPECT_GT(share, 0);
                          EXPECT_LE(share, 1);
                          stop.request_stop();
                      }};
    const auto timeline = importTrace(write(text + "]"), watch);
    ASSERT_FALSE(timeline);
    EXPECT_THAT(describe(timeline.error()), HasSubstr("cancelled"));
}

/// Whatever a file holds, it is read or refused with a sentence.
TEST_F(TraceImport, SurvivesMutilatedFiles)
{
    const std::string sources[] = {
        kineto, R"([{"ph":"B","name":"a","pid":1,"tid":1,"ts":1},{"ph":"E","pid":1,"tid":1,"ts":2}])",
        R"({"source":"cupti","title":"t","names":["k"],"lanes":[{"rank":0,"name":"s","intervals":[[0,5,0,0,0,0]]}]})"};
    const std::string pieces[] = {"\"",      "{",
                                  "}",       "[",
                                  "]",       ",",
                                  ":",       "-",
                                  "1e999",   "99999999999999999999999",
                                  "null",    "\\u",
                                  "\\ud800", std::string(1, '\0'),
                                  "\xff",    "-0.0000001",
                                  "\"ts\":"};
    std::mt19937 random(7);
    for (int round = 0; round < 1000; ++round) {
        std::string text = sources[random() % std::size(sources)];
        for (unsigned edits = random() % 4 + 1; edits > 0; --edits) {
            const std::size_t at = random() % (text.size() + 1);
            switch (random() % 3) {
                case 0:
                    text.resize(at);
                    break;
                case 1:
                    text.insert(at, pieces[random() % std::size(pieces)]);
                    break;
                default:
                    text.erase(at, random() % 20);
            }
        }
        const auto timeline = importTrace(write(text));
        if (!timeline) {
            EXPECT_FALSE(timeline.error().what.empty()) << text;
            continue;
        }
        for (const Lane& lane : timeline->lanes) {
            for (const Interval& interval : lane.intervals) {
                ASSERT_GE(interval.begin_ns, 0);
                ASSERT_GE(interval.end_ns, interval.begin_ns);
                ASSERT_LT(interval.name, timeline->names.size());
            }
        }
        overlapOf(*timeline);
    }
}

TEST_F(TraceImport, SurvivesMutilatedDatabases)
{
    const auto path = database({"CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT)",
                                "INSERT INTO StringIds VALUES (1,'product')",
                                "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INT, end INT, deviceId INT, streamId "
                                "INT, demangledName INT)",
                                "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (1000,2000,0,7,1)"});
    const std::string whole = testing::readText(path);
    std::mt19937 random(11);
    for (int round = 0; round < 200; ++round) {
        std::string text = whole;
        if (round % 2 == 0) {
            text.resize(16 + random() % (text.size() - 16));
        }
        for (int edits = 0; edits < 20; ++edits) {
            text[16 + random() % (text.size() - 16)] = static_cast<char>(random());
        }
        const auto timeline = importTrace(write(text, "broken.sqlite"));
        EXPECT_TRUE(timeline || !timeline.error().what.empty());
    }
}

TEST(JsonScanner, MultipliesDecimalsExactly)
{
    EXPECT_EQ(thousandfold("1700000000000000.125"), 1'700'000'000'000'000'125);
    EXPECT_EQ(thousandfold("0.0005"), 1);
    EXPECT_EQ(thousandfold("0.00049999"), 0);
    EXPECT_EQ(thousandfold("-2.5"), -2500);
    EXPECT_EQ(thousandfold("1.5e3"), 1'500'000);
    EXPECT_EQ(thousandfold("7"), 7000);
    for (const char* bad : {"", "-", ".", "1x", "1e999", "99999999999999999999", "true", "1.2.3", "--1"}) {
        EXPECT_EQ(thousandfold(bad), std::nullopt) << bad;
    }
}

}  // namespace
}  // namespace cuco
