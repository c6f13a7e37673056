// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/run/evidence.h"
#include "core/agents/proposer.h"
#include "core/base/subprocess.h"
#include "core/evaluation/data_paths.h"
#include "core/run/evidence_calls.h"
#include "tests/support/fake_run.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace cuco {
namespace {

using testing::fakeConfig;
using testing::FakeEvaluator;
using testing::fakeRun;
using ::testing::HasSubstr;
using ::testing::Not;
using testing::readText;

class EvidenceTest : public ::testing::Test {
protected:
    /// A run with a node, a promotion that stands, and a call of a model for the best and for its parent.
    void makeRun(RunConfig config = fakeConfig(1, 6), bool modelled = true)
    {
        FakeEvaluator::Options options;
        options.modelled = modelled;
        {
            auto run = fakeRun(path, workload, config, options);
            run->start();
            run->wait();
            best = bestOf(snapshot())->id;
            ASSERT_TRUE(run->promote(best, "it wins"));
            ASSERT_TRUE(run->waitForPromotions());
        }
        auto file = RunFile::open(path, RunFile::Access::write).value();
        const auto ancestors = withAncestors(snapshot(), best);
        ASSERT_GT(ancestors.size(), 1u);
        for (const std::string& id : ancestors) {
            LlmCall call;
            call.agent = "slow path";
            call.candidate_id = id;
            call.provider = "replay";
            call.request.model = "model-x";
            call.request.system = "SYSTEM";
            call.request.messages = {{.text = "PROMPT FOR " + id + "\n```\n# not a heading of the file\n"}};
            ChatResponse response;
            response.text = "ANSWER";
            call.result = response;
            ASSERT_TRUE(file->addLlmCall(call));
        }
        LlmCall other;
        other.agent = "slow path";
        other.candidate_id = "c999";
        other.request.messages = {{.text = "ANOTHER"}};
        ChatResponse response;
        other.result = response;
        ASSERT_TRUE(file->addLlmCall(other));
    }
    RunSnapshot snapshot() const { return RunFile::open(path, RunFile::Access::read).value()->snapshot().value(); }
    std::vector<FolderFile> collect(const std::string& id)
    {
        auto file = RunFile::open(path, RunFile::Access::read).value();
        auto files = collectEvidence(*file, id, {DataPaths::find().value().resources, {}});
        EXPECT_TRUE(files) << describe(files.error());
        return files.value_or(std::vector<FolderFile>{});
    }
    static std::string textOf(const std::vector<FolderFile>& files, const std::string& name)
    {
        const auto found = std::ranges::find(files, name, &FolderFile::name);
        return found == files.end() ? std::string() : found->bytes;
    }
    static nlohmann::json jsonOf(const std::vector<FolderFile>& files, const std::string& name)
    {
        return nlohmann::json::parse(textOf(files, name), nullptr, false);
    }

    testing::TemporaryFolder folder;
    Workload workload = testing::fakeWorkload(folder / "workload", 4);
    std::filesystem::path path = folder / "run.cuco";
    std::string best;
};

TEST_F(EvidenceTest, HasEverythingTheRunKnowsOfACandidate)
{
    makeRun();
    const auto files = collect(best);
    const auto run = snapshot();
    const auto candidate = *std::ranges::find(run.candidates, best, &Candidate::id);
    EXPECT_EQ(textOf(files, "candidate.cu"), RunFile::open(path, RunFile::Access::read).value()->source(best).value());
    EXPECT_EQ(textOf(files, "baseline-host.cu"), "// the host's way\n");
    EXPECT_THAT(textOf(files, "against-host.cu.diff"), HasSubstr("-// the host's way"));
    EXPECT_THAT(textOf(files, "against-" + candidate.parents.at(0) + ".diff"), HasSubstr("+++ " + best));

    const auto samples = jsonOf(files, "samples.json");
    ASSERT_EQ(samples["measurements"].size(), 2u);
    EXPECT_EQ(samples["measurements"][0]["shapes"][0]["shape"], "small");
    EXPECT_EQ(samples["measurements"][0]["shapes"][0]["candidate_us"],
              nlohmann::json(candidate.evaluation->timings[0].samples_us));
    EXPECT_EQ(samples["measurements"][1]["shapes"].size(), 2u);
    EXPECT_EQ(samples["measurements"][1]["shapes"][1]["shape"], "held_back_too");

    const auto verdicts = jsonOf(files, "verdicts.json");
    ASSERT_EQ(verdicts.size(), 2u);
    EXPECT_EQ(verdicts[0]["verdict"], "verified");
    EXPECT_EQ(verdicts[1]["promotion"], "stands");
    EXPECT_EQ(jsonOf(files, "environment.json")["node"], "fake");
    EXPECT_FALSE(jsonOf(files, "timelines/candidate.json")["traceEvents"].empty());
    EXPECT_EQ(jsonOf(files, "run.json")["config"]["workload"], "fake");
    EXPECT_EQ(jsonOf(files, "decisions.json")[0]["reason"], "it wins");
    EXPECT_THAT(textOf(files, "steps.md"), HasSubstr("tunable"));

    const std::string readme = textOf(files, "README.md");
    EXPECT_THAT(readme, HasSubstr("is **promoted**"));
    EXPECT_THAT(readme, HasSubstr("**modelled**"));
    for (const FolderFile& file : files) {
        if (!file.name.starts_with("llm/") && file.name != "README.md") {
            EXPECT_THAT(readme, HasSubstr("`" + file.name + "`"));
        }
    }
    EXPECT_TRUE(std::ranges::find(files, "verify.sh", &FolderFile::name)->executable);
}

TEST_F(EvidenceTest, PairsTheSamplesOfARound)
{
    makeRun(fakeConfig(1, 6), false);
    const auto samples = jsonOf(collect(best), "samples.json");
    const auto& shape = samples["measurements"][0]["shapes"][0];
    ASSERT_EQ(shape["pairs"].size(), 2u);
    EXPECT_EQ(shape["pairs"][1]["round"], 1);
    EXPECT_EQ(shape["pairs"][1]["baseline_us"], nlohmann::json({1000.0, 1000.0}));
    EXPECT_EQ(shape["pairs"][0]["candidate_us"].size(), 2u);
    EXPECT_NEAR(shape["pairs"][1]["ratio"], shape["statistics"]["speedup"].get<double>(), 1e-9);
    EXPECT_THAT(textOf(collect(best), "README.md"), HasSubstr("**measured**"));
}

TEST_F(EvidenceTest, HasTheCallsOfAncestorsAndNoOthers)
{
    makeRun();
    const auto files = collect(best);
    const auto ancestors = withAncestors(snapshot(), best);
    std::size_t calls = 0;
    std::string all;
    for (const FolderFile& file : files)
        if (file.name.starts_with("llm/") && file.name.ends_with(".md")) {
            ++calls;
            all += file.bytes;
            EXPECT_THAT(file.bytes, HasSubstr("````text\nPROMPT FOR"));
        }
    EXPECT_EQ(calls, ancestors.size());
    for (const std::string& id : ancestors)
        EXPECT_THAT(all, HasSubstr("PROMPT FOR " + id));
    EXPECT_THAT(all, Not(HasSubstr("ANOTHER")));
    EXPECT_EQ(jsonOf(files, "llm/1.json")["request"]["system"], "SYSTEM");
}

TEST_F(EvidenceTest, SaysThatACandidateIsNotPromoted)
{
    makeRun();
    EXPECT_THAT(textOf(collect("c0"), "README.md"), HasSubstr("**not promoted**: nobody decided"));
    EXPECT_THAT(textOf(collect("c0"), "README.md"), HasSubstr("never measured on held-back shapes"));
}

TEST_F(EvidenceTest, NamesACandidateThatIsNotThere)
{
    makeRun();
    auto file = RunFile::open(path, RunFile::Access::read).value();
    const auto files = collectEvidence(*file, "c999", {DataPaths::find().value().resources, {}});
    ASSERT_FALSE(files);
    EXPECT_THAT(files.error().what, HasSubstr("c999"));
}

/// Runs verify.sh of a bundle with a stand-in for cucoctl that prints what it is told.
class VerifyScript : public EvidenceTest {
protected:
    void write(const std::string& id = {})
    {
        ASSERT_TRUE(writeFolderAtomically(folder / "bundle", collect(id.empty() ? best : id)));
    }
    CommandOutcome verify(const std::string& probe, const std::string& result, int result_code = 0)
    {
        testing::writeText(folder / "probe.json", probe);
        testing::writeText(folder / "result.json", result);
        testing::writeText(
            folder / "cucoctl",
            fmt::format("#!/bin/sh\nprintf '%s\\n' \"$@\" >> {0}/asked.txt\n"
                        "case $1 in node) cat {0}/probe.json ;; eval) cat {0}/result.json; exit {1} ;; esac\n",
                        folder.path().string(), result_code));
        std::filesystem::permissions(folder / "cucoctl", std::filesystem::perms::owner_all);
        Command command;
        command.argv = {(folder / "bundle/verify.sh").string()};
        command.working_directory = folder.path();
        command.environment = scrubbedEnvironment();
        command.environment["CUCOCTL"] = (folder / "cucoctl").string();
        return runCommand(command).value();
    }
    std::string probe() const { return readText(folder / "bundle/environment.json"); }
    std::string result(double speedup, const std::string& verdict = "verified") const
    {
        const nlohmann::json document{{"verdict", verdict}, {"message", ""},      {"speedup", speedup},
                                      {"ci_low", speedup},  {"ci_high", speedup}, {"overlap", {{"speedup", 7}}}};
        return document.dump(2) + "\n";
    }
    double recorded() const
    {
        const auto run = snapshot();
        return std::ranges::find(run.candidates, best, &Candidate::id)->evaluation->speedup().value();
    }
    static std::string lastLine(const std::string& text)
    {
        const auto end = text.find_last_not_of('\n');
        return text.substr(text.rfind('\n', end) + 1, end - text.rfind('\n', end));
    }
};

TEST_F(VerifyScript, AgreesWhenTheIntervalsMeet)
{
    makeRun();
    write();
    const auto outcome = verify(probe(), result(recorded() * 1.01));
    EXPECT_EQ(outcome.exit_code, 0) << outcome.out << outcome.err;
    EXPECT_THAT(lastLine(outcome.out), HasSubstr("AGREES: the intervals meet, modelled speed-up"));
    const std::string asked = readText(folder / "asked.txt");
    EXPECT_THAT(asked, HasSubstr("--ranks\n2\n"));
    EXPECT_THAT(asked, HasSubstr("--shape\nsmall\n"));
}

TEST_F(VerifyScript, DiffersWhenTheyDoNotOrTheVerdictDoes)
{
    makeRun();
    write();
    auto outcome = verify(probe(), result(recorded() * 0.8));
    EXPECT_EQ(outcome.exit_code, 1);
    EXPECT_THAT(lastLine(outcome.out), HasSubstr("DIFFERS: the intervals do not meet"));
    outcome = verify(probe(), result(1, "wrong_result"), 1);
    EXPECT_EQ(outcome.exit_code, 1);
    EXPECT_THAT(lastLine(outcome.out), HasSubstr("DIFFERS: the verdict is wrong_result"));
}

TEST_F(VerifyScript, ComparesWithNodesOfTheSameKindOnly)
{
    makeRun();
    write();
    auto other = nlohmann::json::parse(probe());
    other["gpus"].push_back({{"name", "NVIDIA H200"}});
    auto outcome = verify(other.dump(2), result(recorded()));
    EXPECT_EQ(outcome.exit_code, 3);
    EXPECT_THAT(lastLine(outcome.out), HasSubstr("NOT COMPARED: The node has other GPUs: NVIDIA H200"));
    other = nlohmann::json::parse(probe());
    other["modelled"] = false;
    outcome = verify(other.dump(2), result(recorded()));
    EXPECT_EQ(outcome.exit_code, 3);
    EXPECT_THAT(lastLine(outcome.out), HasSubstr("another kind of node"));
}

TEST_F(VerifyScript, SaysThatCucoctlIsMissingOrFailed)
{
    makeRun();
    write();
    auto outcome = verify(probe(), "", 3);
    EXPECT_EQ(outcome.exit_code, 3);
    EXPECT_THAT(lastLine(outcome.out), HasSubstr("NOT COMPARED: cucoctl eval ended with 3"));
    Command command;
    command.argv = {(folder / "bundle/verify.sh").string()};
    command.environment = {{"PATH", "/usr/bin:/bin"}, {"CUCOCTL", "no-such-cucoctl"}};
    outcome = runCommand(command).value();
    EXPECT_EQ(outcome.exit_code, 3);
    EXPECT_THAT(lastLine(outcome.out), HasSubstr("no-such-cucoctl was not found"));
}

TEST_F(VerifyScript, TakesNothingOfTheRunFileForACommand)
{
    RunConfig config = fakeConfig(1, 6);
    config.workload = "it's; touch " + (folder / "pwned").string() + " #$(touch pwned)`touch pwned`";
    config.node = "'\"; touch pwned; {{speedup}}";
    makeRun(config);
    write();
    const auto outcome = verify(probe(), result(recorded()));
    EXPECT_EQ(outcome.exit_code, 0) << outcome.out << outcome.err;
    EXPECT_FALSE(std::filesystem::exists(folder / "pwned"));
    EXPECT_THAT(readText(folder / "asked.txt"), HasSubstr(config.workload + "\n"));
}

TEST(Folder, IsWrittenWholeOrNotAtAll)
{
    const testing::TemporaryFolder folder;
    const auto target = folder / "out";
    ASSERT_TRUE(writeFolderAtomically(target, {{"a.txt", "a"}, {"b/c.txt", "c", true}}));
    EXPECT_EQ(readText(target / "b/c.txt"), "c");
    EXPECT_NE(std::filesystem::status(target / "b/c.txt").permissions() & std::filesystem::perms::owner_exec,
              std::filesystem::perms::none);
    const auto full = writeFolderAtomically(target, {{"d.txt", "d"}});
    ASSERT_FALSE(full);
    EXPECT_THAT(full.error().what, HasSubstr("already something"));
    EXPECT_FALSE(std::filesystem::exists(target / "d.txt"));

    std::filesystem::create_directory(folder / "empty");
    EXPECT_TRUE(writeFolderAtomically(folder / "empty/", {{"a.txt", "a"}}));
    EXPECT_EQ(readText(folder / "empty/a.txt"), "a");

    EXPECT_FALSE(writeFolderAtomically(folder / "escape", {{"a.txt", "a"}, {"../b.txt", "b"}}));
    testing::writeText(folder / "file", "precious");
    EXPECT_FALSE(writeFolderAtomically(folder / "file", {{"a.txt", "a"}}));
    EXPECT_FALSE(writeFolderAtomically(folder / "missing/out", {{"a.txt", "a"}}));
    EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.path()), {}), 3);
}

}  // namespace
}  // namespace cuco
