// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/design/directive.h"
#include "core/base/files.h"

#include <gmock/gmock.h>

namespace cuco {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

const std::string valid = "backend=lsa placement=stream_overlap sync=peer issuer=copy_engine chunk=1048576";

std::expected<Directive, SourceFault> parse(const std::string& block, const std::string& frozen = "")
{
    const auto source = KernelSource::parse("// EVOLVE-BLOCK-START\n" + block + "// EVOLVE-BLOCK-END\n" + frozen);
    EXPECT_TRUE(source.has_value()) << source.error().message;
    return parseDirective(source.value());
}

Directive directiveOf(const std::string& fields)
{
    return parse("// cuco: " + fields + "\n").value();
}

TEST(Directive, IsReadFromTheEvolveBlock)
{
    const Directive expected{"lsa", "stream_overlap", "peer", "copy_engine", 1048576};
    EXPECT_EQ(parse("int x;\n  // cuco: " + valid + "\n").value(), expected);
    EXPECT_EQ(
        parse("//cuco:  chunk=1048576 issuer=copy_engine sync=peer placement=stream_overlap backend=lsa\r\n").value(),
        expected);
    EXPECT_EQ(toString(expected), valid);
    EXPECT_EQ(directiveOf(toString(expected)), expected);
}

TEST(Directive, IsNotReadFromFrozenCodeOrStrings)
{
    const auto nothing =
        parse("auto s = \"// cuco: " + valid + "\";\n/* cuco: " + valid + " */\n", "// cuco: " + valid + "\n");
    ASSERT_FALSE(nothing.has_value());
    EXPECT_THAT(nothing.error().message, HasSubstr("have no directive"));
}

TEST(Directive, IsRefusedWhenThereAreTwo)
{
    const auto two = parse("// cuco: " + valid + "\n// cuco: " + valid + "\n");
    ASSERT_FALSE(two.has_value());
    EXPECT_EQ(two.error().line, 3u);
    EXPECT_THAT(two.error().message, HasSubstr("first is in line 2"));
}

TEST(Directive, IsRefusedWhenMalformed)
{
    const auto message = [](const std::string& fields) {
        const auto directive = parse("// cuco: " + fields + "\n");
        EXPECT_FALSE(directive.has_value()) << fields;
        return directive ? std::string() : directive.error().message;
    };
    EXPECT_THAT(message(""), HasSubstr("does not say backend"));
    EXPECT_THAT(message("backend=lsa placement=fused sync=peer issuer=cta"), HasSubstr("does not say chunk"));
    EXPECT_THAT(message(valid + " colour=red"), HasSubstr("colour=red"));
    EXPECT_THAT(message(valid + " chunk=1"), HasSubstr("chunk twice"));
    EXPECT_THAT(message("backend= placement=fused sync=peer issuer=cta chunk=0"), HasSubstr("backend no value"));
    for (const char* chunk : {"1MiB", "-1", "0x10", "99999999999999999999"}) {
        EXPECT_THAT(message(std::string("backend=lsa placement=fused sync=peer issuer=cta chunk=") + chunk),
                    HasSubstr("no number of bytes"));
    }
}

class DesignSpaceFile : public testing::Test {
protected:
    DesignSpace space = DesignSpace::load(CUCO_TEST_ROOT "/resources/design_space.json").value();
    const std::set<std::string> everything{"lsa", "gin", "copy_engine", "cooperative_launch"};
};

TEST_F(DesignSpaceFile, HasTheFiveDimensionsValues)
{
    EXPECT_THAT(space.backends(), ElementsAre("host", "lsa", "gin", "lsa+gin"));
    EXPECT_THAT(space.placements(), ElementsAre("sequential", "split", "stream_overlap", "fused"));
    EXPECT_THAT(space.syncs(), ElementsAre("world", "team", "peer", "tile"));
    EXPECT_THAT(space.issuers(), ElementsAre("host", "copy_engine", "thread", "warp", "cta"));
}

TEST_F(DesignSpaceFile, AcceptsValidDirectives)
{
    for (const std::string& fields : {valid, std::string("backend=host placement=split sync=world issuer=host chunk=0"),
                                      std::string("backend=lsa placement=fused sync=tile issuer=warp chunk=0"),
                                      std::string("backend=gin placement=fused sync=peer issuer=thread chunk=4096"),
                                      std::string("backend=lsa placement=sequential sync=world issuer=cta chunk=0")}) {
        EXPECT_EQ(space.violation(directiveOf(fields), everything), "") << fields;
    }
}

TEST_F(DesignSpaceFile, SaysWhyADirectiveIsInvalid)
{
    const auto why = [&](const std::string& fields) { return space.violation(directiveOf(fields), everything); };
    EXPECT_THAT(why("backend=rdma placement=fused sync=tile issuer=cta chunk=0"), HasSubstr("backend=rdma"));
    EXPECT_THAT(why("backend=lsa placement=fused sync=peer issuer=copy_engine chunk=0"), HasSubstr("placement=fused"));
    EXPECT_THAT(why("backend=lsa placement=split sync=tile issuer=cta chunk=0"), HasSubstr("sync=tile"));
    EXPECT_THAT(why("backend=host placement=split sync=world issuer=cta chunk=0"), HasSubstr("issuer=host"));
    EXPECT_THAT(why("backend=lsa placement=split sync=peer issuer=host chunk=0"), HasSubstr("backend=host"));
    EXPECT_THAT(why("backend=host placement=split sync=peer issuer=host chunk=0"), HasSubstr("sync=world"));
    EXPECT_THAT(why("backend=host placement=fused sync=world issuer=host chunk=0"), HasSubstr("placement=fused"));
    EXPECT_THAT(why("backend=gin placement=split sync=peer issuer=copy_engine chunk=0"), HasSubstr("copy_engine"));
}

TEST_F(DesignSpaceFile, AsksForTheNodesCapabilities)
{
    const Directive copies = directiveOf(valid);
    EXPECT_EQ(space.violation(copies, {"lsa", "copy_engine"}), "");
    EXPECT_THAT(space.violation(copies, {"lsa"}), HasSubstr("copy engines"));
    EXPECT_THAT(space.violation(copies, {}), HasSubstr("backend=lsa needs"));
    EXPECT_THAT(space.violation(directiveOf("backend=gin placement=split sync=peer issuer=cta chunk=0"), {"lsa"}),
                HasSubstr("network adapter"));
}

TEST(DesignSpace, NamesTheFieldThatBreaksItsFile)
{
    const std::string file = testing::TempDir() + "cuco-design-space.json";
    const auto load = [&](const std::string& rules) {
        EXPECT_TRUE(writeFileAtomically(file, R"({"format":1,"dimensions":{"backend":[{"value":"a","summary":""}],
            "placement":[{"value":"b","summary":""}],"sync":[{"value":"c","summary":""}],
            "issuer":[{"value":"d","summary":""}]},"rules":)" +
                                                  rules + "}")
                        .has_value());
        auto space = DesignSpace::load(file);
        return space ? std::string() : space.error().what;
    };
    EXPECT_EQ(load("[]"), "");
    EXPECT_EQ(load(R"([{"when":{"backend":["a"]},"capability":"x","reason":"r"}])"), "");
    EXPECT_THAT(load(R"([{"when":{"backend":["z"]},"capability":"x","reason":"r"}])"), HasSubstr("\"z\""));
    EXPECT_THAT(load(R"([{"when":{"colour":["a"]},"capability":"x","reason":"r"}])"), HasSubstr("colour"));
    EXPECT_THAT(load(R"([{"when":{"backend":["a"]},"reason":"r"}])"), HasSubstr("rules[0].require"));
    EXPECT_THAT(load(R"([{"when":{"backend":["a"]},"capability":"x"}])"), HasSubstr("rules[0].reason"));
    EXPECT_THAT(load("7"), HasSubstr("\"rules\" must be a list"));
    std::filesystem::remove(file);
    EXPECT_FALSE(DesignSpace::load(file).has_value());
}

}  // namespace
}  // namespace cuco
