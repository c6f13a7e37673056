// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/support/fake_run.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sys/wait.h>
#include <unistd.h>
#include <array>
#include <csignal>
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

Outcome runAndKill(const std::filesystem::path& path, const Workload& workload, const RunConfig& config,
                   std::chrono::microseconds after)
{
    std::array<int, 2> ends{};
    EXPECT_EQ(::pipe(ends.data()), 0);
    const pid_t child = ::fork();
    if (child == 0) {
        ::close(ends[0]);
        auto run = fakeRun(path, workload, config, slow(), [&](const RunEvent& event) {
            const auto* changed = std::get_if<CandidateChanged>(&event);
            if (!changed || changed->candidate.state != CandidateState::settled)
                return;
            const std::string line = changed->candidate.id + "\n";
            [[maybe_unused]] const auto written = ::write(ends[1], line.data(), line.size());
        });
        run->start();
        run->wait();
        run.reset();
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
            const auto outcome = runAndKill(path, workload, fakeConfig(seed),
                                            std::chrono::microseconds(random() % 40'000 + 500 * kills));
            finished = outcome.finished;
            if (!std::filesystem::exists(path)) {
                EXPECT_TRUE(outcome.announced.empty());
                continue;
            }
            auto file = RunFile::open(path, RunFile::Access::read);
            ASSERT_TRUE(file) << describe(file.error());
            const auto snapshot = (*file)->snapshot();
            ASSERT_TRUE(snapshot) << describe(snapshot.error());
            EXPECT_NE(snapshot->state, RunState::running);
            for (const Candidate& candidate : snapshot->candidates) {
                if (outcome.announced.contains(candidate.id)) {
                    EXPECT_EQ(candidate.state, CandidateState::settled) << candidate.id;
                }
            }
            if (!outcome.announced.empty()) {
                const int last = std::stoi(std::ranges::max(outcome.announced, {}, [](const std::string& id) {
                                               return std::stoi(id.substr(1));
                                           }).substr(1));
                EXPECT_LT(last, static_cast<int>(snapshot->candidates.size()));
            }
        }
        EXPECT_GT(kills, 2u);
        EXPECT_EQ(outcomeOf(path), outcomeOf(undisturbed)) << "seed " << seed << ", " << kills << " kills";
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
