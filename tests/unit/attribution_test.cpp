// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/run/attribution.h"
#include "core/agents/proposer.h"
#include "tests/support/fake_run.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

namespace cuco {
namespace {

using testing::FakeEvaluator;
using ::testing::HasSubstr;

std::string textOf(const std::vector<std::string>& lines)
{
    std::string text = "head\n// EVOLVE-BLOCK-START\n";
    for (const std::string& line : lines)
        text += line + "\n";
    return text + "// EVOLVE-BLOCK-END\ntail\n";
}

TEST(SourceHunks, CanBeTakenBackOneByOne)
{
    const std::string old_text = textOf({"a", "b", "c", "d", "e", "f", "g"});
    const std::string new_text = textOf({"a", "B", "B2", "c", "e", "f", "g", "  h"});
    const auto hunks = SourceHunks::between(old_text, new_text).value();
    ASSERT_EQ(hunks.hunks().size(), 3u);
    EXPECT_EQ(hunks.without(0, 0), textOf({"a", "b", "c", "e", "f", "g", "  h"}));
    EXPECT_EQ(hunks.without(1, 1), textOf({"a", "B", "B2", "c", "d", "e", "f", "g", "  h"}));
    EXPECT_EQ(hunks.without(2, 2), textOf({"a", "B", "B2", "c", "e", "f", "g"}));
    EXPECT_EQ(hunks.without(0, 2), old_text);
    EXPECT_EQ(hunks.hunks()[0].new_first, 4);
    EXPECT_EQ(hunks.hunks()[0].new_lines, 2);
    EXPECT_EQ(hunks.hunks()[1].new_lines, 0);
    EXPECT_EQ(hunks.hunks()[1].first_line, "d");
    EXPECT_EQ(hunks.hunks()[2].first_line, "h");
}

TEST(SourceHunks, KeepLinesApartWithoutALineEndAtTheEnd)
{
    const auto hunks = SourceHunks::between("a\nb\nc", "a\nc\nd").value();
    for (std::size_t i = 0; i < hunks.hunks().size(); ++i)
        EXPECT_EQ(hunks.without(i, i).find("cd"), std::string::npos);
    EXPECT_TRUE(SourceHunks::between("a\n", "a\n").value().hunks().empty());
}

/// The speed-up is 2^(lines "fast" of weight w): each carries w of it.
class AttributionTest : public ::testing::Test {
protected:
    static double factorOf(const std::string& source)
    {
        double exponent = 0;
        for (std::size_t at = source.find("fast="); at != std::string::npos; at = source.find("fast=", at + 1))
            exponent += std::stod(source.substr(at + 5));
        return std::exp2(exponent);
    }
    Result<Attribution> run(FakeEvaluator::Options options = {})
    {
        options.factor = [](const std::string& source, const std::string&) { return factorOf(source); };
        FakeEvaluator evaluator(workload, std::move(options));
        evaluator.prepare({}).value();
        return attribute(evaluator, {"c9", "c0", candidate, ancestor, 2, false},
                         [this](int done, int total, const std::string&, const Evaluation&) {
                             EXPECT_LE(done, total);
                             ++evaluated;
                         },
                         {});
    }

    testing::TemporaryFolder folder;
    Workload workload = testing::fakeWorkload(folder / "workload", 1);
    std::string ancestor = textOf({"x", "y", "z"});
    std::string candidate = textOf({"// fast=0.75", "x", "// fast=0.25", "y", "// idle", "z"});
    int evaluated = 0;
};

TEST_F(AttributionTest, GivesEachHunkItsShareOfTheGain)
{
    const auto found = run();
    ASSERT_TRUE(found) << describe(found.error());
    ASSERT_EQ(found->effects.size(), 3u);
    EXPECT_NEAR(found->effects[0].share->value, 0.75, 1e-9);
    EXPECT_NEAR(found->effects[1].share->value, 0.25, 1e-9);
    EXPECT_NEAR(found->effects[2].share->value, 0, 1e-9);
    EXPECT_NEAR(*found->effects[0].without.speedup(), std::exp2(0.25), 1e-9);
    EXPECT_EQ(evaluated, 5);
    const std::string table = toMarkdown(*found);
    EXPECT_THAT(table, HasSubstr("**modelled**"));
    EXPECT_THAT(table, HasSubstr("| 1 | 3 (was none) | `// fast=0.75` | verified |"));
    EXPECT_THAT(table, HasSubstr("75 % (75–75)"));
    const auto json = toJson(*found);
    EXPECT_EQ(json["effects"][1]["hunks"], nlohmann::json({2}));
    EXPECT_FALSE(json["effects"][1]["samples"]["small"]["candidate_us"].empty());
}

TEST_F(AttributionTest, GivesMeasuredSharesAnInterval)
{
    FakeEvaluator::Options options;
    options.modelled = false;
    const auto found = run(options);
    ASSERT_TRUE(found);
    const GainShare share = found->effects[0].share.value();
    // Three intervals of ± 1 % against a gain of log 2.
    const double deviation = 0.01 / std::log(2) * std::sqrt(0.25 * 0.25 + 1 + 0.75 * 0.75);
    EXPECT_NEAR(share.high - share.value, deviation, 1e-4);
    EXPECT_NEAR(share.value - share.low, deviation, 1e-4);
    EXPECT_THAT(toMarkdown(*found), HasSubstr("**measured**"));
}

TEST_F(AttributionTest, HasNoSharesOfAGainThatIsNoneBeyondItsInterval)
{
    candidate = textOf({"// fast=0.005", "x", "// idle", "y", "z"});
    FakeEvaluator::Options options;
    options.modelled = false;
    const auto found = run(options);
    ASSERT_TRUE(found);
    for (const HunkEffect& effect : found->effects)
        EXPECT_FALSE(effect.share);
    EXPECT_THAT(toMarkdown(*found), HasSubstr("There are no shares"));
}

TEST_F(AttributionTest, TriesAHunkThatCannotGoAloneWithItsNeighbours)
{
    // "use" needs "declare": without the latter alone it does not compile.
    candidate = textOf({"// fast=0.5", "x", "declare", "y", "use fast=0.5", "z"});
    FakeEvaluator::Options options;
    options.compiles = [](const std::string& source) {
        return source.find("use") == std::string::npos || source.find("declare") != std::string::npos;
    };
    const auto found = run(options);
    ASSERT_TRUE(found);
    ASSERT_EQ(found->effects.size(), 4u);
    EXPECT_TRUE(cannotBeTakenBack(found->effects[1].without));
    EXPECT_FALSE(found->effects[1].share);
    EXPECT_EQ(found->effects[2].first, 1u);
    EXPECT_EQ(found->effects[2].last, 2u);
    EXPECT_NEAR(found->effects[2].share->value, 0.5, 1e-9);
    EXPECT_EQ(found->effects[3].first, 2u);
    EXPECT_THAT(toMarkdown(*found), HasSubstr("compile_error, not alone"));
    EXPECT_THAT(toMarkdown(*found), HasSubstr("| 2+3 |"));
}

TEST_F(AttributionTest, SaysWhichHunkTheResultNeeds)
{
    FakeEvaluator::Options options;
    options.is_wrong = [](const std::string& source) { return source.find("idle") == std::string::npos; };
    candidate = textOf({"// fast=1", "x", "// idle", "y", "z"});
    const auto found = run(options);
    ASSERT_TRUE(found);
    EXPECT_EQ(found->effects[1].without.verdict, Verdict::wrong_result);
    EXPECT_FALSE(found->effects[1].share);
    EXPECT_EQ(found->effects.size(), 2u);
}

TEST_F(AttributionTest, RefusesTextsItCannotCompare)
{
    candidate = ancestor;
    EXPECT_THAT(run().error().what, HasSubstr("same text"));
    candidate = "other " + textOf({"x"});
    EXPECT_THAT(run().error().what, HasSubstr("outside their evolve blocks"));
    candidate = "no blocks";
    EXPECT_THAT(run().error().what, HasSubstr("c9 has no proper evolve blocks"));
}

TEST_F(AttributionTest, FindsWhatACandidateDescendsFrom)
{
    const auto path = folder / "run.cuco";
    const Workload with_strategies = testing::fakeWorkload(folder / "with_strategies", 4);
    auto search = testing::fakeRun(path, with_strategies, testing::fakeConfig(1, 4));
    search->start();
    search->wait();
    search.reset();
    auto file = RunFile::open(path, RunFile::Access::read).value();
    const auto snapshot = file->snapshot().value();
    const auto child = std::ranges::find_if(snapshot.candidates, [](const Candidate& c) { return !c.parents.empty(); });
    const auto request = attributionRequest(*file, child->id);
    ASSERT_TRUE(request) << describe(request.error());
    EXPECT_TRUE(snapshot.candidates.at(std::stoul(request->ancestor.substr(1))).parents.empty());
    EXPECT_EQ(request->ancestor_source, file->source(request->ancestor).value());
    EXPECT_EQ(attributionRequest(*file, child->id, "c0")->ancestor, "c0");
    const auto strategy = std::ranges::find_if(
        snapshot.candidates, [](const Candidate& c) { return c.parents.empty() && c.generation > 0; });
    ASSERT_NE(strategy, snapshot.candidates.end());
    EXPECT_EQ(attributionRequest(*file, strategy->id)->ancestor, "c" + std::to_string(strategy->island));
    EXPECT_THAT(attributionRequest(*file, "c0").error().what, HasSubstr("descends from nothing"));
    EXPECT_THAT(attributionRequest(*file, child->id, "c999").error().what, HasSubstr("c999"));
    EXPECT_THAT(attributionRequest(*file, "c999").error().what, HasSubstr("c999"));
}

}  // namespace
}  // namespace cuco
