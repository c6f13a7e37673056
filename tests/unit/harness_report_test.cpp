// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/evaluation/harness_report.h"
#include "tests/support/evaluation_samples.h"

#include <gmock/gmock.h>

#include <cmath>
#include <string>

namespace cuco {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::start_line;

TEST(HarnessReport, ReadsTimesAndTheEnd)
{
    const auto report =
        parseHarnessReport(std::string(start_line) + R"({"event":"time","shape":"256","samples_us":[10.5,11]})"
                                                     "\n"
                                                     R"({"event":"done"})");
    EXPECT_TRUE(report.started && report.done);
    EXPECT_THAT(report.samples_us.at("256"), ElementsAre(10.5, 11));
    EXPECT_EQ(report.violation, "");
}

TEST(HarnessReport, TakesNoNegativeZeroOrInfiniteTime)
{
    for (const char* sample : {"-1", "0", "\"nan\"", "\"inf\"", "1e999", "\"5\"", "[1]"}) {
        const auto report =
            parseHarnessReport(R"({"event":"time","shape":"256","samples_us":[)" + std::string(sample) + "]}");
        EXPECT_NE(report.violation, "") << sample;
        EXPECT_TRUE(report.samples_us.empty()) << sample;
    }
}

TEST(HarnessReport, ASecondTimeForAShapeIsAViolation)
{
    const std::string line = R"({"event":"time","shape":"256","samples_us":[10]})"
                             "\n";
    const auto report = parseHarnessReport(line + line);
    EXPECT_THAT(report.violation, HasSubstr("twice"));
}

TEST(HarnessReport, AnythingAfterTheEndIsAViolation)
{
    const auto report = parseHarnessReport(std::string(start_line) + "{\"event\":\"done\"}\n" + start_line);
    EXPECT_NE(report.violation, "");
}

TEST(HarnessReport, BrokenLinesAreViolationsAndUnknownEventsAreRemarks)
{
    EXPECT_NE(parseHarnessReport("{\"event\":\"st").violation, "");
    EXPECT_NE(parseHarnessReport("[1]").violation, "");
    EXPECT_NE(parseHarnessReport("{\"event\":3}").violation, "");
    EXPECT_NE(parseHarnessReport(std::string(100'000, '[')).violation, "");
    const auto report = parseHarnessReport("{\"event\":\"weather\"}\n");
    EXPECT_EQ(report.violation, "");
    EXPECT_EQ(report.remarks.size(), 1u);
}

TEST(HarnessReport, ReadsAMismatchWhoseValueIsNoNumber)
{
    const auto report = parseHarnessReport(
        R"({"event":"mismatch","shape":"256","iteration":1,"rank":2,"buffer":"c","element":17,"expected":1.5,)"
        R"("got":"nan","wrong_elements":12,"elements":64,"relative_l2":"inf"})");
    ASSERT_EQ(report.mismatches.size(), 1u) << report.violation;
    EXPECT_TRUE(std::isnan(report.mismatches[0].got));
    EXPECT_EQ(report.mismatches[0].element, 17);
}

TEST(HarnessReport, KeepsProgramsConditionsAndNeighboursApart)
{
    const auto report =
        parseHarnessReport(std::string(start_line) + R"({"event":"rates","link_bytes_per_s":3e11,"hbm_bytes_per_s":4e12}
{"event":"baseline_failed","program":"zero_cta","message":"No.","detail":"Why."}
{"event":"time","shape":"s","program":"candidate","samples_us":[10,11],"event_us":[9,10],"burst":4}
{"event":"time","shape":"s","program":"host.cu","samples_us":[20,21],"event_us":[19,20],"burst":4}
{"event":"conditions","shape":"s","gpus":[{"event":"gpu","pci":"0000:06","sm_mhz":[1980],"memory_mhz":[3201],"temperature_c":[50],"power_w":[300.5],"throttling":["hw_thermal"]}]}
{"event":"processes","gpus":[[{"pid":7,"memory_bytes":1},{"pid":9,"memory_bytes":2147483648}]],"observers":[7]}
{"event":"gpu_fault","rank":0,"message":"Lost."}
{"event":"done"}
)");
    EXPECT_EQ(report.violation, "");
    EXPECT_THAT(report.samples_us.at("s"), ElementsAre(10, 11));
    EXPECT_THAT(report.baseline_samples_us.at("host.cu").at("s"), ElementsAre(20, 21));
    EXPECT_EQ(report.bursts.at("s"), 4);
    EXPECT_EQ(report.baseline_problems.at("zero_cta"), "No. Why.");
    EXPECT_EQ(report.rates->link_bytes_per_s, 3e11);
    EXPECT_THAT(report.conditions.at("s").front().throttling, ElementsAre("hw_thermal"));
    EXPECT_THAT(report.neighbours, ElementsAre("process 9 (2048 MiB) on GPU 0"));
    EXPECT_EQ(report.gpu_fault, "Lost.");
}

}  // namespace
}  // namespace cuco
