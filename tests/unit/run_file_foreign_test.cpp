// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/run/run_file.h"
#include "tests/support/run_file_fixture.h"

#include <gmock/gmock.h>

#include <string>
#include <vector>

namespace cuco {
namespace {

using ::testing::HasSubstr;
using testing::readText;
using testing::RunFileTest;
using testing::someEvaluation;
using testing::writeText;

TEST_F(RunFileTest, RefusesWhatIsNoRunFileAndLeavesItAsItIs)
{
    for (const std::string& contents : {std::string(), std::string("hello"), std::string(100'000, 'x')}) {
        writeText(path, contents);
        for (const auto access : {RunFile::Access::read, RunFile::Access::write}) {
            EXPECT_EQ(openFailure(access).what, "This is no run file");
            EXPECT_EQ(readText(path), contents);
            EXPECT_EQ(namesInFolder(), std::vector<std::string>{"run.cuco"});
        }
    }
    std::filesystem::remove(path);
    std::filesystem::create_directory(path);
    EXPECT_EQ(openFailure(RunFile::Access::write).what, "This is no run file");
}

TEST_F(RunFileTest, RefusesAnotherProgramsDatabaseAndLeavesItAsItIs)
{
    sql("PRAGMA journal_mode = WAL; CREATE TABLE precious (x); INSERT INTO precious VALUES (1)");
    const std::string before = readText(path);
    for (const auto access : {RunFile::Access::read, RunFile::Access::write}) {
        EXPECT_EQ(openFailure(access).what, "This is no run file");
        EXPECT_EQ(readText(path), before);
        EXPECT_EQ(namesInFolder(), std::vector<std::string>{"run.cuco"});
    }
}

TEST_F(RunFileTest, NamesTheFormatOfANewerFile)
{
    create();
    sql("PRAGMA user_version = 99");
    const Error error = openFailure(RunFile::Access::write);
    EXPECT_THAT(error.what, HasSubstr("format 99"));
    EXPECT_THAT(error.remedy, HasSubstr("newer version"));
}

TEST_F(RunFileTest, ReadsAFileOfAnOlderFormatAndBringsItUpToDate)
{
    fill(*create(), 2);
    sql("DROP TABLE remeasurements; DROP TABLE environments; DROP TABLE proposed_texts; PRAGMA user_version = 2;"
        "INSERT INTO decisions VALUES (1, 'c1', 'promoted', 'fast', 5, 0)");
    {
        auto file = open(RunFile::Access::read);
        const auto snapshot = file->snapshot();
        ASSERT_TRUE(snapshot) << describe(snapshot.error());
        EXPECT_EQ(snapshot->decisions.at(0).standing, PromotionStanding::pending);
        EXPECT_TRUE(file->remeasurements("c1")->empty());
        EXPECT_TRUE(file->environments()->empty());
    }
    auto file = open(RunFile::Access::write);
    ASSERT_TRUE(file->addRemeasurement({1, PromotionStanding::refused, "It is slower.", someEvaluation(), 77}));
    EXPECT_EQ(file->snapshot()->decisions.at(0).standing, PromotionStanding::refused);
}

TEST_F(RunFileTest, RefusesASchemaThatPutsAViewInPlaceOfATable)
{
    create();
    sql("DROP TABLE log; CREATE VIEW log AS WITH RECURSIVE n (id) AS (SELECT 1 UNION ALL SELECT id + 1 FROM n) "
        "SELECT id, 0 AS time_ms, '' AS level, '' AS text FROM n");
    EXPECT_THAT(openFailure(RunFile::Access::read).what, HasSubstr("log"));
}

TEST_F(RunFileTest, DoesNotRunTriggersOfAForeignFile)
{
    fill(*create(), 1);
    sql("CREATE TRIGGER t AFTER INSERT ON log BEGIN DELETE FROM candidates; END");
    {
        auto file = open(RunFile::Access::write);
        ASSERT_TRUE(file->addLog({1, "info", "x"}));
    }
    EXPECT_EQ(open(RunFile::Access::read)->snapshot()->candidates.size(), 1u);
}

}  // namespace
}  // namespace cuco
