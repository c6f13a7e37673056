// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/files.h"
#include "core/evaluation/evaluation_plan.h"
#include "tests/gpu/jobs_of_workloads.h"

#include <gmock/gmock.h>

#include <cstdlib>
#include <set>

namespace cuco {
namespace {

const std::filesystem::path root = CUCO_TEST_ROOT;
const std::filesystem::path jobs = root / "tests/gpu/jobs";

/// With CUCO_UPDATE_GPU_JOBS set the files are written instead.
TEST(GpuJobs, AreWhatTheManifestsSay)
{
    const auto workloads = loadWorkloads(root / "workloads");
    ASSERT_TRUE(workloads.has_value()) << describe(workloads.error());
    const bool update = std::getenv("CUCO_UPDATE_GPU_JOBS") != nullptr;
    std::set<std::string> expected;
    for (const auto& workload : *workloads) {
        if (workload.program)
            continue;
        const auto files = jobsOf(workload);
        ASSERT_TRUE(files.has_value()) << describe(files.error());
        for (const auto& [name, text] : *files) {
            expected.insert(name);
            if (update) {
                ASSERT_TRUE(writeFileAtomically(jobs / name, text).has_value());
            }
            EXPECT_EQ(readFile(jobs / name).value_or(""), text)
                << name << " is out of date: CUCO_UPDATE_GPU_JOBS=1 gpu_jobs_tests writes it anew";
        }
    }
    for (const auto& entry : std::filesystem::directory_iterator(jobs))
        EXPECT_TRUE(expected.contains(entry.path().filename().string())) << entry.path() << " belongs to no workload";
}

}  // namespace
}  // namespace cuco
