// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/support/slow_path_run.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sys/wait.h>
#include <unistd.h>
#include <array>
#include <cmath>
#include <csignal>
#include <map>
#include <random>
#include <set>

namespace cuco {
namespace {

using testing::fakeConfig;
using testing::FakeEvaluator;
using testing::fakeRun;
using testing::outcomeOf;

FakeEvaluator::Options slow()
{
    FakeEvaluator::Options options;
    options.longest_delay = std::chrono::milliseconds(4);
    return options;
}

/// Runs in a process of its own, which writes a line for each candidate it says is settled, and is killed.
struct Outcome {
    bool finished = false;
    std::set<std::string> announced;
};

Outcome runAndKill(const std::function<void(const RunObserver&)>& run, std::chrono::microseconds after)
{
    std::array<int, 2> ends{};
    EXPECT_EQ(::pipe(ends.data()), 0);
    const pid_t child = ::fork();
    if (child == 0) {
        ::close(ends[0]);
        run([&](const RunEvent& event) {
            const auto* changed = std::get_if<CandidateChanged>(&event);
            if (!changed || changed->candidate.state != CandidateState::settled)
                return;
            const std::string line = changed->candidate.id + "\n";
            [[maybe_unused]] const auto written = ::write(ends[1], line.data(), line.size());
        });
        ::_exit(0);
    }
    ::close(ends[1]);
    std::this_thread::sleep_for(after);
    ::kill(child, SIGKILL);
    std::string text;
    std::array<char, 256> chunk{};
    for (ssize_t got = 0; (got = ::read(ends[0], chunk.data(), chunk.size())) > 0;)
        text.append(chunk.data(), static_cast<std::size_t>(got));
    ::close(ends[0]);
    int status = 0;
    EXPECT_EQ(::waitpid(child, &status, 0), child);

    Outcome outcome{WIFEXITED(status) && WEXITSTATUS(status) == 0, {}};
    for (std::size_t begin = 0, end = 0; (end = text.find('\n', begin)) != std::string::npos; begin = end + 1)
        outcome.announced.insert(text.substr(begin, end - begin));
    return outcome;
}

/// What was announced as settled is so in the file, and nothing before it is missing.
void expectNothingLost(const std::filesystem::path& path, const Outcome& outcome)
{
    if (!std::filesystem::exists(path)) {
        EXPECT_TRUE(outcome.announced.empty());
        return;
    }
    auto file = RunFile::open(path, RunFile::Access::read);
    ASSERT_TRUE(file) << describe(file.error());
    const auto snapshot = (*file)->snapshot();
    ASSERT_TRUE(snapshot) << describe(snapshot.error());
    EXPECT_NE(snapshot->state, RunState::running);
    int last = -1;
    for (const std::string& id : outcome.announced)
        last = std::max(last, std::stoi(id.substr(1)));
    EXPECT_LT(last, static_cast<int>(snapshot->candidates.size()));
    for (const Candidate& candidate : snapshot->candidates) {
        if (outcome.announced.contains(candidate.id)) {
            EXPECT_EQ(candidate.state, CandidateState::settled) << candidate.id;
        }
    }
}

TEST(KillSafety, LosesNoSettledCandidateAndEndsAsIfItHadNeverBeenKilled)
{
    const testing::TemporaryFolder folder;
    const Workload workload = testing::fakeWorkload(folder / "workload", 4);
    std::mt19937 random(11);
    for (std::uint64_t seed = 1; seed <= 3; ++seed) {
        const auto undisturbed = folder / fmt::format("undisturbed{}.cuco", seed);
        auto run = fakeRun(undisturbed, workload, fakeConfig(seed));
        run->start();
        run->wait();
        run.reset();

        const auto path = folder / fmt::format("killed{}.cuco", seed);
        unsigned kills = 0;
        for (bool finished = false; !finished; ++kills) {
            ASSERT_LT(kills, 1'000u);
            const auto outcome = runAndKill(
                [&](const RunObserver& observer) {
                    const auto killed = fakeRun(path, workload, fakeConfig(seed), slow(), observer);
                    killed->start();
                    killed->wait();
                },
                std::chrono::microseconds(random() % 40'000 + 500 * kills));
            finished = outcome.finished;
            expectNothingLost(path, outcome);
        }
        EXPECT_GT(kills, 2u);
        EXPECT_EQ(outcomeOf(path), outcomeOf(undisturbed)) << "seed " << seed << ", " << kills << " kills";
    }
}

/// A search by models, with embeddings and several proposals in flight.
struct ModelSearch : testing::SlowPathRun {
    ModelSearch()
    {
        generations = 5;
        settings.further_models = {"n"};
        longest_delay = std::chrono::milliseconds(3);
        embeddings = std::make_shared<testing::ComputedClient>(
            [](const ChatRequest& request) {
                const double angle = testing::hashOf(request) * 0x1p-20;
                return testing::answerOf(fmt::format("[{},{}]", std::cos(angle), std::sin(angle)));
            },
            std::chrono::milliseconds(1));
    }
};

TEST(KillSafety, KillsASearchByModelsTwoHundredTimesAndPaysNoStoredCallTwice)
{
    std::mt19937 random(12);
    for (unsigned kills = 0, seed = 1; kills < 200; ++seed) {
        ModelSearch search;
        search.seed = seed;
        ASSERT_EQ(search.run(testing::inventive, slow()), RunState::finished) << search.snapshot().message;
        const std::string undisturbed = outcomeOf(search.path);
        std::filesystem::remove(search.path);
        unsigned kills_here = 0;
        for (bool finished = false; !finished; ++kills_here) {
            ASSERT_LT(kills_here, 1'000u);
            const auto outcome = runAndKill(
                [&](const RunObserver& observer) {
                    search.observer = observer;
                    search.run(testing::inventive, slow());
                },
                std::chrono::microseconds(random() % 50'000 + 500 * kills_here));
            finished = outcome.finished;
            expectNothingLost(search.path, outcome);
        }
        kills += kills_here - 1;
        EXPECT_EQ(outcomeOf(search.path), undisturbed) << "seed " << seed << ", " << kills_here - 1 << " kills";
        std::map<std::pair<std::string, std::string>, int> paid;
        for (const auto& call : search.calls())
            if (!call.error_kind)
                ++paid[{call.candidate_id, requestSha256(search.file()->llmCall(call.id)->request)}];
        EXPECT_GT(paid.size(), 20u);
        for (const auto& [call, count] : paid)
            EXPECT_EQ(count, 1) << call.second << " for " << call.first;
    }
}

TEST(KillSafety, KeepsADecisionThatReturned)
{
    const testing::TemporaryFolder folder;
    const Workload workload = testing::fakeWorkload(folder / "workload", 1);
    const auto path = folder / "run.cuco";
    const pid_t child = ::fork();
    if (child == 0) {
        auto run = fakeRun(path, workload, fakeConfig(1, 1));
        run->start();
        run->wait();
        if (!run->promote("c0", "kept"))
            ::_exit(1);
        ::raise(SIGKILL);
    }
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFSIGNALED(status));
    const auto snapshot = RunFile::open(path, RunFile::Access::write).value()->snapshot();
    ASSERT_TRUE(snapshot);
    ASSERT_EQ(snapshot->decisions.size(), 1u);
    EXPECT_EQ(snapshot->decisions[0].kind, DecisionKind::promoted);
    EXPECT_EQ(snapshot->decisions[0].reason, "kept");
}

}  // namespace
}  // namespace cuco
