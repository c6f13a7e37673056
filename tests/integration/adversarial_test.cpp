// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/files.h"
#include "core/evaluation/evaluator_factory.h"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <memory>
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
    std::string name;      ///< "timing_own_stream_only"; with its workload in front unless that is gemm_allgather
    std::string workload;  ///< the folder above its kind's; gemm_allgather's cheats lie in no folder of their own
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
        const auto kind_folder = entry.path().parent_path();
        const auto folder = kind_folder.filename().string();
        const bool has_workload = kind_folder.parent_path() != candidates;
        cheat.workload = has_workload ? kind_folder.parent_path().filename().string() : "gemm_allgather";
        cheat.name = (has_workload ? cheat.workload + "_" : "") + folder + "_" + entry.path().stem().string();
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

/// A copy of the workload that times one shape, and a small one where the workload's own is not: what is tested are
/// verdicts.
Result<void> writeSmallWorkload(const std::string& name, const fs::path& folder)
{
    fs::copy(root / "workloads" / name, folder, fs::copy_options::recursive);
    const auto text = readFile(folder / "workload.json");
    if (!text)
        return std::unexpected(text.error());
    auto manifest = nlohmann::json::parse(*text);
    auto& shapes = manifest["shapes"]["emulated_search"];
    if (name == "gemm_allgather")
        shapes = nlohmann::json::parse(
            R"([{"name": "small", "m": 128, "n": 64, "k": 32, "represents": {"m": 4096, "n": 4096, "k": 4096}}])");
    else
        shapes = nlohmann::json::array({shapes.at(0)});
    return writeFileAtomically(folder / "workload.json", manifest.dump(2));
}

/// An evaluator of the emulated node for one workload.
class Bench {
public:
    Bench(const std::string& workload_name, const fs::path& parent)
        : seed_(root / "workloads" / workload_name / "seed_lsa.cu")
    {
        const fs::path folder = parent / workload_name;
        const auto written = writeSmallWorkload(workload_name, folder);
        EXPECT_TRUE(written.has_value()) << describe(written.error());
        const auto workload = loadWorkload(folder);
        const auto paths = DataPaths::find();
        EXPECT_TRUE(workload.has_value()) << describe(workload.error());
        EXPECT_TRUE(paths.has_value()) << describe(paths.error());
        if (!workload || !paths)
            return;
        auto made = makeEvaluator(*paths, *makeNode("emulated"), *workload, {});
        EXPECT_TRUE(made.has_value()) << describe(made.error());
        if (!made)
            return;
        evaluator_ = std::move(*made);
        const auto prepared = evaluator_->prepare({});
        EXPECT_TRUE(prepared.has_value()) << describe(prepared.error());
        seed_time_us_ = prepared ? timeOfSeed() : 0;
    }

    /// 0 when the evaluator cannot be used.
    double seedTimeUs() const { return seed_time_us_; }

    Evaluation evaluationOf(const fs::path& file)
    {
        const auto source = readFile(file);
        EXPECT_TRUE(source.has_value());
        EvaluationRequest request;
        request.source = source.value_or("");
        request.until = Stage::benchmark;
        request.input_seed = std::random_device{}() | std::uint64_t{std::random_device{}()} << 32;
        const auto result = evaluator_->evaluate(request, {});
        // However it cheats: a verdict about the candidate, not a failure of the engine.
        EXPECT_TRUE(result.has_value()) << describe(result.error());
        return result ? result->evaluation : Evaluation{};
    }

    /// 0 when it is not verified. When what a candidate takes does not depend on its inputs, it is as fast as at first,
    /// unless a candidate has changed what comes after it.
    double timeOfSeed()
    {
        const auto seed = evaluationOf(seed_);
        EXPECT_TRUE(seed.verified()) << seed.message;
        const double time_us = seed.timeUs().value_or(0);
        if (seed_time_us_ > 0 && seed_.parent_path().filename() == "gemm_allgather") {
            EXPECT_DOUBLE_EQ(time_us, seed_time_us_);
        }
        return seed.verified() ? time_us : 0;
    }

private:
    fs::path seed_;
    std::unique_ptr<Evaluator> evaluator_;
    double seed_time_us_ = 0;
};

/// All of a workload's through one evaluator.
class Adversarial : public testing::TestWithParam<Cheat> {
protected:
    static void SetUpTestSuite()
    {
        std::string name = testing::TempDir() + "cuco-adversarial-XXXXXX";
        ASSERT_NE(::mkdtemp(name.data()), nullptr);
        folder = name;
    }
    static void TearDownTestSuite()
    {
        for (auto& [workload, bench] : benches) {  // after all that came before
            if (bench->seedTimeUs() > 0) {
                EXPECT_GT(bench->timeOfSeed(), 0) << workload;
            }
        }
        benches.clear();
        fs::remove_all(folder);
    }
    static Bench& benchOf(const std::string& workload)
    {
        auto& bench = benches[workload];
        if (!bench)
            bench = std::make_unique<Bench>(workload, folder);
        return *bench;
    }

    inline static fs::path folder;
    inline static std::map<std::string, std::unique_ptr<Bench>> benches;
};

TEST_P(Adversarial, GetsTheVerdictThatItsFirstLinesExpect)
{
    const Cheat& cheat = GetParam();
    ASSERT_FALSE(cheat.expected.empty()) << cheat.file << " does not say what to expect.";
    if (cheat.node == "gpu")
        GTEST_SKIP() << cheat.name << " needs GPUs: tests/adversarial/run_gpu.sh runs it.";
    Bench& bench = benchOf(cheat.workload);
    ASSERT_GT(bench.seedTimeUs(), 0);
    const auto evaluation = bench.evaluationOf(cheat.file);
    const std::string verdict(toString(evaluation.verdict));
    EXPECT_THAT(cheat.expected, testing::Contains(verdict)) << evaluation.message << "\n" << evaluation.detail;
    if (evaluation.verified() && cheat.kind != "honest") {
        ASSERT_TRUE(cheat.must_not_gain) << "A cheat may pass only when it gains nothing.";
        EXPECT_GE(evaluation.timeUs().value_or(0), bench.seedTimeUs());
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
    for (const auto& cheat : readCheats()) {
        if (cheat.name == "bypass_frozen_edited" || cheat.name == "bypass_frozen_moved")
            continue;
        const auto seed = KernelSource::parse(*readFile(root / "workloads" / cheat.workload / "seed_lsa.cu"));
        ASSERT_TRUE(seed.has_value()) << cheat.name;
        const auto source = KernelSource::parse(*readFile(cheat.file));
        ASSERT_TRUE(source.has_value()) << cheat.name << ": " << source.error().message;
        const auto same = compareFrozen(*seed, *source);
        EXPECT_TRUE(same.has_value()) << cheat.name << ", line " << same.error().line
                                      << ": copy the frozen code of seed_lsa.cu into tests/adversarial.";
    }
}

}  // namespace
}  // namespace cuco
