// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/files.h"
#include "core/source/patch.h"
#include "tests/support/patch_samples.h"

#include <gmock/gmock.h>

#include <filesystem>

namespace cuco {
namespace {

using namespace cuco::testing;
using ::testing::HasSubstr;

KernelSource parsed(const std::string& text)
{
    return KernelSource::parse(text).value();
}

std::string inBlock(const std::string& inside)
{
    return "// EVOLVE-BLOCK-START\n" + inside + "// EVOLVE-BLOCK-END\n";
}

void expectRoundTrip(const std::string& from, const std::string& to)
{
    const auto answer = writeSearchReplace(parsed(from), parsed(to));
    ASSERT_TRUE(answer.has_value()) << from << to;
    const auto patch = readPatch(*answer);
    ASSERT_TRUE(patch.has_value()) << *answer;
    const auto patched = applyPatch(parsed(from), *patch);
    ASSERT_TRUE(patched.has_value()) << describe(patched.error());
    EXPECT_EQ(patched->source.text(), to);
}

TEST(PatchWrite, TheDifferenceOfTwoSourcesAppliesAsSearchReplace)
{
    expectRoundTrip(ring_source, replaced(ring_source, "push<<<8", "push<<<16"));
    expectRoundTrip(inBlock(""), inBlock("a;\n"));
    expectRoundTrip(inBlock("a;\n"), inBlock(""));
    expectRoundTrip(inBlock("\n\n"), inBlock("\n"));
    expectRoundTrip(inBlock("a;\na;\na;\n"), inBlock("a;\na;\n"));
    expectRoundTrip(inBlock("a;\n") + inBlock("b;\n"), inBlock("a;\na;\n") + inBlock("b;\na;\n"));
    expectRoundTrip(withWindowsLineEnds(inBlock("a;\nb;\n")), withWindowsLineEnds(inBlock("c;\nb;\n")));
}

TEST(PatchWrite, CodeThatLooksLikeMarksIsNotTakenForThem)
{
    expectRoundTrip(inBlock("/*\n=======\n>>>>>>> REPLACE\n*/\na;\n"),
                    inBlock("/*\n=======\n<<<<<<< SEARCH\n*/\na;\n"));
}

TEST(PatchWrite, EveryStrategyCanBeMadeOfItsSeed)
{
    int pairs = 0;
    for (const auto& workload : std::filesystem::directory_iterator(CUCO_TEST_ROOT "/workloads")) {
        const auto seed = readFile(workload.path() / "seed_lsa.cu");
        if (!seed || !std::filesystem::is_directory(workload.path() / "strategies")) {
            continue;
        }
        for (const auto& strategy : std::filesystem::directory_iterator(workload.path() / "strategies")) {
            if (strategy.path().extension() == ".cu") {
                SCOPED_TRACE(strategy.path().string());
                expectRoundTrip(*seed, readFile(strategy.path()).value());
                ++pairs;
            }
        }
    }
    EXPECT_GT(pairs, 3);
}

TEST(PatchWrite, WritesOnlyWhatChangedWithItsSurroundings)
{
    const auto answer = writeSearchReplace(ringSource(), parsed(replaced(ring_source, "push<<<8", "push<<<16")));
    ASSERT_TRUE(answer.has_value());
    EXPECT_THAT(*answer, HasSubstr("push<<<8"));
    EXPECT_THAT(*answer, ::testing::Not(HasSubstr("CUCO_TUNE")));
}

TEST(PatchWrite, GivesNothingWhereNoSearchCanTellThePlaces)
{
    EXPECT_FALSE(
        writeSearchReplace(parsed(inBlock("a;\n") + inBlock("a;\n")), parsed(inBlock("b;\n") + inBlock("a;\n"))));
    EXPECT_FALSE(writeSearchReplace(parsed(inBlock("a;\n") + "x;\n"), parsed(inBlock("b;\n") + "y;\n")));
    EXPECT_FALSE(writeSearchReplace(parsed(inBlock("a;\n")), parsed(inBlock("a;\n"))));
}

}  // namespace
}  // namespace cuco
