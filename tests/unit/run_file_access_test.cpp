// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/run/run_file.h"
#include "tests/support/run_file_fixture.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <unistd.h>

namespace cuco {
namespace {

using ::testing::HasSubstr;
using testing::readText;
using testing::RunFileTest;
using testing::someConfig;
using testing::writeText;

TEST_F(RunFileTest, RefusesToReplaceAFile)
{
    writeText(path, "precious");
    const auto file = RunFile::create(path, someConfig());
    ASSERT_FALSE(file);
    EXPECT_FALSE(file.error().remedy.empty());
    EXPECT_EQ(readText(path), "precious");
}

TEST_F(RunFileTest, SaysThatAFileIsMissing)
{
    EXPECT_EQ(openFailure(RunFile::Access::read).what, "There is no such file");
    EXPECT_EQ(openFailure(RunFile::Access::write).what, "There is no such file");
    EXPECT_TRUE(namesInFolder().empty());
}

TEST_F(RunFileTest, LetsInOneWriterOnly)
{
    auto writer = create();
    const Error error = openFailure(RunFile::Access::write);
    EXPECT_EQ(error.what, fmt::format("The run is open in another program (pid {})", ::getpid()));
    EXPECT_EQ(error.remedy, "Close it there, or open it read-only.");
    const auto link = folder / "link.cuco";
    std::filesystem::create_symlink(path, link);
    EXPECT_FALSE(RunFile::open(link, RunFile::Access::write));
    writer.reset();
    EXPECT_TRUE(open(RunFile::Access::write));
}

TEST_F(RunFileTest, LetsAReaderWorkBesideTheWriter)
{
    auto writer = create();
    auto reader = open(RunFile::Access::read);
    fill(*writer, 2);
    EXPECT_EQ(reader->snapshot()->candidates.size(), 2u);
    EXPECT_FALSE(reader->setState(RunState::finished, ""));
    writer.reset();
    EXPECT_EQ(reader->snapshot()->candidates.size(), 2u);
    EXPECT_EQ(reader->source("c1").value(), "// text 1");
}

TEST_F(RunFileTest, LeavesTheFileAloneWhenReading)
{
    fill(*create(), 2);
    const std::string before = readText(path);
    EXPECT_TRUE(open(RunFile::Access::read)->snapshot());
    EXPECT_EQ(readText(path), before);
    EXPECT_EQ(namesInFolder(), std::vector<std::string>{"run.cuco"});
}

TEST_F(RunFileTest, CannotBeWrittenInAReadOnlyFolder)
{
    if (::geteuid() == 0)
        GTEST_SKIP() << "the superuser may write everywhere";
    fill(*create(), 1);
    std::filesystem::permissions(folder.path(),
                                 std::filesystem::perms::owner_read | std::filesystem::perms::owner_exec);
    EXPECT_THAT(openFailure(RunFile::Access::write).remedy, HasSubstr("read-only"));
    EXPECT_TRUE(open(RunFile::Access::read)->snapshot());
    std::filesystem::permissions(folder.path(), std::filesystem::perms::owner_all);
}

}  // namespace
}  // namespace cuco
