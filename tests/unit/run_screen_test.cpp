// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/run/run_screen.h"

#include "core/base/files.h"
#include "core/run/run_file.h"
#include "tests/support/temporary_folder.h"

#include <gmock/gmock.h>

namespace cuco {
namespace {

using ::testing::HasSubstr;

const std::filesystem::path root = CUCO_TEST_ROOT;

class RunScreenTest : public ::testing::Test {
protected:
    Result<RunScreen> screenOf(const std::string& workload, const std::string& probe = {})
    {
        RunConfig config;
        config.workload = workload;
        auto created = RunFile::create(folder / "run.cuco", config);
        EXPECT_TRUE(created) << describe(created.error());
        file = std::move(*created);
        if (!probe.empty()) {
            EXPECT_TRUE(file->addEnvironment(probe));
        }
        return RunScreen::create({root / "resources", root / "workloads"}, *file, config);
    }

    static std::string engines()
    {
        return *readFile(root / "workloads/gemm_allgather/strategies/stream_overlap_copy_engine.cu", 1u << 20);
    }

    testing::TemporaryFolder folder;
    std::unique_ptr<RunFile> file;
};

TEST_F(RunScreenTest, NamesTheLineThatIsWrong)
{
    const auto screen = screenOf("gemm_allgather");
    ASSERT_TRUE(screen) << describe(screen.error());
    EXPECT_TRUE(screen->check(engines()).verified());
    const Evaluation frozen = screen->check("// mine\n" + engines());
    EXPECT_EQ(frozen.verdict, Verdict::frozen_code_changed);
    EXPECT_EQ(frozen.at.line, 1);
    EXPECT_EQ(screen->check("no markers").verdict, Verdict::marker_error);
}

TEST_F(RunScreenTest, KnowsWhatTheNodeOfTheRunCannotDo)
{
    const auto screen = screenOf("gemm_allgather", R"({"capabilities": ["lsa"]})");
    ASSERT_TRUE(screen) << describe(screen.error());
    const Evaluation refused = screen->check(engines());
    EXPECT_EQ(refused.verdict, Verdict::invalid_directive);
    EXPECT_GT(refused.at.line, 0);
}

TEST_F(RunScreenTest, SaysThatTheWorkloadIsNotHere)
{
    const auto screen = screenOf("elsewhere");
    ASSERT_FALSE(screen);
    EXPECT_THAT(describe(screen.error()), HasSubstr("is not on this machine"));
}

TEST_F(RunScreenTest, ADamagedProbeIsAnError)
{
    EXPECT_FALSE(screenOf("gemm_allgather", R"({"capabilities": 7})"));
}

}  // namespace
}  // namespace cuco
