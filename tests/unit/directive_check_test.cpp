// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/evaluation/directive_check.h"
#include "tests/support/analysis_samples.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

namespace cuco {
namespace {

using ::testing::HasSubstr;
using testing::requestFor;

std::optional<DirectiveContradiction> checked(const std::string& file, const std::string& from, const std::string& to)
{
    auto request = requestFor(file);
    if (const auto at = request.source.find(from); at != std::string::npos)
        request.source.replace(at, from.size(), to);
    const auto source = KernelSource::parse(request.source);
    const auto directive = parseDirective(*source);
    EXPECT_TRUE(directive) << file;
    const auto analysis = analyzeCudaHere(request);
    EXPECT_TRUE(analysis.has_value()) << file;
    return contradictionOf(*directive, directiveEvidence(*analysis));
}

std::vector<std::string> sourcesIn(const std::string& folder)
{
    std::vector<std::string> files;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(std::string(CUCO_TEST_ROOT) + "/" + folder))
        if (entry.path().extension() == ".cu")
            files.push_back(std::filesystem::relative(entry.path(), CUCO_TEST_ROOT).string());
    return files;
}

TEST(DirectiveCheck, BelievesEveryStrategyAndSeedOfTheProductAndEveryHonestCandidate)
{
    CUCO_NEEDS_LIBCLANG();
    auto files = sourcesIn("tests/adversarial/honest");
    for (const std::string name : {"gemm_allgather", "kv_transfer", "moe_layer", "ring_attention"}) {
        files.push_back("workloads/" + name + "/seed_lsa.cu");
        for (auto& file : sourcesIn("workloads/" + name + "/strategies"))
            files.push_back(std::move(file));
    }
    files.push_back("workloads/gemm_allgather/seed_gin.cu");
    for (const auto& file : files) {
        const auto belied = checked(file, "", "");
        EXPECT_FALSE(belied) << file << ": " << belied->message;
    }
}

TEST(DirectiveCheck, NamesTheLineThatBeliesABackendOrTheCopyEngines)
{
    CUCO_NEEDS_LIBCLANG();
    const auto backend = checked("workloads/gemm_allgather/seed_lsa.cu", "backend=lsa", "backend=gin");
    ASSERT_TRUE(backend);
    EXPECT_THAT(backend->message, HasSubstr("The directive says backend=gin, but the code is lsa"));
    EXPECT_GT(backend->line, 0u);
    const auto issuer = checked("workloads/gemm_allgather/strategies/stream_overlap_copy_engine.cu",
                                "issuer=copy_engine", "issuer=warp");
    ASSERT_TRUE(issuer);
    EXPECT_THAT(issuer->message, HasSubstr("The directive says issuer=warp, but the code is copy_engine"));
}

TEST(DirectiveCheck, NamesTheLineThatBeliesAFusedKernelOrItsAbsence)
{
    CUCO_NEEDS_LIBCLANG();
    const auto apart = checked("workloads/gemm_allgather/seed_lsa.cu", "placement=sequential", "placement=fused");
    ASSERT_TRUE(apart);
    EXPECT_THAT(apart->message, HasSubstr("The directive says placement=fused, but the code is sequential"));
    EXPECT_GT(apart->line, 0u);
    const auto fused = checked("workloads/gemm_allgather/strategies/fused_tile_push.cu", "placement=fused",
                               "placement=stream_overlap");
    ASSERT_TRUE(fused);
    EXPECT_THAT(fused->message, HasSubstr("The directive says placement=stream_overlap, but the code is fused"));
}

TEST(DirectiveCheck, MakesAFalseDirectiveAVerdict)
{
    CUCO_NEEDS_LIBCLANG();
    auto request = requestFor("workloads/gemm_allgather/seed_lsa.cu");
    const auto at = request.source.find("backend=lsa");
    ASSERT_NE(at, std::string::npos);
    request.source.replace(at, 11, "backend=gin");
    Evaluation evaluation;
    ASSERT_TRUE(checkDirective(request, request.source, evaluation, {}));
    EXPECT_EQ(evaluation.verdict, Verdict::invalid_directive);
    EXPECT_GT(evaluation.at.line, 0u);
}

TEST(DirectiveCheck, LeavesARemarkWhereTheAnalysisCannotBeHad)
{
    AnalysisRequest request;
    request.limit = std::chrono::milliseconds(1);  // nobody starts a process as fast
    Evaluation evaluation;
    const std::string source =
        "// EVOLVE-BLOCK-START\n// cuco: backend=lsa placement=sequential sync=world issuer=cta chunk=0\n"
        "// EVOLVE-BLOCK-END\n";
    ASSERT_TRUE(checkDirective(request, source, evaluation, {}));
    EXPECT_TRUE(evaluation.verified());
    ASSERT_EQ(evaluation.remarks.size(), 1u);
    EXPECT_THAT(evaluation.remarks.front(), HasSubstr("was not compared with the code"));
}

}  // namespace
}  // namespace cuco
