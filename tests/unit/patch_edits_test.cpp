// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/source/patch.h"
#include "tests/support/patch_samples.h"

#include <gmock/gmock.h>

namespace cuco {
namespace {

using namespace cuco::testing;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::expected<PatchedSource, PatchFault> applied(const std::string& original, const std::string& answer)
{
    const auto patch = readPatch(answer);
    return patch ? applyPatch(KernelSource::parse(original).value(), *patch) : std::unexpected(patch.error());
}

std::string textOf(const std::string& original, const std::string& answer)
{
    const auto patched = applied(original, answer);
    return patched ? patched->source.text() : describe(patched.error());
}

PatchFault faultOf(const std::string& original, const std::string& answer)
{
    const auto patched = applied(original, answer);
    EXPECT_FALSE(patched.has_value()) << answer;
    return patched ? PatchFault{} : patched.error();
}

std::string withBlock(const std::string& inside)
{
    return "frozen();\n// EVOLVE-BLOCK-START\n" + inside + "// EVOLVE-BLOCK-END\ntail();\n";
}

TEST(PatchEdits, AreAppliedInTheirOrderEachToWhatThoseBeforeHaveLeft)
{
    EXPECT_EQ(textOf(withBlock("a;\n"), block("a;\n", "b;\nc;\n") + block("c;\n", "d;\n")), withBlock("b;\nd;\n"));
}

TEST(PatchEdits, AreAllOrNothing)
{
    const PatchFault fault = faultOf(withBlock("a;\n"), block("a;\n", "b;\n") + block("a;\n", "c;\n"));
    EXPECT_EQ(fault.kind, PatchFaultKind::not_found);
    EXPECT_EQ(fault.block, 2u);
}

TEST(PatchEdits, AnEmptyReplaceDeletesLines)
{
    EXPECT_EQ(textOf(withBlock("a;\nb;\nc;\n"), block("b;\n", "")), withBlock("a;\nc;\n"));
    EXPECT_EQ(textOf(withBlock("a;\n"), block("a;\n", "")), withBlock(""));
}

TEST(PatchEdits, AnEmptySearchFillsAnEmptyBlockAndIsRefusedElsewhere)
{
    EXPECT_EQ(textOf(withBlock(""), block("", "a;\n")), withBlock("a;\n"));
    EXPECT_EQ(textOf(withBlock("\n  \n"), block("\n", "a;\n")), withBlock("a;\n"));
    const PatchFault fault = faultOf(withBlock("a;\n"), block("", "b;\n"));
    EXPECT_EQ(fault.kind, PatchFaultKind::empty_search);
    EXPECT_THAT(fault.message, HasSubstr("To insert"));
    EXPECT_EQ(faultOf(withBlock("") + withBlock(""), block("", "a;\n")).kind, PatchFaultKind::empty_search);
}

TEST(PatchEdits, ReportWhatTheyDid)
{
    const auto patched = applied(ring_source, block("CUCO_TUNE(push_threads, 256, 128, 256, 512);  \n", "") +
                                                  block("target[i] = source[i];\n", "a;\nb;\n"));
    ASSERT_TRUE(patched.has_value());
    ASSERT_EQ(patched->edits.size(), 2u);
    EXPECT_EQ(patched->edits[0].line, 10u);
    EXPECT_EQ(patched->edits[0].removed_lines, 1u);
    EXPECT_EQ(patched->edits[0].added_lines, 0u);
    EXPECT_EQ(patched->edits[0].tolerance, MatchTolerance::trailing_blanks);
    EXPECT_EQ(patched->edits[1].line, 15u);
    EXPECT_EQ(patched->edits[1].added_lines, 2u);
    EXPECT_EQ(patched->edits[1].tolerance, MatchTolerance::indentation);
    EXPECT_THAT(patched->source.text(), HasSubstr("\n        a;\n        b;\n"));
}

TEST(PatchEdits, AnExactPlaceIsPreferredToOneThatNeedsTolerance)
{
    EXPECT_EQ(textOf(withBlock("  a;\na; \na;\n"), block("a;\n", "b;\n")), withBlock("  a;\na; \nb;\n"));
    EXPECT_EQ(textOf(withBlock("  a;\na; \n"), block("a;\n", "b;\n")), withBlock("  a;\nb;\n"));
}

TEST(PatchEdits, IndentationIsShiftedAlikeInAllLinesOfReplace)
{
    const std::string original = withBlock("void f()\n{\n    if (x)\n\n        y();\n}\n");
    EXPECT_EQ(textOf(original, block("if (x)\n\n    y();\n", "if (z) {\n\n    y();\n}\n")),
              withBlock("void f()\n{\n    if (z) {\n\n        y();\n    }\n}\n"));
    EXPECT_EQ(textOf(withBlock("\tif (x)\n\t\ty();\n"), block("if (x)\n\ty();\n", "w();\n")), withBlock("\tw();\n"));
    EXPECT_EQ(textOf(withBlock("a;\n  b;\n"), block("\n", "c;\n") + block("    a;\n      b;\n", "    c;\n")),
              "Block 1: SEARCH is empty, which says where only when an evolve block is empty. To insert, put the line "
              "before or after the place into SEARCH, and repeat it in REPLACE.");
    EXPECT_EQ(textOf(withBlock("a;\n  b;\n"), block("    a;\n      b;\n", "    c;\n")), withBlock("c;\n"));
}

TEST(PatchEdits, IndentationThatDiffersFromLineToLineIsNotGuessed)
{
    const PatchFault fault = faultOf(withBlock("if (x)\n    y();\n"), block("  if (x)\n    y();\n", "z();\n"));
    EXPECT_EQ(fault.kind, PatchFaultKind::not_found);
    EXPECT_THAT(fault.message, HasSubstr("indentation differ"));
    EXPECT_THAT(fault.lines, ElementsAre(3u));
    EXPECT_EQ(faultOf(withBlock("\tif (x)\n\ty();\n"), block("    if (x)\n    y();\n", "z();\n")).kind,
              PatchFaultKind::not_found);
    // REPLACE must have the indentation that is taken away.
    EXPECT_EQ(faultOf(withBlock("a;\n"), block("    a;\n", "b;\n")).kind, PatchFaultKind::not_found);
}

TEST(PatchEdits, ASearchThatIsFoundTwiceIsRefusedWithItsPlaces)
{
    const PatchFault fault = faultOf(withBlock("a;\nb;\na;\n"), block("a;\n", "c;\n"));
    EXPECT_EQ(fault.kind, PatchFaultKind::ambiguous);
    EXPECT_THAT(fault.lines, ElementsAre(3u, 5u));
    EXPECT_THAT(fault.message, HasSubstr("2 times, at line 3, line 5"));
    EXPECT_EQ(faultOf(withBlock("a;\na;\na;\n"), block("a;\na;\n", "c;\n")).kind, PatchFaultKind::ambiguous);
    EXPECT_EQ(faultOf(withBlock(" a;\n  a;\n"), block("a;\n", "c;\n")).kind, PatchFaultKind::ambiguous);
}

TEST(PatchEdits, AFaultNamesLinesOfTheOriginalWhateverEarlierBlocksMoved)
{
    const PatchFault fault =
        faultOf(withBlock("x;\na;\na;\n"), block("x;\n", "x1;\nx2;\na;\n") + block("a;\n", "c;\n"));
    EXPECT_THAT(fault.lines, ElementsAre(4u, 5u));
    EXPECT_THAT(fault.message, HasSubstr("a line that block 1 wrote, line 4, line 5"));
}

TEST(PatchEdits, ASearchThatIsNowhereNamesTheLineThatDiffers)
{
    const PatchFault fault = faultOf(ring_source, block("__global__ void push(float* target, const float* source, "
                                                        "size_t count)\n{\n    const int thread = threadIdx.x;\n",
                                                        "x;\n"));
    EXPECT_EQ(fault.kind, PatchFaultKind::not_found);
    EXPECT_THAT(fault.lines, ElementsAre(12u, 14u));
    EXPECT_THAT(fault.message, HasSubstr("line 14, which is `const size_t thread = blockIdx.x * blockDim.x + "
                                         "threadIdx.x;` where SEARCH has `const int thread = threadIdx.x;`"));
}

TEST(PatchEdits, ASearchWhoseFirstLineIsNowhereNamesTheNearest)
{
    const PatchFault fault = faultOf(ring_source, block("CUCO_TUNE(push_threads, 512, 128, 256, 512);\n", "x;\n"));
    EXPECT_EQ(fault.kind, PatchFaultKind::not_found);
    EXPECT_THAT(fault.lines, ElementsAre(10u));
    EXPECT_THAT(fault.message, HasSubstr("The nearest is line 10, `CUCO_TUNE(push_threads, 256"));
    EXPECT_THAT(faultOf(ring_source, block("zzz\n", "x;\n")).message, HasSubstr("Nothing there is like it"));
}

TEST(PatchEdits, CodeOutsideTheBlocksIsFrozen)
{
    const PatchFault outside = faultOf(ring_source, block("#include <nccl_device.h>\n", "#include <mma.h>\n"));
    EXPECT_EQ(outside.kind, PatchFaultKind::frozen_code);
    EXPECT_THAT(outside.lines, ElementsAre(3u));
    EXPECT_THAT(outside.message, HasSubstr("only lines 9–24 may change"));

    const PatchFault across = faultOf(ring_source, block("    return 0;\n}\n// EVOLVE-BLOCK-END\n", "}\n"));
    EXPECT_EQ(across.kind, PatchFaultKind::frozen_code);
    EXPECT_THAT(across.lines, ElementsAre(25u));

    const std::string marker = "// EVOLVE-BLOCK-START ring\n";
    EXPECT_EQ(faultOf(ring_source, block(marker, marker + "int a;\n")).kind, PatchFaultKind::frozen_code);
}

TEST(PatchEdits, TheSameTextOutsideDoesNotMakeAPlaceInsideAmbiguous)
{
    EXPECT_EQ(textOf("a;\n" + withBlock("a;\n"), block("a;\n", "b;\n")), "a;\n" + withBlock("b;\n"));
}

TEST(PatchEdits, MarkersCannotBeWritten)
{
    for (const char* marker : {"// EVOLVE-BLOCK-END\n", "//EVOLVE-BLOCK-START\n", "  // EVOLVE-BLOCK-START b\n"}) {
        EXPECT_EQ(faultOf(withBlock("a;\n"), block("a;\n", marker)).kind, PatchFaultKind::evolve_markers) << marker;
    }
}

TEST(PatchEdits, FrozenCodeCannotBeSwitchedOffFromInside)
{
    for (const char* text : {"/* open\n", "#if 0\n", "auto s = R\"x(\n", "// goes on \\\n", "#endif\n"}) {
        EXPECT_EQ(faultOf(withBlock("a;\n"), block("a;\n", text)).kind, PatchFaultKind::broken_source) << text;
    }
    EXPECT_EQ(faultOf(withBlock("a;\n"), block("a;\n", std::string("b\0;\n", 4))).kind, PatchFaultKind::broken_source);
}

TEST(PatchEdits, ACommentThatStandsForCodeIsRefused)
{
    const PatchFault fault = faultOf(withBlock("a;\nb;\n"), block("a;\nb;\n", "a;\n// ... existing code ...\n"));
    EXPECT_EQ(fault.kind, PatchFaultKind::elided_code);
    // Unless the source has it.
    EXPECT_EQ(textOf(withBlock("// ... same as above\nb;\n"),
                     block("// ... same as above\nb;\n", "// ... same as above\nc;\n")),
              withBlock("// ... same as above\nc;\n"));
    EXPECT_EQ(textOf(withBlock("a;\n"), block("a;\n", "// The rest of the rows...\nb;\n")),
              withBlock("// The rest of the rows...\nb;\n"));
}

TEST(PatchEdits, APatchThatChangesNothingIsRefused)
{
    EXPECT_EQ(faultOf(withBlock("a;\n"), block("a;\n", "a;\n")).kind, PatchFaultKind::no_change);
}

TEST(PatchEdits, TheSourceKeepsItsKindOfLineEnd)
{
    EXPECT_EQ(textOf(withWindowsLineEnds(withBlock("a;\nb;\n")), block("a;\n", "c;\nd;\n")),
              withWindowsLineEnds(withBlock("c;\nd;\nb;\n")));
    const std::string no_end = withBlock("a;\n") + "x";
    EXPECT_EQ(textOf(no_end, block("a;\n", "b;\n")), withBlock("b;\n") + "x");
}

TEST(PatchEdits, EachOfSeveralEvolveBlocksMayChange)
{
    const std::string original = withBlock("a;\n") + withBlock("b;\n");
    EXPECT_EQ(textOf(original, block("a;\n", "a1;\na2;\n") + block("b;\n", "")),
              withBlock("a1;\na2;\n") + withBlock(""));
    EXPECT_EQ(applied(original, block("b;\n", "c;\n"))->edits[0].evolve_block, 1u);
}

TEST(PatchEdits, ResultsHaveALimitOfLines)
{
    EXPECT_EQ(faultOf(withBlock("a;\n"), block("a;\n", std::string(max_patched_lines, '\n'))).kind,
              PatchFaultKind::too_large);
}

}  // namespace
}  // namespace cuco
