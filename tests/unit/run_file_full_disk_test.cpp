// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/run/run_file.h"
#include "tests/support/run_file_fixture.h"

#include <gtest/gtest.h>

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <csignal>
#include <string>

namespace cuco {
namespace {

using testing::readText;
using testing::RunFileTest;
using testing::someCandidate;
using testing::writeText;

TEST_F(RunFileTest, IsWholeWhereTheDiskWasTooFullForItsLogToBeWrittenBack)
{
    constexpr std::size_t page_bytes = 4096;
    const std::string log_path = path.string() + "-wal";
    std::string log;
    {
        auto file = create();
        fill(*file, 20);
        log = readText(log_path);
    }
    const std::string whole = readText(path);
    ASSERT_GT(log.size(), 10 * page_bytes);
    // The first page, which tells how many there are, was written back; the last ones did not fit.
    for (const auto access : {RunFile::Access::read, RunFile::Access::write}) {
        writeText(path, whole.substr(0, whole.size() - 3 * page_bytes));
        writeText(log_path, log);
        EXPECT_EQ(open(access)->snapshot()->candidates.size(), 20u);
    }
    EXPECT_EQ(open(RunFile::Access::read)->snapshot()->candidates.size(), 20u);
    EXPECT_FALSE(std::filesystem::exists(log_path)) << "the writer has written it back";
}

TEST_F(RunFileTest, StaysWholeWhenTheDiskIsFull)
{
    fill(*create(), 1);
    const pid_t child = ::fork();
    if (child == 0) {
        std::signal(SIGXFSZ, SIG_IGN);
        const auto size = static_cast<rlim_t>(std::filesystem::file_size(path));
        const rlimit limit{size + 40'000, size + 40'000};
        ::setrlimit(RLIMIT_FSIZE, &limit);
        auto file = RunFile::open(path, RunFile::Access::write);
        if (!file)
            ::_exit(1);
        for (int number = 1; number < 1'000; ++number) {
            const auto added = (*file)->addCandidate(someCandidate(number), std::string(20'000, 'a' + number % 26), {});
            if (!added)
                ::_exit(added.error().remedy.find("everything saved before is whole") == std::string::npos ? 2 : 42);
        }
        ::_exit(3);
    }
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFEXITED(status));
    EXPECT_EQ(WEXITSTATUS(status), 42);
    auto file = open(RunFile::Access::write);
    const auto snapshot = file->snapshot();
    ASSERT_TRUE(snapshot) << describe(snapshot.error());
    EXPECT_GE(snapshot->candidates.size(), 1u);
    EXPECT_EQ(file->source("c0").value(), "// text 0");
}

}  // namespace
}  // namespace cuco
