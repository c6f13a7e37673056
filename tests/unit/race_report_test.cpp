// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/evaluation/evaluation.h"
#include "core/evaluation/harness_report.h"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

namespace cuco {
namespace {

using testing::HasSubstr;

const std::string race_line =
    R"({"event":"race","shape":"odd","memory":"output c","memory_rank":1,"byte":848,)"
    R"("first":{"rank":0,"access":"write","where":"kernel pushToPeers","line":67,"block":[1,0,0],"thread":[3,0,0]},)"
    R"("second":{"rank":1,"access":"read","where":"the harness, which reads the outputs","line":0}})";

std::string reportWith(const std::string& line)
{
    return R"({"event":"start"})"
           "\n" +
           line + "\n" + R"({"event":"done"})" + "\n";
}

TEST(RaceReport, IsReadFromTheHarness)
{
    const auto report = parseHarnessReport(reportWith(race_line));
    EXPECT_EQ(report.violation, "");
    ASSERT_EQ(report.races.size(), 1u);
    const RaceReport& race = report.races.front();
    EXPECT_EQ(race.memory, "output c");
    EXPECT_EQ(race.memory_rank, 1);
    EXPECT_EQ(race.first.line, 67u);
    EXPECT_EQ(race.first.block, (std::array{1, 0, 0}));
    EXPECT_EQ(race.second.access, "read");
    EXPECT_FALSE(race.second.block.has_value());
    EXPECT_THAT(describe(race), HasSubstr("the write at line 67 on rank 0"));
}

TEST(RaceReport, WithoutOneSideBreaksTheProtocol)
{
    const auto at = race_line.find(",\"second\"");
    EXPECT_NE(parseHarnessReport(reportWith(race_line.substr(0, at) + "}")).violation, "");
    EXPECT_NE(parseHarnessReport(reportWith(R"({"event":"race"})")).violation, "");
}

TEST(RaceReport, ComesBackFromAnEvaluationsJson)
{
    Evaluation evaluation;
    evaluation.verdict = Verdict::race;
    evaluation.race = parseHarnessReport(reportWith(race_line)).races.at(0);
    evaluation.remarks = {"Not checked."};
    const auto read = evaluationFromJson(toJson(evaluation));
    ASSERT_TRUE(read.has_value()) << describe(read.error());
    ASSERT_TRUE(read->race.has_value());
    EXPECT_EQ(describe(*read->race), describe(*evaluation.race));
    EXPECT_EQ(describe(read->race->first),
              "write by rank 0 at line 67, kernel pushToPeers, block (1, 0, 0), "
              "thread (3, 0, 0)");
    EXPECT_EQ(read->remarks, evaluation.remarks);
    EXPECT_FALSE(evaluationFromJson(toJson(Evaluation{}))->race.has_value());
}

TEST(RaceReport, KeepsNoLineThatCannotBeOne)
{
    std::string line = race_line;
    line.replace(line.find("\"line\":67"), 9, "\"line\":-5");
    EXPECT_EQ(parseHarnessReport(reportWith(line)).races.at(0).first.line, 0u);
}

}  // namespace
}  // namespace cuco
