// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/population/novelty.h"

#include "core/base/files.h"
#include "core/population/normalised_tokens.h"
#include "core/population/parent_selection.h"
#include "core/source/cuda_lexer.h"
#include "tests/support/patch_samples.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include <filesystem>
#include <map>
#include <stdexcept>

namespace cuco {
namespace {

using ::testing::HasSubstr;
using testing::ring_source;

KernelSource parsed(const std::string& text)
{
    auto source = KernelSource::parse(text);
    if (!source)
        throw std::invalid_argument(source.error().message);
    return *source;
}

SourceSketch sketch(const std::string& text)
{
    return sketchOf(parsed(text));
}

std::string blockOf(const std::string& code)
{
    return "// EVOLVE-BLOCK-START\n" + code + "\n// EVOLVE-BLOCK-END\n";
}

double alike(const std::string& code, const std::string& other)
{
    return similarity(sketch(blockOf(code)), sketch(blockOf(other)));
}

std::string replaced(std::string text, const std::string& what, const std::string& by)
{
    const auto at = text.find(what);
    if (at == std::string::npos)
        throw std::invalid_argument("no " + what);
    return text.replace(at, what.size(), by);
}

/// As an editor's rename does it: whole names in code, nothing in comments or literals.
std::string renamed(const std::string& text, const std::map<std::string, std::string>& names)
{
    std::string result;
    CudaLexer lexer(text);
    std::size_t copied = 0;
    for (Lexeme lexeme = lexer.next(); lexeme.kind != LexemeKind::end; lexeme = lexer.next()) {
        const std::string word = text.substr(lexeme.begin, lexeme.end - lexeme.begin);
        const auto found = names.find(word);
        if (lexeme.kind != LexemeKind::identifier || found == names.end())
            continue;
        result += text.substr(copied, lexeme.begin - copied) + found->second;
        copied = lexeme.end;
    }
    return result + text.substr(copied);
}

std::vector<std::filesystem::path> workloadSources()
{
    std::vector<std::filesystem::path> files;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(CUCO_TEST_ROOT "/workloads"))
        if (entry.path().extension() == ".cu" && KernelSource::parse(*readFile(entry.path(), 1u << 20)))
            files.push_back(entry.path());
    std::ranges::sort(files);
    return files;
}

constexpr double duplicate = NoveltySettings{}.shingle_similarity;

TEST(SourceSimilarity, IsOneWhenOnlyCommentsBlanksAndDigitSeparatorsChange)
{
    EXPECT_EQ(alike("int f() { return 4096; }", "// says how much\nint f()\n{\n  return /* a page */ 4'096;\n}"), 1);
}

TEST(SourceSimilarity, IsOneWhenOnlyFrozenCodeChanges)
{
    EXPECT_EQ(similarity(sketch(ring_source), sketch("int frozen;\n" + ring_source)), 1);
}

TEST(SourceSimilarity, IsOneWhenVariablesParametersAndOwnFunctionsAreRenamed)
{
    const std::string other = renamed(
        ring_source,
        {{"thread", "lane"}, {"i", "k"}, {"target", "out"}, {"source", "in"}, {"count", "n"}, {"push", "send"}});
    ASSERT_NE(other, ring_source);
    EXPECT_EQ(similarity(sketch(ring_source), sketch(other)), 1);
}

TEST(SourceSimilarity, IsOneWhenOneOfTwoLoopsRenamesItsVariable)
{
    const std::string loops = "void f(int n) { for (int i = 0; i < n; ++i) g(i); for (int i = 0; i < n; ++i) h(i); }";
    EXPECT_EQ(alike(loops, replaced(loops, "int i = 0; i < n; ++i) h(i)", "int j = 0; j < n; ++j) h(j)")), 1);
}

TEST(SourceSimilarity, IsOneWhenMembersOrOneOfSeveralDeclaratorsAreRenamed)
{
    const std::string code =
        "struct State { int rank = 0, ranks = 1; float* data; };\n"
        "int f(State* s) { int a = s->rank, b = s->ranks; return a + b + g(s->data[a]); }";
    EXPECT_EQ(alike(code, renamed(code, {{"ranks", "size"}, {"data", "floats"}, {"b", "all"}, {"State", "Ring"}})), 1);
}

TEST(SourceSimilarity, HoldsForRenamesInWorkloadSources)
{
    const std::map<std::string, std::string> names{
        {"thread", "worker"}, {"threads", "workers"},     {"misaligned", "skew"}, {"peer", "other"},
        {"offset", "from"},   {"bytes", "length"},        {"step", "hop"},        {"head", "front"},
        {"tail", "back"},     {"pushToPeers", "sendRows"}};
    const std::string text = *readFile(CUCO_TEST_ROOT "/workloads/gemm_allgather/seed_lsa.cu", 1u << 20);
    const std::string other = renamed(text, names);
    ASSERT_NE(other, text);
    EXPECT_EQ(similarity(sketch(text), sketch(other)), 1);
}

struct Change {
    const char* what;
    const char* from;
    const char* to;
};

class ChangeOfCode : public ::testing::TestWithParam<Change> {};

TEST_P(ChangeOfCode, IsNoDuplicate)
{
    const std::string code =
        "__global__ void store(float4* out, const float4* in, size_t count)\n"
        "{\n"
        "#pragma unroll 4\n"
        "    for (size_t i = threadIdx.x; i < count; i += blockDim.x)\n"
        "        out[i] = in[i];\n"
        "    __syncthreads();\n"
        "}\n"
        "void first(int* to, int* from, int n) { ncclGet(to, from, n, 16); }\n"
        "void second(int* to, int* from, int n) { ncclPut(to, from, n, 16); }\n"
        "int run(int* to, int* from) { int n = 64 * sizeof(unsigned int); first(to, from, n); store<<<8, 256>>>(a, b, "
        "n); return 0; }\n";
    const std::string changed = replaced(code, GetParam().from, GetParam().to);
    EXPECT_LT(alike(code, changed), duplicate);
    // In a source as long as they come, too.
    std::string padding;
    for (int i = 0; i < 1500; ++i)
        padding += "void pad" + std::to_string(i) + "() { call(" + std::to_string(i) + "); }\n";
    EXPECT_LT(alike(padding + code, padding + changed), duplicate);
}

INSTANTIATE_TEST_SUITE_P(
    Changes, ChangeOfCode,
    ::testing::Values(Change{"ANumber", "int n = 64", "int n = 65"}, Change{"ALaunch", "<<<8, 256>>>", "<<<8, 512>>>"},
                      Change{"AnUnrollFactor", "unroll 4", "unroll 8"}, Change{"ACallOfALibrary", "ncclPut", "ncclGet"},
                      Change{"ACallOfAnOwnFunction", "int); first(", "int); second("},
                      Change{"SwappedArguments", "int); first(to, from", "int); first(from, to"},
                      Change{"AType", "store(float4*", "store(float2*"},
                      Change{"ATypeInParentheses", "sizeof(unsigned int)", "sizeof(unsigned short)"},
                      Change{"AnOperator", "i < count", "i <= count"}, Change{"ABuiltIn", "+= blockDim", "+= gridDim"},
                      Change{"AMissingBarrier", "__syncthreads();", ""},
                      Change{"AQualifier", "const float4", "volatile float4"},
                      Change{"TheLastToken", "return 0; }", "return 0; };"}),
    [](const auto& change) { return std::string(change.param.what); });

TEST(SourceSimilarity, IsBelowTheThresholdForAnyNumberChangedInAnyWorkloadSource)
{
    const auto files = workloadSources();
    ASSERT_GE(files.size(), 10u);
    for (const auto& file : files) {
        const std::string text = *readFile(file, 1u << 20);
        const KernelSource source = parsed(text);
        const SourceSketch original = sketchOf(source);
        const EvolveBlock block = source.blocks().front();
        std::vector<std::size_t> numbers;
        CudaLexer lexer(source.text());
        for (Lexeme lexeme = lexer.next(); lexeme.kind != LexemeKind::end; lexeme = lexer.next())
            if (lexeme.kind == LexemeKind::number && lexeme.begin >= block.begin && lexeme.end <= block.end)
                numbers.push_back(lexeme.begin);
        ASSERT_GT(numbers.size(), 3u) << file;
        for (std::size_t i = 0; i < numbers.size(); i += 1 + numbers.size() / 5) {
            std::string changed = text;
            changed.insert(numbers[i], "7");
            EXPECT_LT(similarity(original, sketch(changed)), duplicate) << file << " at " << numbers[i];
        }
    }
}

TEST(SourceSimilarity, IsLowBetweenStrategiesThatDiffer)
{
    const auto files = workloadSources();
    for (std::size_t i = 1; i < files.size(); ++i)
        EXPECT_LT(similarity(sketch(*readFile(files[i - 1], 1u << 20)), sketch(*readFile(files[i], 1u << 20))), 0.9)
            << files[i];
}

TEST(SourceSimilarity, IsSymmetricAndWhatTheSignaturesEstimate)
{
    const auto files = workloadSources();
    for (std::size_t i = 0; i < files.size(); i += 3)
        for (std::size_t j = 0; j < files.size(); j += 2) {
            const auto a = sketch(*readFile(files[i], 1u << 20)), b = sketch(*readFile(files[j], 1u << 20));
            EXPECT_EQ(similarity(a, b), similarity(b, a));
            EXPECT_NEAR(estimatedSimilarity(a, b), similarity(a, b), 0.13) << files[i] << files[j];
        }
}

TEST(SourceSimilarity, CountsHowOftenARepeatedStatementIsThere)
{
    std::string four, five;
    for (int i = 0; i < 5; ++i)
        (i < 4 ? four : five) += "step(1);";
    EXPECT_LT(alike(four, four + five), 0.9);
}

TEST(SourceSimilarity, TakesAnEmptyBlockAndOneThatIsNoCode)
{
    EXPECT_EQ(alike("", "// nothing"), 1);
    EXPECT_LT(alike("", "int a;"), 0.7);
    EXPECT_EQ(alike("}}}) ]] , , struct { > > -> . * & (", "}}}) ]] , , struct { > > -> . * & ("), 1);
}

/// A program of `statements` calls, each with its own number; `variant` changes one of them.
std::string program(int family, int statements, int changed, int variant)
{
    std::string code;
    for (int i = 0; i < statements; ++i)
        code +=
            "call" + std::to_string(family) + "(x, " + std::to_string(i == changed ? 100'000 + variant : i) + ");\n";
    return blockOf(code);
}

/// Knows the sources that it was given again, and counts how many it is asked for.
struct Sources {
    std::map<std::string, std::string> texts;
    int asked = 0;

    void addTo(NoveltyIndex& index, const std::string& id, const std::string& text)
    {
        texts[id] = text;
        index.add(id, sketch(text));
    }
    std::optional<NoveltyMatch> duplicateIn(const NoveltyIndex& index, const std::string& text)
    {
        const auto match = index.duplicateOf(sketch(text), [this](const std::string& id) -> Result<SourceSketch> {
            ++asked;
            return sketch(texts.at(id));
        });
        EXPECT_TRUE(match) << describe(match.error());
        return match ? *match : std::nullopt;
    }
};

TEST(NoveltyIndex, FindsADuplicateUnderTenThousandSourcesAndNothingElse)
{
    NoveltyIndex index;
    Sources sources;
    for (int i = 0; i < 10'000; ++i)
        sources.addTo(index, "c" + std::to_string(i), program(i / 100, 12, i % 12, i % 100));
    EXPECT_EQ(index.size(), 10'000u);
    ProposalRandom random(1, 1);
    for (int round = 0; round < 200; ++round) {
        const int i = static_cast<int>(random.index(10'000));
        const std::string text = program(i / 100, 12, i % 12, i % 100);
        const auto match = sources.duplicateIn(index, replaced(text, "\n", "\n// tried again\n"));
        ASSERT_TRUE(match) << i;
        EXPECT_EQ(match->id, "c" + std::to_string(i));
        EXPECT_EQ(match->similarity, 1);
        EXPECT_FALSE(sources.duplicateIn(index, program(i / 100, 12, i % 12, 100 + i))) << i;
    }
    EXPECT_EQ(sources.asked, 0);
}

TEST(NoveltyIndex, ComparesInFullOnlyWhatIsNearTheThreshold)
{
    NoveltyIndex index(0.95);
    Sources sources;
    for (int i = 0; i < 200; ++i)
        sources.addTo(index, "c" + std::to_string(i), program(1, 100, i % 100, 1 + i / 100));
    const std::string near = replaced(program(1, 100, 5, 1), "call1(x, 60)", "call1(x, 61)");
    EXPECT_EQ(sources.duplicateIn(index, near)->id, "c5");
    EXPECT_LT(sources.asked, 150);
    sources.asked = 0;
    EXPECT_FALSE(sources.duplicateIn(index, program(1, 200, 150, 3)));
    EXPECT_EQ(sources.asked, 0);
}

TEST(NoveltyIndex, SaysWhyASourceCannotBeComparedWith)
{
    NoveltyIndex index(0.8);
    index.add("c0", sketch(program(1, 100, 5, 1)));
    const auto match = index.duplicateOf(sketch(program(1, 100, 5, 2)), [](const std::string&) -> Result<SourceSketch> {
        return failure("c0 is gone");
    });
    ASSERT_FALSE(match);
    EXPECT_EQ(match.error().what, "c0 is gone");
}

TEST(NoveltyIndex, FindsTheNearestAboveALowerThreshold)
{
    NoveltyIndex index(0.8);
    EXPECT_LT(index.rowsInBand(), NoveltyIndex().rowsInBand());
    Sources sources;
    sources.addTo(index, "far", program(1, 100, 3, 1));
    sources.addTo(index, "near", program(1, 100, 5, 1));
    sources.addTo(index, "other", program(2, 100, 5, 1));
    std::string text = program(1, 100, 5, 1);
    text = replaced(text, "call1(x, 60)", "call1(x, 61)");
    const auto match = sources.duplicateIn(index, text);
    ASSERT_TRUE(match);
    EXPECT_EQ(match->id, "near");
    EXPECT_DOUBLE_EQ(match->similarity, similarity(sketch(text), sketch(program(1, 100, 5, 1))));
}

TEST(NoveltyIndex, HardlyMissesADuplicateAtTheThreshold)
{
    NoveltyIndex index(0.9);
    Sources sources;
    constexpr int families = 400;
    for (int i = 0; i < families; ++i)
        sources.addTo(index, "c" + std::to_string(i), program(i, 300, -1, 0));
    int found = 0, duplicates = 0;
    for (int i = 0; i < families; ++i) {
        std::string changed = program(i, 300, -1, 0);
        for (int at = 0; at < 9; ++at)
            changed = replaced(changed, fmt::format("(x, {})", 30 * at + i % 30), "(x, 4711)");
        duplicates += similarity(sketch(changed), sketch(program(i, 300, -1, 0))) >= 0.9 ? 1 : 0;
        found += sources.duplicateIn(index, changed) ? 1 : 0;
    }
    EXPECT_EQ(duplicates, families);
    EXPECT_GE(found, families - 1);
}

TEST(NoveltyIndex, NamesTheFirstOfEqualOnes)
{
    NoveltyIndex index;
    Sources sources;
    EXPECT_FALSE(sources.duplicateIn(index, ring_source));
    sources.addTo(index, "c1", ring_source);
    sources.addTo(index, "c2", ring_source);
    EXPECT_EQ(sources.duplicateIn(index, ring_source)->id, "c1");
}

TEST(NormalisedTokens, HashAlikeOnEveryMachine)
{
    EXPECT_EQ(hashText("nccl"), 0x6788e39b24fd7fe7u);  // computed apart from this code
}

TEST(NoveltySettings, AreReadBackAsWrittenAndHaveASentenceForWhatCannotWork)
{
    const auto settings = noveltySettingsFromJson(toJson(NoveltySettings{0.9, 0.8, 3, 100, 1000}), "run.json");
    EXPECT_EQ(settings->embedding_cosine, 0.9);
    EXPECT_EQ(settings->shingle_similarity, 0.8);
    EXPECT_EQ(settings->attempts, 3);
    EXPECT_EQ(settings->embedded_sources, 100);
    EXPECT_EQ(settings->embedded_bytes, 1000);
    EXPECT_TRUE(validate(NoveltySettings{}));
    EXPECT_THAT(validate(NoveltySettings{.embedding_cosine = 2}).error().what,
                HasSubstr("novelty.embedding_cosine is 2"));
    EXPECT_THAT(validate(NoveltySettings{.shingle_similarity = 0.1}).error().what,
                HasSubstr("novelty.shingle_similarity is 0.1"));
    EXPECT_THAT(validate(NoveltySettings{.attempts = -1}).error().what, HasSubstr("novelty.attempts is -1"));
    EXPECT_THAT(validate(NoveltySettings{.embedded_sources = 0}).error().what,
                HasSubstr("novelty.embedded_sources is 0"));
}

}  // namespace
}  // namespace cuco
