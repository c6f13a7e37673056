// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/run/run_file.h"
#include "tests/support/sql.h"
#include "tests/support/temporary_folder.h"

#include <gtest/gtest.h>

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace cuco::testing {

inline RunConfig someConfig()
{
    RunConfig config;
    config.workload = "gemm_allgather";
    config.seed = 7;
    return config;
}

inline Candidate someCandidate(int number)
{
    Candidate candidate;
    candidate.number = number;
    candidate.id = fmt::format("c{}", number);
    candidate.parents =
        number > 0 ? std::vector<std::string>{fmt::format("c{}", number - 1)} : std::vector<std::string>{};
    candidate.island = number % 2;
    candidate.generation = number;
    candidate.proposer = "tunable";
    candidate.summary = "ctas 8 → 16";
    candidate.strategy = "fused";
    candidate.directive = {"lsa", "fused", "tile", "cta", 1048576};
    candidate.tunables = {{"ctas", 16}, {"rows", -1}};
    candidate.source_sha256 = sha256Hex(fmt::format("// text {}", number));
    candidate.cost_usd = 0.25;
    return candidate;
}

inline Evaluation someEvaluation()
{
    Evaluation evaluation;
    evaluation.stage = Stage::profile;
    evaluation.modelled = true;
    ShapeTiming timing;
    timing.shape = "256";
    timing.ranks = 4;
    timing.samples_us = {10.5, 11.5};
    timing.baseline_samples_us = {20, 22};
    timing.baseline = "host.cu";
    timing.time_us = 11;
    timing.baseline_us = 21;
    timing.speedup = 1.9;
    timing.ci_low = 1.8;
    timing.ci_high = 2.0;
    timing.bound_us = 8;
    evaluation.timings = {timing};
    return evaluation;
}

inline Timeline someTimeline()
{
    Timeline timeline;
    timeline.title = "256, 4 ranks";
    timeline.lanes.push_back({1, "stream 0", {{0, 1000, timeline.nameIndex("gemm"), 0, 64, Activity::compute}}});
    return timeline;
}

inline Decision somePromotion(int id, const std::string& candidate_id)
{
    Decision decision;
    decision.id = id;
    decision.candidate_id = candidate_id;
    decision.reason = "fast";
    decision.time_ms = 1000 + id;
    return decision;
}

class RunFileTest : public ::testing::Test {
protected:
    std::unique_ptr<RunFile> create()
    {
        auto file = RunFile::create(path, someConfig());
        EXPECT_TRUE(file) << describe(file.error());
        return std::move(*file);
    }
    std::unique_ptr<RunFile> open(RunFile::Access access)
    {
        auto file = RunFile::open(path, access);
        EXPECT_TRUE(file) << describe(file.error());
        return std::move(*file);
    }
    Error openFailure(RunFile::Access access)
    {
        auto file = RunFile::open(path, access);
        EXPECT_FALSE(file);
        return file ? Error{} : file.error();
    }
    /// Settled candidates c0 … c(count − 1).
    void fill(RunFile& file, int count)
    {
        for (int number = 0; number < count; ++number) {
            Candidate candidate = someCandidate(number);
            ASSERT_TRUE(file.addCandidate(candidate, fmt::format("// text {}", number), {}));
            candidate.state = CandidateState::settled;
            candidate.evaluation = someEvaluation();
            ASSERT_TRUE(file.settleCandidate(candidate, someTimeline()));
        }
    }
    void sql(const std::string& statement) { testing::sql(path, statement); }
    std::vector<std::string> namesInFolder() const
    {
        std::vector<std::string> names;
        for (const auto& entry : std::filesystem::directory_iterator(folder.path()))
            names.push_back(entry.path().filename().string());
        std::ranges::sort(names);
        return names;
    }

    TemporaryFolder folder;
    std::filesystem::path path = folder / "run.cuco";
};

}  // namespace cuco::testing
