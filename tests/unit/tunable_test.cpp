// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/design/tunable.h"

#include <gmock/gmock.h>

namespace cuco {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

KernelSource sourceOf(const std::string& block, const std::string& frozen = "")
{
    auto source = KernelSource::parse("// EVOLVE-BLOCK-START\n" + block + "// EVOLVE-BLOCK-END\n" + frozen);
    EXPECT_TRUE(source.has_value()) << source.error().message;
    return std::move(*source);
}

SourceFault faultOf(const std::string& block)
{
    auto tunables = findTunables(sourceOf(block));
    EXPECT_FALSE(tunables.has_value()) << block;
    return tunables ? SourceFault{} : tunables.error();
}

TEST(Tunable, IsFoundWithItsValueChoicesAndPlace)
{
    const auto source = sourceOf("CUCO_TUNE(rows, 512, 128, 256, 512);\nint x;\nCUCO_TUNE ( n,\n  0X10, 16, 0x20 );\n");
    const auto tunables = findTunables(source);
    ASSERT_TRUE(tunables.has_value()) << tunables.error().message;
    ASSERT_EQ(tunables->size(), 2u);
    const Tunable& first = tunables->front();
    EXPECT_EQ(first.name, "rows");
    EXPECT_EQ(first.value, 512);
    EXPECT_THAT(first.choices, ElementsAre(128, 256, 512));
    EXPECT_EQ(first.line, 2u);
    EXPECT_EQ(source.text().substr(first.value_begin, first.value_end - first.value_begin), "512");
    EXPECT_EQ(tunables->back().value, 16);
    EXPECT_THAT(tunables->back().choices, ElementsAre(16, 32));
    EXPECT_EQ(tunables->back().line, 4u);
}

TEST(Tunable, MayBeNegativeAndHaveDigitSeparators)
{
    const auto tunables = findTunables(sourceOf("CUCO_TUNE(a, - 1, -1, 1'048'576, -9223372036854775808);\n"));
    ASSERT_TRUE(tunables.has_value()) << tunables.error().message;
    EXPECT_EQ(tunables->front().value, -1);
    EXPECT_THAT(tunables->front().choices, ElementsAre(-1, 1048576, INT64_MIN));
}

TEST(Tunable, IsNotLookedForInCommentsStringsAndDefines)
{
    const auto tunables = findTunables(
        sourceOf("// CUCO_TUNE(a, 1, 1)\n/* CUCO_TUNE(b, 1, 1) */\nauto s = \"CUCO_TUNE(c, 1, 1)\";\n"
                 "#define CUCO_TUNE(name, value, ...) \\\n  CUCO_TUNE(d, 1, 1)\nMY_CUCO_TUNE(e, 1, 1);\n"));
    ASSERT_TRUE(tunables.has_value()) << tunables.error().message;
    EXPECT_TRUE(tunables->empty());
}

TEST(Tunable, IsRefusedWhenMalformed)
{
    EXPECT_THAT(faultOf("CUCO_TUNE(a, b, 1);\n").message, HasSubstr("\"b\" is no integer literal"));
    EXPECT_THAT(faultOf("CUCO_TUNE(a, 1, 2, 3);\n").message, HasSubstr("not one of its choices"));
    EXPECT_THAT(faultOf("CUCO_TUNE(a, 1, 1, 1);\n").message, HasSubstr("twice"));
    for (const char* block :
         {"CUCO_TUNE(a, 1);\n", "CUCO_TUNE(a);\n", "CUCO_TUNE;\n", "CUCO_TUNE(1, 1, 1);\n", "CUCO_TUNE(a, 1, 1\n",
          "CUCO_TUNE(a, 1, 1 + 1);\n", "CUCO_TUNE(a, 1.5, 1);\n", "CUCO_TUNE(a, 010, 8);\n", "CUCO_TUNE(a, 1u, 1);\n",
          "CUCO_TUNE(a, --1, 1);\n", "CUCO_TUNE(a, 9223372036854775808, 1);\n", "CUCO_TUNE(a, 0x, 1);\n"}) {
        EXPECT_EQ(faultOf(block).line, 2u) << block;
    }
}

TEST(Tunable, IsRefusedWhenItsNameIsTakenOrItIsFrozen)
{
    EXPECT_EQ(faultOf("CUCO_TUNE(a, 1, 1);\nCUCO_TUNE(a, 2, 2);\n").line, 3u);
    const auto frozen = findTunables(sourceOf("int x;\n", "CUCO_TUNE(a, 1, 1);\n"));
    ASSERT_FALSE(frozen.has_value());
    EXPECT_EQ(frozen.error().line, 4u);
}

TEST(WithTunables, SetsTheNamedOnesAndNothingElse)
{
    const auto source = sourceOf("CUCO_TUNE(a, 0x10, 16, 32);\nCUCO_TUNE(b, -1, -1, 1'000);  // b\n");
    EXPECT_EQ(withTunables(source, {}).value(), source.text());
    EXPECT_EQ(withTunables(source, {{"a", 16}}).value(), source.text());
    EXPECT_EQ(withTunables(source, {{"a", 32}, {"b", 1000}}).value(),
              "// EVOLVE-BLOCK-START\nCUCO_TUNE(a, 32, 16, 32);\nCUCO_TUNE(b, 1000, -1, 1'000);  // b\n"
              "// EVOLVE-BLOCK-END\n");
}

TEST(WithTunables, IsReadBackByFindTunables)
{
    const auto source = sourceOf("CUCO_TUNE(a, 1, 1, -5);\nCUCO_TUNE(b, 7, 7, 8);\n");
    const auto changed = KernelSource::parse(withTunables(source, {{"a", -5}, {"b", 8}}).value());
    const auto tunables = findTunables(changed.value()).value();
    EXPECT_EQ(tunables[0].value, -5);
    EXPECT_EQ(tunables[1].value, 8);
}

TEST(WithTunables, RefusesUnknownNamesAndOtherValues)
{
    const auto source = sourceOf("CUCO_TUNE(a, 1, 1, 2);\n");
    EXPECT_THAT(withTunables(source, {{"z", 1}}).error().message, HasSubstr("no tunable z"));
    EXPECT_THAT(withTunables(source, {{"a", 3}}).error().message, HasSubstr("3 is not one of the choices"));
}

}  // namespace
}  // namespace cuco
