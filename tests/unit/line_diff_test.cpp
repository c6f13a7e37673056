// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/source/line_diff.h"

#include "core/source/word_diff.h"

#include <gmock/gmock.h>

#include <random>

namespace cuco {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;

/// One text a row: "=1:1 a", "~2:2 b|c", "-3 d", "+3 e".
std::vector<std::string> rowsOf(const LineDiff& diff)
{
    std::vector<std::string> texts;
    for (const DiffRow& row : diff.rows) {
        const std::string left(row.left), right(row.right);
        switch (row.kind) {
            case DiffRowKind::equal:
                texts.push_back("=" + std::to_string(row.left_line) + ":" + std::to_string(row.right_line) + " " +
                                left);
                break;
            case DiffRowKind::changed:
                texts.push_back("~" + std::to_string(row.left_line) + ":" + std::to_string(row.right_line) + " " +
                                left + "|" + right);
                break;
            case DiffRowKind::removed:
                texts.push_back("-" + std::to_string(row.left_line) + " " + left);
                break;
            case DiffRowKind::added:
                texts.push_back("+" + std::to_string(row.right_line) + " " + right);
                break;
        }
    }
    return texts;
}

LineDiff diffOf(std::string_view left, std::string_view right, DiffOptions options = {})
{
    auto diff = diffLines(left, right, options);
    EXPECT_TRUE(diff.has_value());
    return diff.value_or(LineDiff{});
}

std::vector<std::string> cut(std::string_view line, const std::vector<TextSpan>& spans)
{
    std::vector<std::string> parts;
    for (const TextSpan& span : spans) {
        parts.emplace_back(
            line.substr(static_cast<std::size_t>(span.begin), static_cast<std::size_t>(span.end - span.begin)));
    }
    return parts;
}

TEST(LineDiff, OfEqualTextsHasOnlyEqualRows)
{
    const auto diff = diffOf("a\nb\n", "a\nb\n");
    EXPECT_THAT(rowsOf(diff), ElementsAre("=1:1 a", "=2:2 b"));
    EXPECT_THAT(diff.hunks, IsEmpty());
    EXPECT_EQ(diff.added + diff.removed, 0);
}

TEST(LineDiff, HandlesEmptyTexts)
{
    EXPECT_THAT(rowsOf(diffOf("", "")), IsEmpty());
    EXPECT_THAT(rowsOf(diffOf("", "a\nb")), ElementsAre("+1 a", "+2 b"));
    EXPECT_THAT(rowsOf(diffOf("a\nb", "")), ElementsAre("-1 a", "-2 b"));
    EXPECT_THAT(rowsOf(diffOf({}, "\n")), ElementsAre("+1 "));
}

TEST(LineDiff, ShowsRemovedAddedAndChangedLines)
{
    const auto diff = diffOf("a\ngone\nint rows = 4;\nz\n", "new\na\nint rows = 8;\nz\nmore\n");
    EXPECT_THAT(rowsOf(diff),
                ElementsAre("+1 new", "=1:2 a", "-2 gone", "~3:3 int rows = 4;|int rows = 8;", "=4:4 z", "+5 more"));
    EXPECT_THAT(diff.hunks, ElementsAre(Pair(0, 0), Pair(2, 3), Pair(5, 5)));
    EXPECT_EQ(diff.added, 3);
    EXPECT_EQ(diff.removed, 2);
}

TEST(LineDiff, MarksTheWordsThatDifferInAChangedLine)
{
    const auto diff = diffOf("launch<<<grid, block>>>(a, b);\n", "launch<<<grid, threads>>>(a, c, b);\n");
    ASSERT_EQ(diff.rows.size(), 1u);
    EXPECT_THAT(cut(diff.rows[0].left, diff.rows[0].left_changes), ElementsAre("block"));
    EXPECT_THAT(cut(diff.rows[0].right, diff.rows[0].right_changes), ElementsAre("threads", ", c"));
}

TEST(LineDiff, PairsTheLinesThatAreAlike)
{
    const auto diff = diffOf("x = first(a, b);\ny = second(c, d);\n", "other line\ny = second(c, e);\n");
    EXPECT_THAT(rowsOf(diff),
                ElementsAre("-1 x = first(a, b);", "+1 other line", "~2:2 y = second(c, d);|y = second(c, e);"));
}

TEST(LineDiff, HandlesAMissingFinalNewline)
{
    const auto diff = diffOf("a\nb", "a\nb\n");
    EXPECT_THAT(rowsOf(diff), ElementsAre("=1:1 a", "~2:2 b|b"));
    EXPECT_THAT(diff.rows[1].left_changes, IsEmpty());
    EXPECT_THAT(rowsOf(diffOf("a\nb", "a\nb")), ElementsAre("=1:1 a", "=2:2 b"));
    EXPECT_THAT(rowsOf(diffOf("a", "a\nb")), ElementsAre("~1:1 a|a", "+2 b"));
}

TEST(LineDiff, HandlesWindowsLineEnds)
{
    EXPECT_THAT(rowsOf(diffOf("a\r\nb\r\n", "a\r\nc\r\n")), ElementsAre("=1:1 a", "-2 b", "+2 c"));
    EXPECT_THAT(rowsOf(diffOf("a\r\n", "a\n")), ElementsAre("~1:1 a|a"));
    EXPECT_THAT(rowsOf(diffOf("a\r\n", "a\n", {true})), ElementsAre("=1:1 a"));
}

TEST(LineDiff, CanIgnoreWhiteSpace)
{
    EXPECT_THAT(rowsOf(diffOf("a  b\n\tx\n", "a b\nx\n", {true})), ElementsAre("=1:1 a  b", "=2:2 \tx"));
    const auto diff = diffOf("f( a, b );\n", "f(a, c);\n", {true});
    ASSERT_EQ(diff.rows.size(), 1u);
    EXPECT_THAT(cut(diff.rows[0].left, diff.rows[0].left_changes), ElementsAre("b"));
    EXPECT_THAT(cut(diff.rows[0].right, diff.rows[0].right_changes), ElementsAre("c"));
}

TEST(LineDiff, TakesBinaryBytesAsText)
{
    const std::string left("a\0b\n\xff\n", 6), right("a\0c\n\xff\n", 6);
    const auto diff = diffOf(left, right);
    ASSERT_EQ(diff.rows.size(), 2u);
    EXPECT_EQ(diff.rows[1].kind, DiffRowKind::equal);
}

TEST(LineDiff, RefusesGiantTexts)
{
    EXPECT_FALSE(diffLines(std::string((64 << 20) + 1, 'x'), "").has_value());
}

/// The left lines of the rows must be the left text, the right ones the right text.
void expectBothTexts(const LineDiff& diff, const std::string& left, const std::string& right)
{
    std::string left_text, right_text;
    int left_lines = 0, right_lines = 0, added = 0, removed = 0;
    for (const DiffRow& row : diff.rows) {
        if (row.left_line != 0) {
            ASSERT_EQ(row.left_line, ++left_lines);
            left_text += std::string(row.left) + "\n";
            removed += row.kind != DiffRowKind::equal;
        }
        if (row.right_line != 0) {
            ASSERT_EQ(row.right_line, ++right_lines);
            right_text += std::string(row.right) + "\n";
            added += row.kind != DiffRowKind::equal;
        }
        if (row.kind == DiffRowKind::equal) {
            ASSERT_EQ(row.left, row.right);
        }
    }
    ASSERT_EQ(left_text, left);
    ASSERT_EQ(right_text, right);
    ASSERT_EQ(diff.added, added);
    ASSERT_EQ(diff.removed, removed);
}

TEST(LineDiff, HoldsBothTextsWhole_ForRandomEdits)
{
    std::mt19937 random(7);
    const auto draw = [&](int to) { return std::uniform_int_distribution(0, to)(random); };
    for (int repeat = 0; repeat < 100; ++repeat) {
        std::string left, right;
        for (int line = draw(30); line > 0; --line) {
            const std::string text = "word" + std::to_string(draw(5)) + " = call(" + std::to_string(draw(5)) + ");\n";
            const int fate = draw(9);
            left += fate == 0 ? "" : text;
            right += fate == 1 ? "" : fate == 2 ? "changed " + text : text;
        }
        expectBothTexts(diffOf(left, right), left, right);
    }
}

TEST(LineDiff, StaysBoundedOnHugeChangesAndLongLines)
{
    std::string left, right;
    for (int i = 0; i < 5000; ++i) {
        left += "left " + std::to_string(i) + " of a block\n";
        right += "right " + std::to_string(i) + " of a block\n";
    }
    std::string long_left, long_right;
    for (int i = 0; i < 20'000; ++i) {
        long_left += "a" + std::to_string(i) + " ";
        long_right += "b" + std::to_string(i) + " ";
    }
    left += long_left + "same\n";
    right += long_right + "same\n";
    expectBothTexts(diffOf(left, right), left, right);
}

TEST(WordDiff, StopsAtItsBudget)
{
    const LineWords left = splitWords("x a b c y"), right = splitWords("x c b a y");
    std::int64_t budget = 0;
    const auto coarse = changedWords(left, right, false, budget);
    EXPECT_THAT(coarse.left, ElementsAre(TextSpan{2, 7}));
    EXPECT_THAT(coarse.right, ElementsAre(TextSpan{2, 7}));
    budget = 1000;
    changedWords(left, right, false, budget);
    EXPECT_EQ(budget, 1000 - 25);
}

TEST(UnifiedDiff, HasNamesAndThreeLinesOfContext)
{
    const auto diff = unifiedDiff("1\n2\n3\n4\n5\n6\n", "1\n2\n3\n4\nfive\n6\n", "old\n.cu", "new.cu");
    EXPECT_EQ(diff.value(), "--- old .cu\n+++ new.cu\n@@ -2,5 +2,5 @@\n 2\n 3\n 4\n-5\n+five\n 6\n");
}

TEST(UnifiedDiff, IsEmptyForEqualTextsAndMarksAMissingNewline)
{
    EXPECT_EQ(unifiedDiff("a\n", "a\n", "a", "b").value(), "");
    EXPECT_THAT(unifiedDiff("a", "a\n", "a", "b").value(), HasSubstr("\\ No newline at end of file"));
}

}  // namespace
}  // namespace cuco
