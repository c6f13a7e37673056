// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/source/patch.h"
#include "tests/support/patch_samples.h"

#include <gmock/gmock.h>

namespace cuco {
namespace {

using namespace cuco::testing;
using ::testing::HasSubstr;

PatchFault readFault(const std::string& answer)
{
    const auto patch = readPatch(answer);
    EXPECT_FALSE(patch.has_value()) << answer.substr(0, 400);
    return patch ? PatchFault{} : patch.error();
}

TEST(PatchAnswer, EveryFormatOfTheSameChangeGivesTheSameSource)
{
    const std::string wanted = replaced(ring_source, "push<<<8", "push<<<16");
    for (const SampleAnswer& answer : answersThatLaunchSixteen()) {
        SCOPED_TRACE(answer.title);
        const auto patch = readPatch(answer.text);
        if (!patch) {
            ADD_FAILURE() << describe(patch.error());
            continue;
        }
        const auto patched = applyPatch(ringSource(), *patch);
        if (!patched) {
            ADD_FAILURE() << describe(patched.error());
            continue;
        }
        EXPECT_EQ(patched->source.text(), wanted);
        EXPECT_EQ(patched->edits.size(), 1u);
    }
}

TEST(PatchAnswer, SeveralBlocksWithProseBetweenAreReadInTheirOrder)
{
    const auto patch = readPatch("First:\n" + block("a;\n", "b;\n") + "then, to delete:\n```cuda\n" +
                                 block("c;\nd;\n", "") + "```\nand\n" + block("", "e;\n"));
    ASSERT_TRUE(patch.has_value());
    ASSERT_EQ(patch->edits.size(), 3u);
    EXPECT_EQ(patch->kind, PatchKind::diff);
    EXPECT_EQ(patch->edits[0].search, "a;\n");
    EXPECT_EQ(patch->edits[0].replace, "b;\n");
    EXPECT_EQ(patch->edits[0].answer_line, 2u);
    EXPECT_EQ(patch->edits[1].search, "c;\nd;\n");
    EXPECT_EQ(patch->edits[1].replace, "");
    EXPECT_EQ(patch->edits[1].answer_line, 9u);
    EXPECT_EQ(patch->edits[2].search, "");
}

TEST(PatchAnswer, OneEmptyLineIsNotNothing)
{
    const auto patch = readPatch(block("a;\n", "\n"));
    ASSERT_TRUE(patch.has_value());
    EXPECT_EQ(patch->edits[0].replace, "\n");
}

TEST(PatchAnswer, MarksOfOneLengthMayHoldCodeThatHasOtherMarks)
{
    const auto patch =
        readPatch("<<<<<<<<< SEARCH\n<<<<<<< SEARCH\n=======\n>>>>>>> REPLACE\n=========\nx;\n>>>>>>>>> R\n");
    ASSERT_TRUE(patch.has_value()) << describe(patch.error());
    ASSERT_EQ(patch->edits.size(), 1u);
    EXPECT_EQ(patch->edits[0].search, "<<<<<<< SEARCH\n=======\n>>>>>>> REPLACE\n");
    EXPECT_EQ(patch->edits[0].replace, "x;\n");
}

TEST(PatchAnswer, ALaunchThatBeginsALineIsNoMark)
{
    const auto patch = readPatch(block("push\n<<<8, 256>>>(a);\n", "push\n<<<16, 256\n>>>\n(a);\n"));
    ASSERT_TRUE(patch.has_value()) << describe(patch.error());
    EXPECT_EQ(patch->edits[0].replace, "push\n<<<16, 256\n>>>\n(a);\n");
    const auto rewrite = readPatch("```cuda\nf\n<<<\n8, 256\n>>>\n(a);\n```\n");
    ASSERT_TRUE(rewrite.has_value());
    EXPECT_EQ(rewrite->kind, PatchKind::full);
}

TEST(PatchAnswer, CarriesNameDescriptionAndDirective)
{
    const std::string tagged =
        "<NAME>\nwider_push\n</NAME>\n<DESCRIPTION>\nMore CTAs.\nThey hide latency.\n</DESCRIPTION>\n"
        "Directive: `// cuco: backend=lsa placement=split sync=peer issuer=cta chunk=0`\n<DIFF>\n" +
        block("a;\n", "b;\n") + "</DIFF>\n";
    const auto patch = readPatch(tagged);
    ASSERT_TRUE(patch.has_value());
    EXPECT_EQ(patch->name, "wider_push");
    EXPECT_EQ(patch->description, "More CTAs.\nThey hide latency.");
    EXPECT_EQ(patch->directive, "backend=lsa placement=split sync=peer issuer=cta chunk=0");

    const auto labelled =
        readPatch("**Name:** wider push\n## Description: more CTAs\n```cuda\n// name: no\nint a;\n```\n");
    ASSERT_TRUE(labelled.has_value());
    EXPECT_EQ(labelled->name, "wider push");
    EXPECT_EQ(labelled->description, "more CTAs");
    EXPECT_EQ(labelled->directive, "");
}

TEST(PatchAnswer, NamesAreCutBetweenCharacters)
{
    std::string name;
    for (int i = 0; i < 100; ++i) {
        name += "é";
    }
    const auto patch = readPatch("Name: x" + name + "\n" + block("a;\n", "b;\n"));
    ASSERT_TRUE(patch.has_value());
    EXPECT_EQ(patch->name.size(), 119u);
}

TEST(PatchAnswer, ACrossoverIsARewriteOfAnotherOrigin)
{
    const std::string answer = "```cuda\nint a;\n```\n";
    EXPECT_EQ(readPatch(answer, PatchKind::crossover)->kind, PatchKind::crossover);
    EXPECT_EQ(readPatch(answer, PatchKind::diff)->kind, PatchKind::full);
    EXPECT_EQ(readPatch(block("a;\n", "b;\n"), PatchKind::full)->kind, PatchKind::diff);
}

TEST(PatchAnswer, TheLargestFenceOfCodeWinsAndTheLastOfEquals)
{
    EXPECT_EQ(readPatch("```cuda\nint a;\n```\n```cuda\nint long_name;\n```\n")->code, "int long_name;\n");
    EXPECT_EQ(readPatch("```cuda\nint a;\n```\n```cuda\nint b;\n```\n")->code, "int b;\n");
    EXPECT_EQ(readPatch("```python\nprint('much longer than the other')\n```\n```cuda\nint b;\n```\n")->code,
              "int b;\n");
    EXPECT_EQ(readPatch("```\nerror: expected a semicolon somewhere in here\n```\n```cuda\nint b;\n```\n")->code,
              "int b;\n");
}

TEST(PatchAnswer, SaysWhatIsWrongWithAnAnswerThatHoldsNoWholePatch)
{
    struct Case {
        std::string title, answer;
        PatchFaultKind kind;
        std::string says;
    };
    const std::vector<Case> cases{
        {"nothing", "", PatchFaultKind::no_patch, "neither"},
        {"a refusal", "I cannot do that. The kernel is fast already.\n", PatchFaultKind::no_patch, "neither"},
        {"only a shell command", "```bash\nmake\n```\n", PatchFaultKind::no_patch, "neither"},
        {"code behind names, without a fence", "<NAME>a</NAME>\n<DESCRIPTION>b</DESCRIPTION>\nint a;\nint b;\nint c;\n",
         PatchFaultKind::no_patch, "code fence"},
        {"a unified diff", "```diff\n--- a.cu\n+++ b.cu\n@@ -1,2 +1,2 @@\n-int a;\n+int b;\n```\n",
         PatchFaultKind::unified_diff, "SEARCH/REPLACE"},
        {"no closing mark", "<<<<<<< SEARCH\na;\n=======\nb;\n", PatchFaultKind::cut_off, "line 1"},
        {"no divider at the end", "x\n<<<<<<< SEARCH\na;\n", PatchFaultKind::cut_off, "line 2"},
        {"no divider", "<<<<<<< SEARCH\na;\n>>>>>>> REPLACE\n", PatchFaultKind::malformed_block, "line 3"},
        {"two dividers", "<<<<<<< SEARCH\na;\n=======\nb;\n=======\nc;\n>>>>>>> REPLACE\n",
         PatchFaultKind::malformed_block, "3 and 5"},
        {"a block in a block", "<<<<<<< SEARCH\na;\n=======\nb;\n" + block("c;\n", "d;\n"),
         PatchFaultKind::malformed_block, "line 5"},
        {"a fence that is cut off", "```cuda\nint a;\nint b", PatchFaultKind::cut_off, "line 1"},
        {"thinking that is cut off", "<think>\n```cuda\nint a;\n```\n", PatchFaultKind::cut_off, "thinking"},
    };
    for (const Case& one : cases) {
        SCOPED_TRACE(one.title);
        const PatchFault fault = readFault(one.answer);
        EXPECT_EQ(toString(fault.kind), toString(one.kind)) << fault.message;
        EXPECT_THAT(fault.message, HasSubstr(one.says));
    }
}

TEST(PatchAnswer, NumbersTheBlockThatIsNotWhole)
{
    const PatchFault fault = readFault(block("a;\n", "b;\n") + "<<<<<<< SEARCH\nc;\n");
    EXPECT_EQ(fault.block, 2u);
    EXPECT_EQ(fault.answer_line, 6u);
    EXPECT_THAT(describe(fault), ::testing::StartsWith("Block 2: "));
}

TEST(PatchAnswer, RefusesAnswersBeyondItsLimits)
{
    EXPECT_EQ(readFault(std::string(max_answer_bytes + 1, 'x')).kind, PatchFaultKind::too_large);
    std::string many;
    for (std::size_t i = 0; i <= max_edits; ++i) {
        many += block("a;\n", "b;\n");
    }
    EXPECT_EQ(readFault(many).kind, PatchFaultKind::too_large);
    EXPECT_EQ(readPatch(many.substr(block("a;\n", "b;\n").size()))->edits.size(), max_edits);
}

}  // namespace
}  // namespace cuco
