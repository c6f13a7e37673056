// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/run/wal_sync.h"
#include "core/run/database.h"
#include "tests/support/temporary_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <mutex>
#include <thread>
#include <vector>

namespace cuco {
namespace {

class WalSyncTest : public ::testing::Test {
protected:
    Database open()
    {
        auto database = Database::open(path, Database::Mode::create);
        EXPECT_TRUE(database);
        EXPECT_TRUE(database->execute("PRAGMA journal_mode = WAL; CREATE TABLE numbers (number INTEGER)"));
        return std::move(*database);
    }

    testing::TemporaryFolder folder;
    std::filesystem::path path = folder.path() / "a.db";
};

TEST_F(WalSyncTest, BringsCommitsOfSeveralThreadsToTheDiskBesideTheConnection)
{
    Database database = open();
    std::mutex connection;
    std::atomic<int> failed = 0;
    {
        std::vector<std::jthread> threads;
        for (int thread = 0; thread < 4; ++thread)
            threads.emplace_back([&] {
                for (int i = 0; i < 50; ++i) {
                    const auto done = database.transactionInTurn(
                        connection, [&] { return database.run("INSERT INTO numbers VALUES (?)", {std::int64_t{i}}); });
                    failed += done ? 0 : 1;
                }
            });
    }
    EXPECT_EQ(failed, 0);
    EXPECT_EQ(database.integer("SELECT count(*) FROM numbers").value(), 200);
}

TEST_F(WalSyncTest, SaysSoWhenTheLogIsGone)
{
    Database database = open();
    std::filesystem::remove(path.string() + "-wal");
    std::mutex connection;
    const auto on_disk =
        database.transactionInTurn(connection, [&] { return database.run("INSERT INTO numbers VALUES (1)"); });
    ASSERT_FALSE(on_disk);
    EXPECT_THAT(on_disk.error().what, ::testing::HasSubstr("The run file's log could not be opened"));
    EXPECT_EQ(on_disk.error().where, path.string() + "-wal");
}

TEST_F(WalSyncTest, HasNothingToDoWithoutALogOfItsOwn)
{
    auto database = Database::open(path, Database::Mode::create);
    ASSERT_TRUE(database);
    ASSERT_TRUE(database->execute("PRAGMA journal_mode = DELETE; CREATE TABLE numbers (number INTEGER)"));
    std::mutex connection;
    EXPECT_TRUE(
        database->transactionInTurn(connection, [&] { return database->run("INSERT INTO numbers VALUES (1)"); }));
}

}  // namespace
}  // namespace cuco
