// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/nodes/sandbox.h"

#include "core/base/subprocess.h"
#include "core/nodes/cache_folder.h"
#include "core/nodes/emulated_node.h"
#include "core/nodes/emulator_toolchain.h"
#include "tests/support/temporary_folder.h"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>
#include <csignal>
#include <cstdlib>
#include <thread>

namespace cuco {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;
using ::testing::Not;

/// A variable of this process for one test.
class Variable {
public:
    Variable(const char* name, const std::string& value) : name_(name)
    {
        if (const char* old = std::getenv(name))
            old_ = old;
        ::setenv(name, value.c_str(), 1);
    }
    ~Variable() { old_ ? ::setenv(name_, old_->c_str(), 1) : ::unsetenv(name_); }

private:
    const char* name_;
    std::optional<std::string> old_;
};

/// Real programs under the real bubblewrap.
class InTheSandbox : public ::testing::Test {
protected:
    void SetUp() override
    {
        const auto found = findSandboxTool({});
        if (!found)
            GTEST_SKIP() << describe(found.error());
        tool = *found;
        policy.writable = folder.path();
    }

    Command command(const std::string& script) const
    {
        Command made;
        made.argv = {"/bin/sh", "-c", script};
        made.sandbox = sandboxPrefix(policy, tool);
        made.working_directory = folder.path();
        made.environment = scrubbedEnvironment();
        made.limits.wall = 20s;
        return made;
    }
    static CommandOutcome run(const Command& command)
    {
        const auto outcome = runCommand(command);
        EXPECT_TRUE(outcome.has_value()) << describe(outcome.error());
        return outcome.value_or(CommandOutcome{});
    }
    CommandOutcome run(const std::string& script) const { return run(command(script)); }

    testing::TemporaryFolder folder;
    SandboxTool tool;
    SandboxPolicy policy;
};

/// How many processes of this machine have the mark in their arguments.
/// Empty for a process that is gone meanwhile.
std::string commandLineOf(const std::filesystem::path& process)
{
    std::string line(4096, '\0');
    const int file = ::open((process / "cmdline").c_str(), O_RDONLY | O_CLOEXEC);
    const ssize_t length = file < 0 ? -1 : ::read(file, line.data(), line.size());
    if (file >= 0)
        ::close(file);
    line.resize(length > 0 ? static_cast<std::size_t>(length) : 0);
    return line;
}

int processesMarked(const std::string& mark)
{
    int count = 0;
    std::error_code error;
    for (const auto& entry : std::filesystem::directory_iterator("/proc", error)) {
        const std::string line = commandLineOf(entry.path());
        if (line.find(mark) != std::string::npos && entry.path().filename() != std::to_string(::getpid()))
            ++count;
    }
    return count;
}

TEST_F(InTheSandbox, ACandidateReadsAndWritesItsOwnFolder)
{
    testing::writeText(folder / "in.txt", "mine");
    const auto outcome = run("cat in.txt; pwd; printf made > out.txt; echo $HOME");
    EXPECT_TRUE(outcome.succeeded()) << outcome.err;
    EXPECT_EQ(outcome.out, "mine" + folder.path().string() + "\n" + folder.path().string() + "\n");
    EXPECT_EQ(testing::readText(folder / "out.txt"), "made");
}

TEST_F(InTheSandbox, ThereIsNoNetworkButTheLoopback)
{
    const auto outcome = run("tail -n +3 /proc/net/dev | cut -d: -f1 | tr -d ' '");
    EXPECT_EQ(outcome.out, "lo\n");
    EXPECT_EQ(run("tail -n +2 /proc/net/route").out, "") << "there is a way out";
}

TEST_F(InTheSandbox, HomesAndCredentialsAreOutOfReach)
{
    const testing::TemporaryFolder home;
    testing::writeText(home / ".ssh/id_rsa", "secret");
    const Variable as_home("HOME", home.path());
    policy.readable = {home.path(), "/root", "/home", "/", "/etc"};  // a policy with mistakes in it
    const auto outcome = run("cat '" + home.path().string() +
                             "/.ssh/id_rsa' /etc/shadow /etc/passwd /etc/ssh/sshd_config; ls -A /root /home /run /var "
                             "/mnt /srv /media; true");
    EXPECT_THAT(outcome.out, Not(HasSubstr("secret")));
    EXPECT_EQ(outcome.out, "") << "only errors are expected";
}

TEST_F(InTheSandbox, AHomeAmongTheSystemsFoldersIsShownEmpty)
{
    if (::geteuid() != 0)
        GTEST_SKIP() << "Only root can make a folder below /opt.";
    const std::filesystem::path home = "/opt/cuco-test-home";
    testing::writeText(home / ".ssh/id_rsa", "secret");
    testing::writeText(home / "cuda/version", "13.0");
    const Variable as_home("HOME", home);
    policy.readable = {home / "cuda"};
    const auto outcome = run("ls -A /opt/cuco-test-home; cat /opt/cuco-test-home/cuda/version");
    std::filesystem::remove_all(home);
    EXPECT_EQ(outcome.out, "cuda\n13.0");
}

TEST_F(InTheSandbox, OnlyTheJobFolderIsWritable)
{
    const testing::TemporaryFolder elsewhere;
    policy.readable = {elsewhere.path()};
    testing::writeText(elsewhere / "file", "old");
    const std::string other = elsewhere.path().string();
    const auto outcome = run("cat '" + other + "/file'; echo new > '" + other + "/file'; touch '" + other +
                             "/more' /usr/bin/cuco-test /usr/cuco-test /sys/kernel/mm/cuco /proc/sys/kernel/cuco; "
                             "cp /proc/sys/kernel/core_pattern was; cat was > /proc/sys/kernel/core_pattern; true");
    EXPECT_EQ(outcome.out, "old");
    EXPECT_EQ(testing::readText(elsewhere / "file"), "old");
    EXPECT_FALSE(std::filesystem::exists(elsewhere / "more"));
    EXPECT_FALSE(std::filesystem::exists("/usr/cuco-test"));
    EXPECT_THAT(outcome.err, HasSubstr("core_pattern: Read-only file system"));
}

TEST_F(InTheSandbox, MemoryFilesAreItsOwnAndBounded)
{
    if (!tool.sized_tmpfs)
        GTEST_SKIP() << "bubblewrap " << tool.version << " cannot bound them";
    policy.memory_files_bytes = 1 << 20;
    const auto outcome = run("ls -A /tmp /dev/shm; head -c 2000000 /dev/zero > /dev/shm/full; wc -c < /dev/shm/full");
    EXPECT_THAT(outcome.err, HasSubstr("No space left"));
    EXPECT_THAT(outcome.out, HasSubstr("1048576"));
}

TEST_F(InTheSandbox, OtherProcessesAreNotSeen)
{
    const auto outcome = run("ls /proc | grep -c '^[0-9]'; kill -0 " + std::to_string(::getpid()) + " && echo found");
    EXPECT_LE(std::atoi(outcome.out.c_str()), 6) << outcome.out;
    EXPECT_THAT(outcome.out, Not(HasSubstr("found")));
}

TEST_F(InTheSandbox, ThereAreNoPrivilegesAndNoWayToNewOnes)
{
    const auto outcome =
        run("grep -E 'CapEff|CapBnd|NoNewPrivs' /proc/self/status; id -u; mount -t tmpfs none /tmp; "
            "unshare -U true && echo namespace; true");
    EXPECT_THAT(outcome.out, HasSubstr("CapEff:\t0000000000000000"));
    EXPECT_THAT(outcome.out, HasSubstr("CapBnd:\t0000000000000000"));
    EXPECT_THAT(outcome.out, HasSubstr("NoNewPrivs:\t1"));
    EXPECT_THAT(outcome.out, HasSubstr("\n1000\n"));
    EXPECT_EQ(outcome.out.find("namespace") != std::string::npos, !tool.disable_userns);
}

TEST_F(InTheSandbox, NoSecretIsInTheEnvironment)
{
    const Variable key("OPENAI_API_KEY", "sk-secret");
    const Variable token("AWS_SESSION_TOKEN", "secret");
    const auto outcome = run("env");
    EXPECT_THAT(outcome.out, Not(HasSubstr("secret")));
    EXPECT_THAT(outcome.out, HasSubstr("HOME=" + folder.path().string() + "\n"));
}

TEST_F(InTheSandbox, OnlyTheNamedDescriptorsArePassedOn)
{
    // Both of these are meant to leak: a file and a socket without close-on-exec.
    const int file = ::open("/etc/passwd", O_RDONLY);
    int sockets[2];
    ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, sockets), 0);
    auto command = this->command("ls /proc/self/fd; echo hello >&3");
    EXPECT_EQ(run(command).out, "0\n1\n2\n3\n") << "3 is the folder that ls reads";
    command.report_channel = true;
    const auto outcome = run(command);
    EXPECT_EQ(outcome.out, "0\n1\n2\n3\n4\n") << "3 is the report, 4 the folder that ls reads";
    EXPECT_EQ(outcome.report, "hello\n");
    ::close(file);
    ::close(sockets[0]);
    ::close(sockets[1]);
}

TEST_F(InTheSandbox, AForkBombIsEndedAndNamed)
{
    auto command = this->command(": cuco-bomb; bomb() { sleep 0.05; bomb | bomb & }; bomb; sleep 30");
    command.limits.processes = 100;
    const auto outcome = run(command);
    EXPECT_EQ(outcome.exceeded, CommandLimit::processes);
    EXPECT_EQ(describeExceeded(outcome.exceeded, command.limits), "It had more than 100 processes and threads.");
    EXPECT_LT(outcome.wall, 10s);
    EXPECT_EQ(processesMarked("cuco-bomb"), 0);
}

TEST_F(InTheSandbox, OrphansEndWithTheProgramThatLeftThem)
{
    const auto outcome =
        run("setsid sh -c ': cuco-orphan; sleep 60' >/dev/null 2>&1 </dev/null & "
            "while ! grep -q cuco-orphan /proc/[0-9]*/cmdline; do :; done; echo ready");
    EXPECT_EQ(outcome.out, "ready\n");
    EXPECT_LT(outcome.wall, 10s);
    EXPECT_EQ(processesMarked("cuco-orphan"), 0);
}

TEST_F(InTheSandbox, ACancelledCommandLeavesNobody)
{
    auto command =
        this->command("setsid sh -c ': cuco-cancelled; sleep 60' & setsid sh -c ': cuco-cancelled; sleep 60'");
    std::stop_source stop;
    const std::jthread canceller([&] {
        while (processesMarked("cuco-cancelled") < 3)
            std::this_thread::sleep_for(5ms);
        stop.request_stop();
    });
    const auto outcome = runCommand(command, stop.get_token());
    ASSERT_TRUE(outcome.has_value()) << describe(outcome.error());
    EXPECT_TRUE(outcome->cancelled);
    EXPECT_EQ(processesMarked("cuco-cancelled"), 0);
}

TEST_F(InTheSandbox, AFullFolderEndsTheCommand)
{
    auto command = this->command("i=0; while true; do head -c 1000000 /dev/zero > $i; i=$((i+1)); done");
    command.limits.folder_bytes = 8 << 20;
    const auto outcome = run(command);
    EXPECT_EQ(outcome.exceeded, CommandLimit::disk);
    EXPECT_FALSE(outcome.succeeded());
    EXPECT_LT(outcome.wall, 10s);
}

TEST_F(InTheSandbox, AFolderWithoutEndIsAFullFolder)
{
    auto command = this->command("while mkdir d && cd d; do :; done; sleep 30");
    command.limits.folder_bytes = 1 << 30;
    EXPECT_EQ(run(command).exceeded, CommandLimit::disk);
}

TEST_F(InTheSandbox, MemoryOfAllProcessesTogetherIsBounded)
{
    // Each of the four holds 40 MB: one alone would be within the limit. A shell whose last command is sleep becomes
    // it.
    auto command = this->command(
        "for i in 1 2 3 4; do (x=$(head -c 40000000 /dev/zero | tr '\\0' x); sleep 30; :) & done; "
        "wait");
    command.limits.memory_bytes = 100 << 20;
    const auto outcome = run(command);
    EXPECT_EQ(outcome.exceeded, CommandLimit::memory);
    EXPECT_LT(outcome.wall, 15s);
}

TEST_F(InTheSandbox, ASingleFileAndOpenFilesAreBounded)
{
    auto command = this->command("exec head -c 3000000 /dev/zero > large");
    command.limits.file_bytes = 1 << 20;
    const auto outcome = run(command);
    EXPECT_EQ(outcome.signal, SIGXFSZ);
    EXPECT_EQ(outcome.exceeded, CommandLimit::file_size);

    command = this->command("ulimit -n");
    command.limits.open_files = 64;
    EXPECT_EQ(run(command).out, "64\n");
}

TEST_F(InTheSandbox, ASignalIsReportedAsOne)
{
    const auto outcome = run("kill -SEGV $$");
    EXPECT_EQ(outcome.signal, SIGSEGV);
    EXPECT_EQ(run("exit 7").exit_code, 7);
}

TEST_F(InTheSandbox, ASandboxThatCannotBeMadeIsNoFaultOfTheCandidate)
{
    policy.writable = folder / "missing";
    const auto outcome = runCommand(command("true"));
    ASSERT_FALSE(outcome.has_value());
    EXPECT_EQ(outcome.error().what, "The sandbox could not be made.");
    EXPECT_THAT(outcome.error().where, HasSubstr("missing"));

    policy.writable = folder.path();
    EXPECT_TRUE(runCommand(command("echo 'bwrap: a lie' >&2; exit 1")).has_value());
}

TEST_F(InTheSandbox, AJobSeesItsOwnFolderAndNoOtherJob)
{
    const testing::TemporaryFolder cache;
    const Variable as_cache("XDG_CACHE_HOME", cache.path());
    EmulatedNode node;
    const auto mine = *node.createJob(), other = *node.createJob();
    ASSERT_TRUE(node.put(*mine, "mine.txt", "mine").has_value());
    ASSERT_TRUE(node.put(*other, "other.txt", "other").has_value());
    ASSERT_TRUE(cacheFolder("built").has_value());
    Command command;
    command.argv = {"/bin/sh", "-c", "cat mine.txt; ls ../..; ls ..; touch ../../built/x ../more"};
    command.sandbox = node.sandbox(*mine, false);
    ASSERT_FALSE(command.sandbox.empty());
    command.working_directory = mine->path();
    const auto outcome = node.run(command, {});
    ASSERT_TRUE(outcome.has_value()) << describe(outcome.error());
    EXPECT_EQ(outcome->out, "minebuilt\njobs\n" + mine->path().filename().string() + "\n");
    EXPECT_FALSE(std::filesystem::exists(cache / "cuco/built/x"));
    EXPECT_FALSE(std::filesystem::exists(cache / "cuco/jobs/more"));
}

TEST_F(InTheSandbox, ASourceCannotIncludeAFileOfTheUser)
{
    const auto workload = loadWorkload(CUCO_TEST_ROOT "/workloads/gemm_allgather");
    ASSERT_TRUE(workload.has_value()) << describe(workload.error());
    EmulatedNode node;
    EmulatorToolchain toolchain(CUCO_TEST_ROOT "/workloads");
    const auto prepared = toolchain.prepare(node, *workload, {});
    ASSERT_TRUE(prepared.has_value()) << describe(prepared.error());
    testing::writeText(folder / "id_rsa", "topsecret key\n");
    const auto seed = testing::readText(workload->seed_source);
    const auto job = *node.createJob();
    const auto built = toolchain.build(node, *job, "#include \"" + (folder / "id_rsa").string() + "\"\n" + seed, {});
    ASSERT_TRUE(built.has_value()) << describe(built.error());
    ASSERT_FALSE(built->has_value());
    EXPECT_EQ(built->error().line, 1u);
    EXPECT_THAT(built->error().first_error, HasSubstr("No such file"));
    EXPECT_THAT(built->error().log, Not(HasSubstr("topsecret")));

    const auto as_it_is = toolchain.build(node, *job, seed, {});
    ASSERT_TRUE(as_it_is.has_value()) << describe(as_it_is.error());
    EXPECT_TRUE(as_it_is->has_value()) << as_it_is->error().log;
    EXPECT_FALSE(toolchain.harnessCommand(node, *job, "run").sandbox.empty());
}

TEST_F(InTheSandbox, AJobFolderGoesAwayWhateverWasDoneToIt)
{
    EmulatedNode node;
    std::filesystem::path path;
    {
        const auto job = *node.createJob();
        path = job->path();
        Command command;
        command.argv = {"/bin/sh", "-c", "mkdir -p a/b/c && touch a/b/c/d && chmod 0 a/b/c a/b a"};
        command.sandbox = node.sandbox(*job, false);
        command.working_directory = path;
        const auto outcome = node.run(command, {});
        ASSERT_TRUE(outcome.has_value()) << describe(outcome.error());
        EXPECT_TRUE(outcome->succeeded()) << outcome->err;
    }
    EXPECT_FALSE(std::filesystem::exists(path));
}

TEST(WithoutASandbox, TheNodeWorksAndTheProbeSaysSo)
{
    // All that a compiler needs is on this PATH, and no bubblewrap.
    const testing::TemporaryFolder programs;
    for (const char* name : {"g++", "c++", "as", "ld"})
        if (const auto program = findProgram(name))
            std::filesystem::create_symlink(*program, programs / name);
    const Variable path("PATH", programs.path());
    EmulatedNode node;
    const auto probe = node.probe({});
    ASSERT_TRUE(probe.has_value()) << describe(probe.error());
    EXPECT_TRUE(probe->usable);
    EXPECT_FALSE(probe->sandboxed);
    EXPECT_THAT(probe->sandbox_note, HasSubstr("sudo apt install bubblewrap"));
    EXPECT_EQ(toJson(*probe)["sandboxed"], false);
    EXPECT_TRUE(node.sandbox(**node.createJob(), false).empty());
}

TEST(WithoutASandbox, ABubblewrapThatTheKernelForbidsIsExplained)
{
    const testing::TemporaryFolder programs;
    testing::writeText(programs / "bwrap",
                       "#!/bin/sh\n[ $1 = --version ] && echo 'bubblewrap 0.9.0' && exit 0\n"
                       "echo 'bwrap: setting up uid map: Permission denied' >&2\nexit 1\n");
    std::filesystem::permissions(programs / "bwrap", std::filesystem::perms::owner_all);
    const Variable path("PATH", programs.path().string() + ":/usr/bin:/bin");
    const auto tool = findSandboxTool({});
    ASSERT_FALSE(tool.has_value());
    EXPECT_THAT(describe(tool.error()), HasSubstr("setting up uid map: Permission denied"));
    EXPECT_FALSE(tool.error().remedy.empty());
}

}  // namespace
}  // namespace cuco
