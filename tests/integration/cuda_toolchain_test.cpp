// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/nodes/cuda_toolchain.h"
#include "core/base/files.h"
#include "core/nodes/nccl_probe.h"
#include "tests/support/temporary_folder.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <cstdlib>

namespace cuco {
namespace {

using ::testing::HasSubstr;

/// Compiles with nvcc; no GPU is needed for that.
class CudaToolchainBuild : public ::testing::Test {
protected:
    void SetUp() override
    {
        const auto toolkit = findCudaToolkit({});
        if (!toolkit)
            GTEST_SKIP() << toolkit.error().what;
        if (std::ranges::none_of(findNccl(toolkit->home, {}), &NcclInstall::usable))
            GTEST_SKIP() << "No NCCL with header and library of one version was found.";
        auto loaded = loadWorkload(CUCO_TEST_ROOT "/workloads/gemm_allgather");
        ASSERT_TRUE(loaded.has_value()) << describe(loaded.error());
        workload = std::move(*loaded);
        const auto prepared = toolchain.prepare(node, workload, {});
        ASSERT_TRUE(prepared.has_value()) << describe(prepared.error());
    }

    Workload workload;
    LocalNode node;
    CudaToolchain toolchain{CUCO_TEST_ROOT "/workloads", "sm_90a"};
};

/// A program nvidia-smi, first on PATH, that tells of GPUs of this compute capability.
class GpusOfCapability {
public:
    explicit GpusOfCapability(const std::string& capability) : path_(getenv("PATH"))
    {
        const auto program = folder_ / "nvidia-smi";
        testing::writeText(program, "#!/bin/sh\nprintf '" + capability + "\\n" + capability + "\\n'\n");
        std::filesystem::permissions(program, std::filesystem::perms::owner_all);
        ::setenv("PATH", (folder_.path().string() + ":" + path_).c_str(), 1);
    }
    ~GpusOfCapability() { ::setenv("PATH", path_.c_str(), 1); }
    GpusOfCapability(const GpusOfCapability&) = delete;
    GpusOfCapability& operator=(const GpusOfCapability&) = delete;

private:
    testing::TemporaryFolder folder_;
    std::string path_;
};

TEST_F(CudaToolchainBuild, BuildsEverySourceOfTheProductAndNamesTheLineOfABrokenOne)
{
    EXPECT_TRUE(std::filesystem::exists(toolchain.files().reference));
    const auto job = *node.createJob();
    EXPECT_TRUE(std::filesystem::exists(toolchain.harnessCommand(node, *job, "run").argv.front()));

    auto sources = workload.strategies;
    sources.push_back({"host", workload.host_source});
    for (const auto& source : sources) {
        const auto built = toolchain.build(node, *job, *readFile(source.file), {});
        ASSERT_TRUE(built.has_value()) << describe(built.error());
        EXPECT_TRUE(built->has_value()) << source.name << ": " << built->error().log;
        EXPECT_TRUE(std::filesystem::exists(job->path() / "candidate.so"));
    }

    const auto broken = toolchain.build(node, *job, "#include \"candidate.h\"\n\nint f() { return missing; }\n", {});
    ASSERT_TRUE(broken.has_value());
    ASSERT_FALSE(broken->has_value());
    EXPECT_EQ(broken->error().line, 3u);
    EXPECT_THAT(broken->error().first_error, HasSubstr("missing"));
}

TEST_F(CudaToolchainBuild, GivesSourcesForHopperTheWarpgroupsProducts)
{
    const GpusOfCapability hopper("9.0");
    CudaToolchain asking{CUCO_TEST_ROOT "/workloads"};
    const auto prepared = asking.prepare(node, workload, {});
    ASSERT_TRUE(prepared.has_value()) << describe(prepared.error());
    const auto job = *node.createJob();
    const auto built = asking.build(node, *job,
                                    "#include \"candidate.h\"\n#include \"warpgroup.cuh\"\n"
                                    "#if defined(__CUDA_ARCH__) && !defined(CUCO_WARPGROUP_PRODUCTS)\n"
                                    "#error \"they are missing\"\n#endif\n"
                                    "__global__ void wait()\n{\n#ifdef __CUDA_ARCH__\n"
                                    "    cuco_warpgroup::wait<0>();\n#endif\n}\n",
                                    {});
    ASSERT_TRUE(built.has_value()) << describe(built.error());
    EXPECT_TRUE(built->has_value()) << built->error().log;
}

}  // namespace
}  // namespace cuco
