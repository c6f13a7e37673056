// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/evaluation/evaluator.h"

#include <gmock/gmock.h>

namespace cuco {
namespace {

using testing::HasSubstr;

class Screen : public testing::Test {
protected:
    Evaluation screened(const std::string& source) const
    {
        return screen(source, frozen, space, {"lsa", "copy_engine", "cooperative_launch"});
    }

    /// The template with `with` in place of `what`, which must be there.
    static std::string changed(const std::string& what, const std::string& with)
    {
        std::string text = original;
        const auto at = text.find(what);
        EXPECT_NE(at, std::string::npos) << what;
        return text.replace(at, what.size(), with);
    }

    inline static const std::string original =
        "#include \"candidate.h\"\n"
        "// EVOLVE-BLOCK-START\n"
        "// cuco: backend=lsa placement=sequential sync=world issuer=cta chunk=0\n"
        "CUCO_TUNE(blocks, 4, 2, 4, 8);\n"
        "int body() { return blocks; }\n"
        "// EVOLVE-BLOCK-END\n"
        "int frozen() { return body(); }\n";
    KernelSource frozen = *KernelSource::parse(original);
    DesignSpace space = *DesignSpace::load(CUCO_TEST_ROOT "/resources/design_space.json");
};

TEST_F(Screen, LetsTheSeedPass)
{
    const auto evaluation = screened(original);
    EXPECT_TRUE(evaluation.verified()) << evaluation.message;
    EXPECT_EQ(evaluation.stage, Stage::screen);
    EXPECT_EQ(evaluation.speedup(), std::nullopt);
}

TEST_F(Screen, LetsTheEvolveBlockChange)
{
    EXPECT_TRUE(screened(changed("return blocks", "return blocks + 1")).verified());
}

TEST_F(Screen, NamesBrokenMarkers)
{
    const auto evaluation = screened(changed("// EVOLVE-BLOCK-END\n", ""));
    EXPECT_EQ(evaluation.verdict, Verdict::marker_error);
    EXPECT_FALSE(evaluation.message.empty());
}

TEST_F(Screen, NamesTheFirstChangedFrozenLine)
{
    const auto evaluation = screened(changed("return body()", "return 1 + body()"));
    EXPECT_EQ(evaluation.verdict, Verdict::frozen_code_changed);
    EXPECT_EQ(evaluation.at.line, 7u);
    EXPECT_THAT(evaluation.message, HasSubstr("Line 7"));
}

TEST_F(Screen, RefusesAMissingDirective)
{
    const auto evaluation = screened(changed("// cuco:", "// cucoo:"));
    EXPECT_EQ(evaluation.verdict, Verdict::invalid_directive);
    EXPECT_FALSE(evaluation.message.empty());
}

TEST_F(Screen, NamesTheLineOfADirectiveThatTheNodeCannotRun)
{
    const auto evaluation = screened(changed("backend=lsa", "backend=gin"));
    EXPECT_EQ(evaluation.verdict, Verdict::invalid_directive);
    EXPECT_EQ(evaluation.at.line, 3u);
    EXPECT_THAT(evaluation.message, HasSubstr("gin"));
}

TEST_F(Screen, RefusesATunableWhoseValueIsNoChoice)
{
    const auto evaluation = screened(changed("blocks, 4, 2, 4, 8", "blocks, 5, 2, 4, 8"));
    EXPECT_EQ(evaluation.verdict, Verdict::invalid_tunable);
    EXPECT_EQ(evaluation.at.line, 4u);
}

}  // namespace
}  // namespace cuco
