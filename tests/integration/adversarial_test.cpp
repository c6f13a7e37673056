// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/files.h"
#include "core/evaluation/evaluator_factory.h"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <random>
#include <ranges>
#include <sstream>

namespace cuco {
namespace {

namespace fs = std::filesystem;

const fs::path root = CUCO_TEST_ROOT;
const fs::path candidates = root / "tests" / "adversarial";

/// One source of tests/adversarial with what its first lines say.
struct Cheat {
    fs::path file;
    std::string name;  ///< "timing_own_stream_only"
    std::string node, kind;
    std::vector<std::string> expected;  ///< verdicts, any of which is right
    bool must_not_gain = false;
};

void PrintTo(const Cheat& cheat, std::ostream* out)
{
    *out << cheat.name;
}

std::string fieldOf(const std::string& text, const std::string& key)
{
    const std::string begin = "\n// " + key + ": ";
    const auto at = text.find(begin);
    if (at == std::string::npos)
        return {};
    const auto value = at + begin.size();
    return text.substr(value, text.find('\n', value) - value);
}

std::vector<std::string> partsOf(const std::string& text)
{
    std::vector<std::string> parts;
    std::istringstream stream(text);
    for (std::string part; std::getline(stream, part, '|');)
        parts.push_back(part);
    return parts;
}

std::vector<Cheat> readCheats()
{
    std::vector<Cheat> cheats;
    for (const auto& entry : fs::recursive_directory_iterator(candidates)) {
        if (entry.path().extension() != ".cu")
            continue;
        const auto text = readFile(entry.path());
        if (!text)
            continue;
        Cheat cheat;
        cheat.file = entry.path();
        const auto folder = entry.path().parent_path().filename().string();
        cheat.name = folder + "_" + entry.path().stem().string();
        cheat.node = fieldOf(*text, "node");
        cheat.kind = folder == "honest" ? "honest" : fieldOf(*text, "class");
        cheat.expected = folder == "honest" ? std::vector<std::string>{"verified"} : partsOf(fieldOf(*text, "expect"));
        cheat.must_not_gain = fieldOf(*text, "no_faster_than") == "seed";
        cheats.push_back(std::move(cheat));
    }
    std::ranges::sort(cheats, {}, &Cheat::name);
    return cheats;
}

std::string nameOf(const testing::TestParamInfo<Cheat>& info)
{
    return info.param.name;
}

/// A copy of the workload whose timed shape is small: what is tested are verdicts.
Result<void> writeSmallWorkload(const fs::path& folder)
{
    fs::copy(root / "workloads" / "gemm_allgather", folder, fs::copy_options::recursive);
    const auto text = readFile(folder / "workload.json");
    if (!text)
        return std::unexpected(text.error());
    auto manifest = nlohmann::json::parse(*text);
    manifest["shapes"]["emulated_search"] = nlohmann::json::parse(
        R"([{"name": "small", "m": 128, "n": 64, "k": 32, "represents": {"m": 4096, "n": 4096, "k": 4096}}])");
    return writeFileAtomically(folder / "workload.json", manifest.dump(2));
}

/// All of them through one evaluator of the emulated node.
class Adversarial : public testing::TestWithParam<Cheat> {
protected:
    static void SetUpTestSuite()
    {
        std::string name = testing::TempDir() + "cuco-adversarial-XXXXXX";
        ASSERT_NE(::mkdtemp(name.data()), nullptr);
        folder = name;
        const auto written = writeSmallWorkload(folder / "gemm_allgather");
        ASSERT_TRUE(written.has_value()) << describe(written.error());
        const auto workload = loadWorkload(folder / "gemm_allgather");
        ASSERT_TRUE(workload.has_value()) << describe(workload.error());
        const auto paths = DataPaths::find();
        ASSERT_TRUE(paths.has_value()) << describe(paths.error());
        auto made = makeEvaluator(*paths, *makeNode("emulated"), *workload, {});
        ASSERT_TRUE(made.has_value()) << describe(made.error());
        evaluator = std::move(*made);
        const auto prepared = evaluator->prepare({});
        ASSERT_TRUE(prepared.has_value()) << describe(prepared.error());
        seed_time_us = timeOfSeed();
    }
    static void TearDownTestSuite()
    {
        if (evaluator) {  // after all that came before
            EXPECT_GT(timeOfSeed(), 0);
        }
        evaluator.reset();
        fs::remove_all(folder);
    }
    void SetUp() override
    {
        ASSERT_NE(evaluator, nullptr);
        ASSERT_GT(seed_time_us, 0);
    }

    static Evaluation evaluationOf(const fs::path& file)
    {
        const auto source = readFile(file);
        EXPECT_TRUE(source.has_value());
        EvaluationRequest request;
        request.source = source.value_or("");
        request.until = Stage::benchmark;
        request.input_seed = std::random_device{}() | std::uint64_t{std::random_device{}()} << 32;
        const auto result = evaluator->evaluate(request, {});
        // However it cheats: a verdict about the candidate, not a failure of the engine.
        EXPECT_TRUE(result.has_value()) << describe(result.error());
        return result ? result->evaluation : Evaluation{};
    }

    /// 0 when it is not verified or not as fast as at first: then a candidate has changed what comes after it.
    static double timeOfSeed()
    {
        const auto seed = evaluationOf(root / "workloads" / "gemm_allgather" / "seed_lsa.cu");
        EXPECT_TRUE(seed.verified()) << seed.message;
        const double time_us = seed.timeUs().value_or(0);
        if (seed_time_us > 0) {
            EXPECT_DOUBLE_EQ(time_us, seed_time_us);
        }
        return seed.verified() ? time_us : 0;
    }

    inline static fs::path folder;
    inline static std::unique_ptr<Evaluator> evaluator;
    inline static double seed_time_us = 0;
};

TEST_P(Adversarial, GetsTheVerdictThatItsFirstLinesExpect)
{
    const Cheat& cheat = GetParam();
    ASSERT_FALSE(cheat.expected.empty()) << cheat.file << " does not say what to expect.";
    if (cheat.node == "gpu")
        GTEST_SKIP() << cheat.name << " needs GPUs: tests/adversarial/run_gpu.sh runs it.";
    const auto evaluation = evaluationOf(cheat.file);
    const std::string verdict(toString(evaluation.verdict));
    EXPECT_THAT(cheat.expected, testing::Contains(verdict)) << evaluation.message << "\n" << evaluation.detail;
    if (evaluation.verified() && cheat.kind != "honest") {
        ASSERT_TRUE(cheat.must_not_gain) << "A cheat may pass only when it gains nothing.";
        EXPECT_GE(evaluation.timeUs().value_or(0), seed_time_us);
    }
    if (!evaluation.verified()) {
        EXPECT_FALSE(evaluation.message.empty());
        EXPECT_EQ(evaluation.speedup(), std::nullopt) << "A rejected candidate has no score.";
    }
}

INSTANTIATE_TEST_SUITE_P(All, Adversarial, testing::ValuesIn(readCheats()), nameOf);

TEST(AdversarialSources, SayWhatTheyAre)
{
    const auto cheats = readCheats();
    const auto count = [&](const std::string& kind) { return std::ranges::count(cheats, kind, &Cheat::kind); };
    for (const auto* kind : {"timing", "replay", "wrong_result", "bypass", "host"})
        EXPECT_GE(count(kind), 8) << kind;
    EXPECT_GE(count("honest"), 12);
    for (const auto& cheat : cheats) {
        EXPECT_EQ(cheat.file.parent_path().filename(), cheat.kind) << cheat.name;
        EXPECT_THAT(cheat.node, testing::AnyOf("emulated", "gpu", "any")) << cheat.name;
        for (const auto& verdict : cheat.expected)
            EXPECT_TRUE(verdictFromString(verdict).has_value()) << cheat.name << ": " << verdict;
        const bool may_pass = std::ranges::find(cheat.expected, "verified") != cheat.expected.end();
        EXPECT_EQ(may_pass, cheat.kind == "honest" || cheat.must_not_gain) << cheat.name;
    }
}

TEST(AdversarialSources, KeepTheFrozenCodeUnlessThatIsTheCheat)
{
    const auto seed = KernelSource::parse(*readFile(root / "workloads" / "gemm_allgather" / "seed_lsa.cu"));
    ASSERT_TRUE(seed.has_value());
    for (const auto& cheat : readCheats()) {
        if (cheat.name == "bypass_frozen_edited" || cheat.name == "bypass_frozen_moved")
            continue;
        const auto source = KernelSource::parse(*readFile(cheat.file));
        ASSERT_TRUE(source.has_value()) << cheat.name << ": " << source.error().message;
        const auto same = compareFrozen(*seed, *source);
        EXPECT_TRUE(same.has_value()) << cheat.name << ", line " << same.error().line
                                      << ": copy the frozen code of seed_lsa.cu into tests/adversarial.";
    }
}

}  // namespace
}  // namespace cuco
