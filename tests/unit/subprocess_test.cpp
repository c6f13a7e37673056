// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/subprocess.h"

#include <gmock/gmock.h>

#include <csignal>
#include <fstream>
#include <thread>

namespace cuco {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

Command shell(const std::string& script)
{
    Command command;
    command.argv = {"/bin/sh", "-c", script};
    command.environment = scrubbedEnvironment();
    command.limits.wall = 20s;
    return command;
}

CommandOutcome run(const Command& command, std::stop_token stop = {})
{
    auto outcome = runCommand(command, std::move(stop));
    EXPECT_TRUE(outcome.has_value()) << describe(outcome.error());
    return outcome.value_or(CommandOutcome{});
}

/// Dead or a zombie that only its new parent can take away.
bool isGone(pid_t pid)
{
    std::ifstream status("/proc/" + std::to_string(pid) + "/stat");
    std::string text;
    if (!std::getline(status, text)) {
        return true;
    }
    return text.substr(text.rfind(')') + 2, 1) == "Z";
}

bool goesAway(pid_t pid)
{
    for (int i = 0; i < 500 && !isGone(pid); ++i) {
        std::this_thread::sleep_for(10ms);
    }
    return isGone(pid);
}

TEST(Subprocess, KeepsTheTwoOutputStreamsApart)
{
    const auto outcome = run(shell("printf out; printf err >&2"));
    EXPECT_EQ(outcome.out, "out");
    EXPECT_EQ(outcome.err, "err");
    EXPECT_TRUE(outcome.succeeded());
    EXPECT_FALSE(outcome.output_truncated);
    EXPECT_GT(outcome.wall.count(), 0);
}

TEST(Subprocess, ReportsTheExitCode)
{
    const auto outcome = run(shell("exit 7"));
    EXPECT_EQ(outcome.exit_code, 7);
    EXPECT_EQ(outcome.signal, 0);
    EXPECT_FALSE(outcome.succeeded());
}

TEST(Subprocess, ReportsTheSignalThatEndedTheProgram)
{
    const auto outcome = run(shell("kill -SEGV $$"));
    EXPECT_EQ(outcome.signal, SIGSEGV);
    EXPECT_FALSE(outcome.timed_out);
    EXPECT_FALSE(outcome.succeeded());
}

TEST(Subprocess, PassesArgumentsWithoutAShell)
{
    Command command = shell("");
    command.argv = {"printf", "%s|", "a b", "$HOME", "; exit 3", ""};
    EXPECT_EQ(run(command).out, "a b|$HOME|; exit 3||");
}

TEST(Subprocess, WritesAllOfTheInputAndClosesIt)
{
    Command command = shell("cat");
    command.input = std::string(300'000, 'x') + "end";
    EXPECT_EQ(run(command).out, command.input);
}

TEST(Subprocess, SurvivesAProgramThatDoesNotReadItsInput)
{
    Command command = shell("exec <&-; sleep 0.1; echo done");
    command.input = std::string(4 << 20, 'x');
    const auto outcome = run(command);
    EXPECT_EQ(outcome.out, "done\n");
    EXPECT_TRUE(outcome.succeeded());
}

TEST(Subprocess, GivesTheEnvironmentExactlyAsGiven)
{
    Command command = shell("");
    command.argv = {"/usr/bin/env"};
    command.environment = {{"ONE", "1"}, {"TWO", "a=b c"}};
    EXPECT_EQ(run(command).out, "ONE=1\nTWO=a=b c\n");
    command.environment.clear();
    EXPECT_EQ(run(command).out, "");
}

TEST(Subprocess, RunsInTheWorkingDirectory)
{
    Command command = shell("pwd -P");
    command.working_directory = "/usr";
    EXPECT_EQ(run(command).out, "/usr\n");
}

TEST(Subprocess, ReadsTheReportChannelApartFromTheOutput)
{
    Command command = shell("echo \"to $CUCO_REPORT_FD\" >&3; echo log");
    command.report_channel = true;
    const auto outcome = run(command);
    EXPECT_EQ(outcome.report, "to 3\n");
    EXPECT_EQ(outcome.out, "log\n");
}

TEST(Subprocess, LeavesNoDescriptorOpenBesideTheStandardOnes)
{
    const int leaked = ::dup(0);  // without close-on-exec
    ASSERT_GE(leaked, 0);
    const auto outcome = run(shell("ls /proc/self/fd"));
    ::close(leaked);
    // 3 is ls's own, for the folder.
    EXPECT_EQ(outcome.out, "0\n1\n2\n3\n");
}

TEST(Subprocess, KeepsTheFirstBytesOfTooMuchOutput)
{
    Command command = shell("printf 0123456789; head -c 5000000 /dev/zero; echo e >&2");
    command.limits.output_bytes = 4;
    const auto outcome = run(command);
    EXPECT_EQ(outcome.out, "0123");
    EXPECT_EQ(outcome.err, "e\n");
    EXPECT_TRUE(outcome.output_truncated);
    EXPECT_TRUE(outcome.succeeded());
}

TEST(Subprocess, EndsGrandchildrenToo_WhenTheTimeIsUp)
{
    Command command = shell("sleep 1000 & echo $!; wait");
    command.limits.wall = 300ms;
    const auto outcome = run(command);
    EXPECT_TRUE(outcome.timed_out);
    EXPECT_FALSE(outcome.cancelled);
    EXPECT_FALSE(outcome.succeeded());
    ASSERT_FALSE(outcome.out.empty());
    EXPECT_TRUE(goesAway(std::stoi(outcome.out)));
}

TEST(Subprocess, DoesNotWaitForAnOrphanThatHoldsThePipes)
{
    const auto outcome = run(shell("sleep 1000 & echo $!"));
    EXPECT_TRUE(outcome.succeeded());
    ASSERT_FALSE(outcome.out.empty());
    EXPECT_TRUE(goesAway(std::stoi(outcome.out)));
}

TEST(Subprocess, ReturnsThoughAnOrphanEscapedFromTheGroup)
{
    const auto outcome = run(shell("setsid sh -c 'echo $$; exec sleep 1000' & sleep 0.3"));
    EXPECT_TRUE(outcome.succeeded());
    ASSERT_FALSE(outcome.out.empty());
    ::kill(std::stoi(outcome.out), SIGKILL);
}

TEST(Subprocess, EndsAProgramThatPrintsForEver)
{
    Command command = shell("yes");
    command.limits.wall = 300ms;
    command.limits.output_bytes = 100;
    const auto outcome = run(command);
    EXPECT_TRUE(outcome.timed_out);
    EXPECT_TRUE(outcome.output_truncated);
    EXPECT_EQ(outcome.out.size(), 100u);
}

TEST(Subprocess, EndsAProgramThatIgnoresPoliteSignals)
{
    Command command = shell("trap '' TERM INT HUP; while :; do sleep 1; done");
    command.limits.wall = 200ms;
    EXPECT_EQ(run(command).signal, SIGKILL);
}

TEST(Subprocess, CanBeCancelledFromAnotherThread)
{
    std::stop_source source;
    std::jthread canceller([&] {
        std::this_thread::sleep_for(100ms);
        source.request_stop();
    });
    const auto outcome = run(shell("echo started; sleep 1000"), source.get_token());
    EXPECT_TRUE(outcome.cancelled);
    EXPECT_FALSE(outcome.timed_out);
    EXPECT_FALSE(outcome.succeeded());
    EXPECT_EQ(outcome.out, "started\n");
}

TEST(Subprocess, StartsNothingWhenItIsAlreadyCancelled)
{
    std::stop_source source;
    source.request_stop();
    const auto outcome = run(shell("echo started"), source.get_token());
    EXPECT_TRUE(outcome.cancelled);
    EXPECT_EQ(outcome.out, "");
}

TEST(Subprocess, NamesAProgramThatIsNotThere)
{
    Command command = shell("");
    for (const char* name : {"no-such-program-anywhere", "/no/such/program"}) {
        command.argv = {name};
        const auto outcome = runCommand(command);
        ASSERT_FALSE(outcome.has_value());
        EXPECT_THAT(outcome.error().what, HasSubstr(name));
    }
    command.argv.clear();
    EXPECT_FALSE(runCommand(command).has_value());
}

TEST(Subprocess, NamesAWorkingDirectoryThatIsNotThere)
{
    Command command = shell("true");
    command.working_directory = "/no/such/folder";
    const auto outcome = runCommand(command);
    ASSERT_FALSE(outcome.has_value());
    EXPECT_EQ(outcome.error().where, "/no/such/folder");
}

TEST(Subprocess, RefusesTextsThatExecveWouldCutShort)
{
    Command command = shell("true");
    command.argv.push_back(std::string("a\0b", 3));
    EXPECT_FALSE(runCommand(command).has_value());
}

TEST(Subprocess, LimitsTheSizeOfFilesAndTheAddressSpace)
{
    Command command = shell("ulimit -f; ulimit -v; ulimit -c");
    command.limits.file_bytes = 1 << 20;
    command.limits.address_space_bytes = std::uint64_t{8} << 30;
    EXPECT_EQ(run(command).out, "2048\n8388608\n0\n");
}

TEST(Subprocess, GivesTheProgramDefaultSignals)
{
    std::signal(SIGPIPE, SIG_IGN);
    const auto outcome = run(shell("grep -E 'SigIgn|SigBlk' /proc/self/status"));
    std::signal(SIGPIPE, SIG_DFL);
    EXPECT_EQ(outcome.out, "SigBlk:\t0000000000000000\nSigIgn:\t0000000000000000\n");
}

TEST(Subprocess, RunsFromManyThreadsAtOnce)
{
    std::vector<std::jthread> threads;
    std::vector<std::string> outputs(8);
    for (std::size_t i = 0; i < outputs.size(); ++i) {
        threads.emplace_back([&outputs, i] {
            for (int repeat = 0; repeat < 10; ++repeat) {
                Command command = shell("cat");
                command.input = std::to_string(i);
                command.limits.wall = 1h;  // an exit that goes unseen hangs the test
                outputs[i] += runCommand(command).value_or(CommandOutcome{}).out;
            }
        });
    }
    threads.clear();
    for (std::size_t i = 0; i < outputs.size(); ++i) {
        EXPECT_EQ(outputs[i], std::string(10, static_cast<char>('0' + i)));
    }
}

TEST(Subprocess, FindsProgramsOnThePathOnly)
{
    EXPECT_EQ(findProgram("/bin/sh"), std::filesystem::path("/bin/sh"));
    EXPECT_TRUE(findProgram("sh").has_value());
    EXPECT_FALSE(findProgram("no-such-program-anywhere").has_value());
    EXPECT_FALSE(findProgram("").has_value());
    EXPECT_FALSE(findProgram("/usr").has_value());
}

TEST(Subprocess, ScrubsKeysFromTheEnvironment)
{
    ::setenv("CUCO_TEST_API_KEY", "secret", 1);
    const auto environment = scrubbedEnvironment();
    ::unsetenv("CUCO_TEST_API_KEY");
    EXPECT_FALSE(environment.contains("CUCO_TEST_API_KEY"));
    EXPECT_TRUE(environment.contains("PATH"));
}

}  // namespace
}  // namespace cuco
