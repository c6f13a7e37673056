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

std::expected<PatchedSource, PatchFault> rewritten(const std::string& original, const std::string& code,
                                                   bool fenced = true)
{
    Patch patch;
    patch.kind = PatchKind::full;
    patch.code = code;
    patch.fenced = fenced;
    patch.answer_line = 1;
    return applyPatch(KernelSource::parse(original).value(), patch);
}

PatchFault faultOf(const std::string& original, const std::string& code, bool fenced = true)
{
    const auto patched = rewritten(original, code, fenced);
    EXPECT_FALSE(patched.has_value()) << patched->source.text();
    return patched ? PatchFault{} : patched.error();
}

std::string textOf(const std::string& original, const std::string& code)
{
    const auto patched = rewritten(original, code);
    return patched ? patched->source.text() : describe(patched.error());
}

const std::string two_blocks =
    "head();\n// EVOLVE-BLOCK-START\na;\n// EVOLVE-BLOCK-END\nmiddle();\n// EVOLVE-BLOCK-START\nb;\n"
    "// EVOLVE-BLOCK-END\ntail();\n";

TEST(PatchRewrite, FrozenCodeThatDiffersIsRefusedWithItsLine)
{
    const std::string changed = replaced(ring_source, "candidate::run(state, *io", "candidate::run(state, *io, 1");
    const PatchFault fault = faultOf(ring_source, changed);
    EXPECT_EQ(fault.kind, PatchFaultKind::frozen_code);
    EXPECT_THAT(fault.lines, ElementsAre(29u));
    EXPECT_EQ(fault.answer_line, 29u);
    EXPECT_THAT(fault.message, HasSubstr("line 29 is `return candidate::run(state, *io, stream);`"));

    EXPECT_THAT(faultOf(ring_source, replaced(ring_source, "#include <nccl_device.h>\n", "")).lines, ElementsAre(3u));
    const PatchFault added = faultOf(ring_source, "#include <mma.h>\n" + ring_source);
    EXPECT_EQ(added.kind, PatchFaultKind::frozen_code);
    EXPECT_EQ(added.answer_line, 1u);
    EXPECT_THAT(faultOf(ring_source, ring_source + "int extra;\n").message, HasSubstr("the end of it"));
}

TEST(PatchRewrite, FrozenCodeThatDiffersIsRefusedWithoutAFenceToo)
{
    const std::string inside_changed = replaced(ring_source, "push<<<8", "push<<<16");
    for (const std::string& answer : {replaced(inside_changed, "nccl_device.h", "nccl.h"),
                                      replaced(inside_changed, "extern \"C\"", "extern"), "Here:\n" + inside_changed}) {
        const auto patched = rewritten(ring_source, answer, false);
        EXPECT_EQ(patched.has_value(), answer.starts_with("Here"));
        if (!patched) {
            EXPECT_EQ(patched.error().kind, PatchFaultKind::frozen_code);
            EXPECT_EQ(patched.error().lines.size(), 1u);
        }
    }
}

TEST(PatchRewrite, AWholeSourceThatLostItsMarkersAndChangedFrozenCodeIsNotTakenForTheInside)
{
    std::string whole = replaced(ring_source, "// EVOLVE-BLOCK-START ring\n", "");
    whole = replaced(whole, "// EVOLVE-BLOCK-END\n", "");
    const PatchFault tail = faultOf(ring_source, replaced(whole, "extern \"C\" int", "extern \"C\" long"));
    EXPECT_EQ(tail.kind, PatchFaultKind::frozen_code);
    EXPECT_EQ(faultOf(ring_source, replaced(whole, "<nccl_device.h>", "<nccl.h>")).kind, PatchFaultKind::frozen_code);
}

TEST(PatchRewrite, ABraceThatEndsBothTheInsideAndTheSourceStaysInTheInside)
{
    const std::string original = "namespace a {\n// EVOLVE-BLOCK-START\nx;\n// EVOLVE-BLOCK-END\n}\n";
    EXPECT_EQ(textOf(original, "void f()\n{\n}\n"), replaced(original, "x;\n", "void f()\n{\n}\n"));
    EXPECT_EQ(textOf(original, "namespace a {\nvoid f()\n{\n}\n}\n"), replaced(original, "x;\n", "void f()\n{\n}\n"));
}

TEST(PatchRewrite, MarkersMustBeThoseOfTheSource)
{
    const std::string start = "// EVOLVE-BLOCK-START\n", end = "// EVOLVE-BLOCK-END\n";
    EXPECT_EQ(faultOf(ring_source, start + "a;\n" + end + start + "b;\n" + end).kind, PatchFaultKind::evolve_markers);
    EXPECT_EQ(faultOf(ring_source, end + "a;\n" + start).kind, PatchFaultKind::evolve_markers);
    EXPECT_EQ(faultOf(ring_source, start + start + end).kind, PatchFaultKind::evolve_markers);
    EXPECT_EQ(faultOf(ring_source, start + "a;\n").kind, PatchFaultKind::cut_off);
    EXPECT_EQ(faultOf(two_blocks, "a;\nb;\n").kind, PatchFaultKind::evolve_markers);
}

TEST(PatchRewrite, SeveralBlocksAreToldApartByTheirMarkers)
{
    const std::string wanted = replaced(replaced(two_blocks, "a;\n", "c;\n"), "b;\n", "d;\n");
    EXPECT_EQ(textOf(two_blocks, wanted), wanted);
    EXPECT_EQ(textOf(two_blocks,
                     "// EVOLVE-BLOCK-START\nc;\n// EVOLVE-BLOCK-END\n// ...\n//EVOLVE-BLOCK-START\nd;\n"
                     "//EVOLVE-BLOCK-END\n"),
              wanted);
    const auto patched = rewritten(two_blocks, replaced(two_blocks, "b;\n", "d;\ne;\n"));
    ASSERT_TRUE(patched.has_value());
    ASSERT_EQ(patched->edits.size(), 1u);
    EXPECT_EQ(patched->edits[0].evolve_block, 1u);
    EXPECT_EQ(patched->edits[0].line, 7u);
    EXPECT_EQ(patched->edits[0].added_lines, 2u);
    EXPECT_THAT(faultOf(two_blocks, replaced(wanted, "middle()", "other()")).lines, ElementsAre(5u));
}

TEST(PatchRewrite, FrozenBytesAreTheOriginalsWhateverTheAnswersLayout)
{
    std::string squeezed;
    for (const char c : replaced(ring_source, "return 0;", "return 1;")) {
        squeezed += c;
        squeezed += c == ';' ? "\n\n  " : "";
    }
    const auto patched = rewritten(ring_source, squeezed);
    ASSERT_TRUE(patched.has_value()) << describe(patched.error());
    EXPECT_TRUE(compareFrozen(ringSource(), patched->source).has_value());
}

TEST(PatchRewrite, ABlockThatIsNotWrittenOutIsRefused)
{
    const PatchFault fault = faultOf(ring_source, "int a;\n// ... rest of the kernel unchanged ...\nint b;\n");
    EXPECT_EQ(fault.kind, PatchFaultKind::elided_code);
    EXPECT_EQ(fault.answer_line, 2u);
    EXPECT_EQ(faultOf(ring_source, "int a;\n// (rest of code unchanged)\n").kind, PatchFaultKind::elided_code);
    EXPECT_EQ(faultOf(ring_source, "int a;\n// ...\n").kind, PatchFaultKind::elided_code);
}

TEST(PatchRewrite, NoCodeAndNoChangeAreRefused)
{
    EXPECT_EQ(faultOf(ring_source, "\n \n").kind, PatchFaultKind::no_patch);
    EXPECT_EQ(faultOf(ring_source, "// EVOLVE-BLOCK-START\n\n// EVOLVE-BLOCK-END\n").kind, PatchFaultKind::no_patch);
    EXPECT_EQ(faultOf(ring_source, ring_source).kind, PatchFaultKind::no_change);
    EXPECT_EQ(faultOf(ring_source, withWindowsLineEnds(ring_source)).kind, PatchFaultKind::no_change);
    EXPECT_EQ(faultOf(ring_source, "int a; /* open\n").kind, PatchFaultKind::broken_source);
}

}  // namespace
}  // namespace cuco
