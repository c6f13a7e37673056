// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/subprocess.h"
#include "core/run/database.h"
#include "tests/support/temporary_folder.h"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

namespace cuco {
namespace {

using ::testing::HasSubstr;

class CucoctlImport : public ::testing::Test {
protected:
    void SetUp() override
    {
        auto database = Database::open(folder / "evolution_db.sqlite", Database::Mode::create);
        ASSERT_TRUE(database) << describe(database.error());
        const auto filled = database->execute(R"sql(
            CREATE TABLE programs (id TEXT PRIMARY KEY, code TEXT NOT NULL, parent_id TEXT, generation INTEGER NOT NULL,
                timestamp REAL NOT NULL, combined_score REAL, public_metrics TEXT, correct BOOLEAN, metadata TEXT,
                island_idx INTEGER);
            INSERT INTO programs VALUES
                ('a', '// a', NULL, 0, 1.5, 100, '{"time_ms": 10}', 1, '{"patch_type": "init"}', 0),
                ('b', '// b', 'a', 1, 2.5, 200, '{"time_ms": 4}', 1, '{"patch_name": "overlap"}', 0),
                ('c', '// c', 'gone', 2, 3.5, 0, '{}', 0, '{broken', 0);
        )sql");
        ASSERT_TRUE(filled) << describe(filled.error());
    }
    CommandOutcome cucoctl(std::vector<std::string> arguments)
    {
        Command command;
        command.argv = {CUCOCTL_PROGRAM};
        command.argv.insert(command.argv.end(), arguments.begin(), arguments.end());
        command.working_directory = folder.path();
        command.environment = scrubbedEnvironment();
        auto outcome = runCommand(command);
        EXPECT_TRUE(outcome) << describe(outcome.error());
        return outcome.value_or(CommandOutcome{});
    }

    testing::TemporaryFolder folder;
};

TEST_F(CucoctlImport, AnImportedRunIsShownAsTheOtherProgramsWordAndDecidedOn)
{
    const auto imported = cucoctl({"import", "evolution_db.sqlite", "--run-file", "run.cuco", "--json"});
    ASSERT_EQ(imported.exit_code, 0) << imported.err;
    EXPECT_EQ(nlohmann::json::parse(imported.out).at("programs"), 3);
    EXPECT_THAT(imported.err, HasSubstr("1 programs name a parent that is not in the database"));

    const auto shown = nlohmann::json::parse(cucoctl({"show", "run.cuco", "--json"}).out);
    EXPECT_EQ(shown.at("imported"), true);
    EXPECT_EQ(shown.at("self_reported"), true);
    EXPECT_EQ(shown.at("best"), "c1");
    EXPECT_DOUBLE_EQ(shown.at("candidates").at(1).at("speedup").get<double>(), 2.5);
    EXPECT_EQ(shown.at("candidates").at(1).at("parent"), "c0");
    EXPECT_EQ(shown.at("candidates").at(2).at("verdict"), "wrong_result");
    EXPECT_THAT(cucoctl({"show", "run.cuco"}).out, HasSubstr("(imported, self-reported)"));
    EXPECT_THAT(cucoctl({"candidate", "run.cuco", "c1", "--source"}).out, HasSubstr("// b"));

    EXPECT_EQ(cucoctl({"promote", "run.cuco", "c1", "--reason", "again"}).exit_code, 3) << "nothing can measure it";
    EXPECT_EQ(cucoctl({"reject", "run.cuco", "c1", "--reason", "not seen to be faster"}).exit_code, 0);
    EXPECT_EQ(cucoctl({"resume", "run.cuco"}).exit_code, 0) << "there is nothing to go on with";
    const auto again = nlohmann::json::parse(cucoctl({"show", "run.cuco", "--json"}).out);
    EXPECT_EQ(again.at("state"), "finished");
    EXPECT_EQ(again.at("candidates").at(1).at("decision"), "rejected");
}

TEST_F(CucoctlImport, WhatIsNoDatabaseIsRefused)
{
    testing::writeText(folder / "notes.txt", "nothing to see here");
    const auto refused = cucoctl({"import", "notes.txt", "--run-file", "run.cuco"});
    EXPECT_EQ(refused.exit_code, 3);
    EXPECT_THAT(refused.err, HasSubstr("no SQLite database"));
    EXPECT_FALSE(std::filesystem::exists(folder / "run.cuco"));
    EXPECT_EQ(cucoctl({"import", "evolution_db.sqlite"}).exit_code, 2);
}

}  // namespace
}  // namespace cuco
