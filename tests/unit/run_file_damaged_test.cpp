// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/run/run_file.h"
#include "tests/support/run_file_fixture.h"

#include <gmock/gmock.h>

#include <string>
#include <utility>
#include <vector>

namespace cuco {
namespace {

using ::testing::HasSubstr;
using testing::readText;
using testing::RunFileTest;
using testing::someEvaluation;
using testing::somePromotion;
using testing::TemporaryFolder;
using testing::writeText;

TEST_F(RunFileTest, NoticesATruncatedFile)
{
    fill(*create(), 20);
    const auto size = std::filesystem::file_size(path);
    for (const auto part : {size / 2, size - 4096, size - 1}) {
        const TemporaryFolder elsewhere;
        std::filesystem::copy_file(path, elsewhere / "cut.cuco");
        std::filesystem::resize_file(elsewhere / "cut.cuco", part);
        for (const auto access : {RunFile::Access::read, RunFile::Access::write}) {
            const auto file = RunFile::open(elsewhere / "cut.cuco", access);
            ASSERT_FALSE(file) << part << " of " << size;
            EXPECT_THAT(file.error().what, HasSubstr("damaged"));
            EXPECT_FALSE(file.error().remedy.empty());
            EXPECT_EQ(std::filesystem::file_size(elsewhere / "cut.cuco"), part);
        }
    }
}

TEST_F(RunFileTest, SurvivesAnyOverwrittenPage)
{
    fill(*create(), 8);
    const std::string whole = readText(path);
    int refused = 0;
    for (std::size_t page = 0; page < whole.size(); page += 4096) {
        std::string spoiled = whole;
        spoiled.replace(page + 8, 200, std::string(200, '\xa5'));
        writeText(path, spoiled);
        auto file = RunFile::open(path, RunFile::Access::read);
        // What quick_check cannot notice (the text of a source) must still not crash.
        if (!file || !(*file)->snapshot() || !(*file)->source("c3") || !(*file)->timeline("c3"))
            ++refused;
    }
    EXPECT_GT(refused, 3);
}

TEST_F(RunFileTest, NoticesASourceThatIsNotTheOneItStored)
{
    fill(*create(), 1);
    sql("UPDATE sources SET text = '// text 9'");
    const auto source = open(RunFile::Access::read)->source("c0");
    ASSERT_FALSE(source);
    EXPECT_THAT(source.error().what, HasSubstr("checksum"));
}

TEST_F(RunFileTest, NamesAStandingThatIsNone)
{
    {
        auto file = create();
        fill(*file, 1);
        ASSERT_TRUE(file->addDecision(somePromotion(1, "c0")));
        ASSERT_TRUE(file->addRemeasurement({1, PromotionStanding::stands, "", someEvaluation(), 77}));
    }
    sql("UPDATE remeasurements SET standing = 'perhaps'");
    const auto snapshot = open(RunFile::Access::read)->snapshot();
    ASSERT_FALSE(snapshot);
    EXPECT_THAT(snapshot.error().what, HasSubstr("perhaps"));
}

TEST_F(RunFileTest, NamesColumnAndRowOfAnUnknownValue)
{
    fill(*create(), 2);
    const std::string whole = readText(path);
    for (const auto& [statement, column] : std::vector<std::pair<std::string, std::string>>{
             {"UPDATE candidates SET state = 'flying' WHERE id = 'c1'", "candidates.state of candidate c1"},
             {"UPDATE candidates SET tunables = '{\"a\": 1.5}' WHERE id = 'c1'", "candidates.tunables of candidate c1"},
             {"UPDATE candidates SET directive = '[' WHERE id = 'c1'", "candidates.directive of candidate c1"},
             {"UPDATE candidates SET parents = '[3]' WHERE id = 'c0'", "candidates.parents of candidate c0"},
             {"UPDATE candidates SET island = -1 WHERE id = 'c0'", "candidates.island of candidate c0"},
             {"UPDATE candidates SET number = 17 WHERE id = 'c1'; DELETE FROM evaluations WHERE candidate = 1",
              "candidates.state of candidate c1"},
             {"UPDATE evaluations SET document = '{}' WHERE candidate = 1", "evaluations.document of candidate c1"},
             {"UPDATE run SET state = 'flying'", "run.state"},
             {"UPDATE run SET config = '7'", "run.config"},
             {"INSERT INTO decisions VALUES (1, 'c1', 'blessed', '', 0, 0)", "decisions.kind of decision 1"},
         }) {
        writeText(path, whole);
        sql(statement);
        const auto snapshot = open(RunFile::Access::read)->snapshot();
        ASSERT_FALSE(snapshot) << statement;
        EXPECT_THAT(describe(snapshot.error()), HasSubstr(column));
    }
}

}  // namespace
}  // namespace cuco
