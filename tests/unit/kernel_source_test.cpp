// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/source/kernel_source.h"

#include "core/source/cuda_lexer.h"

#include <gmock/gmock.h>

namespace cuco {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

const std::string two_blocks =
    "// head\n"
    "// EVOLVE-BLOCK-START\n"
    "int a;\n"
    "int b;\n"
    "// EVOLVE-BLOCK-END\n"
    "frozen();\n"
    "    // EVOLVE-BLOCK-START second\n"
    "    // EVOLVE-BLOCK-END of it\n"
    "tail();";

SourceFault faultOf(const std::string& text)
{
    auto source = KernelSource::parse(text);
    EXPECT_FALSE(source.has_value()) << text;
    return source ? SourceFault{} : source.error();
}

TEST(KernelSource, FindsBlocksAndFrozenSegments)
{
    const auto source = KernelSource::parse(two_blocks);
    ASSERT_TRUE(source.has_value()) << source.error().message;
    ASSERT_EQ(source->blocks().size(), 2u);
    EXPECT_EQ(source->blockText(0), "int a;\nint b;\n");
    EXPECT_EQ(source->blocks()[0].first_line, 3u);
    EXPECT_EQ(source->blocks()[0].last_line, 4u);
    EXPECT_EQ(source->blockText(1), "");
    EXPECT_EQ(source->blocks()[1].first_line, 8u);
    EXPECT_EQ(source->blocks()[1].last_line, 7u);
    EXPECT_THAT(source->frozenSegments(),
                ElementsAre("// head\n// EVOLVE-BLOCK-START\n",
                            "// EVOLVE-BLOCK-END\nfrozen();\n    // EVOLVE-BLOCK-START second\n",
                            "    // EVOLVE-BLOCK-END of it\ntail();"));
}

TEST(KernelSource, ItsSegmentsAndBlocksMakeUpTheWholeText)
{
    const auto source = KernelSource::parse(two_blocks).value();
    std::string whole;
    for (std::size_t i = 0; i < source.blocks().size(); ++i) {
        whole += source.frozenSegments()[i];
        whole += source.blockText(i);
    }
    EXPECT_EQ(whole + std::string(source.frozenSegments().back()), two_blocks);
}

TEST(KernelSource, TakesWindowsLineEnds)
{
    const auto source = KernelSource::parse("// EVOLVE-BLOCK-START\r\nint a;\r\n\t// EVOLVE-BLOCK-END\r\n");
    ASSERT_TRUE(source.has_value()) << source.error().message;
    EXPECT_EQ(source->blockText(0), "int a;\r\n");
}

TEST(KernelSource, RefusesBrokenMarkers)
{
    EXPECT_EQ(faultOf("int a;\n").line, 0u);
    EXPECT_EQ(faultOf("").line, 0u);
    EXPECT_EQ(faultOf("a\n// EVOLVE-BLOCK-END\n").line, 2u);
    EXPECT_EQ(faultOf("a\nb\n// EVOLVE-BLOCK-START\nc\n").line, 3u);
    EXPECT_EQ(faultOf("// EVOLVE-BLOCK-START\n// EVOLVE-BLOCK-START\n// EVOLVE-BLOCK-END\n").line, 2u);
    EXPECT_EQ(faultOf("// EVOLVE-BLOCK-STARTING\n// EVOLVE-BLOCK-ENDED\n").line, 0u);
    EXPECT_EQ(faultOf("int a; // EVOLVE-BLOCK-START\nint b; // EVOLVE-BLOCK-END\n").line, 0u);
}

TEST(KernelSource, RefusesZeroBytesAndHugeTexts)
{
    EXPECT_EQ(faultOf(std::string("a\nb\0c\n", 6)).line, 2u);
    EXPECT_THAT(faultOf(std::string((4 << 20) + 1, 'x')).message, HasSubstr("at most"));
}

std::string withBlock(const std::string& block)
{
    return "int x;\n// EVOLVE-BLOCK-START\n" + block + "// EVOLVE-BLOCK-END\nfrozen();\n";
}

TEST(KernelSource, RefusesABlockThatSwallowsFrozenCode)
{
    EXPECT_EQ(faultOf(withBlock("/* open\n")).line, 4u);
    EXPECT_EQ(faultOf(withBlock("auto s = R\"x(\n")).line, 4u);
    EXPECT_EQ(faultOf(withBlock("// goes on \\\n")).line, 4u);
    EXPECT_EQ(faultOf(withBlock("#define A /* open\n")).line, 4u);
    EXPECT_EQ(faultOf(withBlock("#if 0\n")).line, 4u);
    EXPECT_EQ(faultOf(withBlock("#endif\n")).line, 3u);
    EXPECT_EQ(faultOf(withBlock("int a;\n#else\n")).line, 4u);
    EXPECT_EQ(faultOf(withBlock("#endif\n#if 0\n")).line, 3u);
    EXPECT_EQ(faultOf(withBlock("  #  if 1\n")).line, 4u);
}

TEST(KernelSource, TakesBlocksThatCloseWhatTheyOpen)
{
    for (const char* block : {"/* a */ // b\n", "#if A\n#ifdef B\n#elif C\n#endif\n#else\n#endif\n",
                              "const char* s = \"/* // \\\" \"; char c = '\"'; auto n = 1'000;\n",
                              "auto s = R\"(\n/* \" \n)\";\n", "#define A(x) \\\n    x\n", "#error don't\n"}) {
        const auto source = KernelSource::parse(withBlock(block));
        EXPECT_TRUE(source.has_value()) << block << source.error().message;
    }
}

TEST(CompareFrozen, AcceptsAnyChangeInsideBlocks)
{
    const auto original = KernelSource::parse(withBlock("a();\n")).value();
    EXPECT_TRUE(compareFrozen(original, KernelSource::parse(withBlock("")).value()).has_value());
    EXPECT_TRUE(compareFrozen(original, KernelSource::parse(withBlock("b();\nc();\n")).value()).has_value());
}

TEST(CompareFrozen, NamesTheFirstLineThatDiffers)
{
    const auto original = KernelSource::parse(withBlock("a();\n")).value();
    const auto line_of = [&](const std::string& text) {
        const auto same = compareFrozen(original, KernelSource::parse(text).value());
        return same ? 0 : same.error().line;
    };
    EXPECT_EQ(line_of("int y;\n// EVOLVE-BLOCK-START\n// EVOLVE-BLOCK-END\nfrozen();\n"), 1u);
    EXPECT_EQ(line_of("int x;\n // EVOLVE-BLOCK-START\n// EVOLVE-BLOCK-END\nfrozen();\n"), 2u);
    EXPECT_EQ(line_of("int x;\n// EVOLVE-BLOCK-START\n1\n2\n// EVOLVE-BLOCK-END\nmelted();\n"), 6u);
    EXPECT_EQ(line_of(withBlock("a();\n") + "more();\n"), 6u);
    EXPECT_EQ(line_of(withBlock("a();\n") + "// EVOLVE-BLOCK-START\n// EVOLVE-BLOCK-END\n"), 6u);
}

TEST(Sha256, IsTheStandardOne)
{
    EXPECT_EQ(sha256Hex("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    EXPECT_EQ(sha256Hex(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
}

std::vector<std::string> tokensOf(std::string_view text)
{
    std::vector<std::string> tokens;
    CudaLexer lexer(text);
    for (Lexeme token = lexer.next(); token.kind != LexemeKind::end; token = lexer.next()) {
        tokens.emplace_back(text.substr(token.begin, token.end - token.begin));
    }
    return tokens;
}

TEST(CudaLexer, TellsTokensApart)
{
    EXPECT_THAT(tokensOf("a+1'000 // c\n#define X \\\n 1\n\"s\\\"\" u8R\"(\")\" 0x1Fu .5e-3f 'q'"),
                ElementsAre("a", "+", "1'000", "// c", "#define X \\\n 1", "\"s\\\"\"", "u8R\"(\")\"", "0x1Fu",
                            ".5e-3f", "'q'"));
}

TEST(CudaLexer, EndsOnEveryTextThatIsCutOff)
{
    const std::string text = "#if x\\\r\n /*a*/ \"s\\\n\" R\"ab(c)ab\" '\\'' 1e+5 // e\\\n f\r\n/* g */ #h\n\\";
    for (std::size_t begin = 0; begin <= text.size(); ++begin) {
        for (std::size_t end = begin; end <= text.size(); ++end) {
            const std::string part = text.substr(begin, end - begin);  // so that a sanitizer sees its end
            CudaLexer lexer(part);
            std::size_t last_end = 0;
            for (Lexeme token = lexer.next(); token.kind != LexemeKind::end; token = lexer.next()) {
                ASSERT_LT(token.begin, token.end);
                ASSERT_LE(last_end, token.begin);
                ASSERT_LE(token.end, part.size());
                last_end = token.end;
            }
        }
    }
}

}  // namespace
}  // namespace cuco
