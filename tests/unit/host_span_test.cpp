// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/nodes/host_span.h"
#include "core/base/subprocess.h"
#include "core/design/directive.h"
#include "core/evaluation/data_paths.h"
#include "core/evaluation/evaluator_factory.h"
#include "core/evaluation/harness_job.h"
#include "core/evaluation/harness_run.h"
#include "core/nodes/host_findings.h"
#include "core/nodes/sandbox.h"
#include "tests/support/evaluation_samples.h"
#include "tests/support/temporary_folder.h"

#include <gmock/gmock.h>

#include <cstdlib>

namespace cuco {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

/// A folder of programs that goes before all others.
class OwnPrograms {
public:
    OwnPrograms() : path_before_(std::getenv("PATH"))
    {
        ::setenv("PATH", (folder_.path().string() + ":" + path_before_).c_str(), 1);
    }
    ~OwnPrograms() { ::setenv("PATH", path_before_.c_str(), 1); }
    OwnPrograms(const OwnPrograms&) = delete;
    OwnPrograms& operator=(const OwnPrograms&) = delete;

    void add(const std::string& name, const std::string& script) const
    {
        testing::writeText(folder_ / name, "#!/bin/sh\n" + script + "\n");
        std::filesystem::permissions(folder_ / name, std::filesystem::perms::owner_all);
    }

private:
    testing::TemporaryFolder folder_;
    const std::string path_before_;
};

HostSpan spanOf(const std::string& name)
{
    auto span = parseHostSpan(name);
    EXPECT_TRUE(span && *span) << name;
    return span && *span ? **span : HostSpan{};
}

std::string errorOf(const std::string& name)
{
    const auto span = parseHostSpan(name);
    EXPECT_TRUE(span && !*span) << name;
    return span && !*span ? span->error().what + " " + span->error().remedy : "";
}

TEST(HostSpan, NamesTheLauncherAndEachHostWithItsGpus)
{
    const auto span = spanOf("mpirun:gpu-a=4,gpu-b.cluster=2");
    EXPECT_EQ(span.launcher, "mpirun");
    ASSERT_EQ(span.hosts.size(), 2u);
    EXPECT_EQ(span.hosts[0].name, "gpu-a");
    EXPECT_EQ(span.hosts[1].name, "gpu-b.cluster");
    EXPECT_EQ(span.gpus(), 6);
    EXPECT_FALSE(parseHostSpan("local"));
    EXPECT_FALSE(parseHostSpan("ssh:gpu-a=4,gpu-b=4"));
}

TEST(HostSpan, SaysWhatIsWrongWithIt)
{
    EXPECT_THAT(errorOf("mpirun:"), HasSubstr("mpirun:gpu-a=4,gpu-b=4"));
    EXPECT_THAT(errorOf("mpirun:gpu-a"), HasSubstr("gpu-a"));
    EXPECT_THAT(errorOf("srun:gpu-a=0,gpu-b=1"), HasSubstr("gpu-a=0"));
    EXPECT_THAT(errorOf("srun:gpu-a=4"), HasSubstr("local"));
    EXPECT_THAT(errorOf("srun:gpu-a=4,gpu-a=4"), HasSubstr("twice"));
    EXPECT_THAT(errorOf("srun:gpu-a=4,"), HasSubstr("no host"));
    EXPECT_THAT(errorOf("mpirun:--prefix=4,gpu-b=4"), HasSubstr("--prefix"))
        << "a host must not be taken for an option";
    EXPECT_THAT(errorOf("mpirun:a;reboot=4,gpu-b=4"), HasSubstr("a;reboot"));
    const auto node = makeNode("srun:gpu-a=4");
    ASSERT_FALSE(node);
    EXPECT_THAT(makeNode("nowhere").error().remedy, HasSubstr("srun:HOST"));
}

TEST(HostSpan, SpreadsRanksEvenly)
{
    const auto span = spanOf("srun:a=4,b=4,c=2");
    EXPECT_THAT(*span.deal(7), ElementsAre(3, 2, 2));
    EXPECT_THAT(*span.deal(3), ElementsAre(1, 1, 1));
    EXPECT_THAT(span.deal(9).error().what, HasSubstr("Host c would have 3 ranks and has 2 GPUs."));
    EXPECT_THAT(span.deal(2).error().what, HasSubstr("2 ranks cannot be spread over 3 hosts."));
}

TEST(HostSpan, GoesIntoTheJobOfTheHarness)
{
    const auto paths = DataPaths::find();
    ASSERT_TRUE(paths);
    const auto workload = loadWorkload(paths->workloads / "gemm_allgather");
    ASSERT_TRUE(workload);
    HarnessJob job;
    job.ranks = 2;
    job.shapes.push_back({workload->search_shapes.front()});
    job.span = {{{1, "gpu-a"}, {1, "gpu-b"}}, {"/usr/bin/srun", "--nodes=2"}};
    const auto text = writeHarnessJob(*workload, job);
    ASSERT_TRUE(text) << describe(text.error());
    EXPECT_THAT(*text, HasSubstr("\nhost 1 gpu-a\nhost 1 gpu-b\nlaunch /usr/bin/srun\nlaunch --nodes=2\nshape"));
    job.span.launch.back() = "a\nreference /evil.so";
    EXPECT_FALSE(writeHarnessJob(*workload, job));
    job.span = {{{1, "gpu-a"}, {1, "gpu b"}}, {"/usr/bin/srun"}};
    EXPECT_FALSE(writeHarnessJob(*workload, job));
}

/// Keeps what it is to run, and runs nothing.
class SpanOnly : public Node {
public:
    explicit SpanOnly(std::optional<HostSpan> span) : span_(std::move(span)) {}

    const std::string& name() const override { return name_; }
    NodeKind kind() const override { return NodeKind::local; }
    Result<NodeProbe> probe(std::stop_token) override { return NodeProbe(); }
    Result<std::shared_ptr<JobFolder>> createJob() override { return failure("There are no jobs here."); }
    Result<void> put(const JobFolder&, const std::string&, std::string_view bytes) override
    {
        job = bytes;
        return {};
    }
    Result<std::string> fetch(const JobFolder&, const std::string&, std::uint64_t) override { return std::string(); }
    Result<CommandOutcome> run(const Command& command, std::stop_token) override
    {
        wall = command.limits.wall;
        return CommandOutcome();
    }
    std::optional<HostSpan> span() const override { return span_; }
    std::vector<std::string> sandbox(const JobFolder&, bool, const std::vector<std::filesystem::path>&) const override
    {
        return {};
    }

    std::string job;
    std::chrono::milliseconds wall{};

private:
    const std::string name_ = "span";
    const std::optional<HostSpan> span_;
};

class NoToolchain : public Toolchain {
public:
    Result<void> prepare(Node&, const Workload&, std::stop_token) override { return {}; }
    Result<std::expected<void, BuildFault>> build(Node&, const JobFolder&, const std::string&, std::stop_token) override
    {
        return std::expected<void, BuildFault>();
    }
    Result<std::filesystem::path> buildOwn(Node&, const std::filesystem::path& source, std::stop_token) override
    {
        return source;
    }
    Command harnessCommand(const Node&, const JobFolder&, const std::string&) const override { return {}; }
    HarnessFiles files() const override { return {}; }
    DeviceRates rates() const override { return {}; }
};

class TemporaryJob : public JobFolder {
public:
    const std::filesystem::path& path() const override { return folder_.path(); }

private:
    testing::TemporaryFolder folder_;
};

TEST(HostSpan, HasTimeToStartBesideTheCandidatesAndNamesWhoHasWhichRanks)
{
    const OwnPrograms programs;
    programs.add("srun", "exit 1");
    HarnessJob job;
    job.ranks = 3;
    const Workload workload = testing::product();
    const TemporaryJob folder;
    SpanOnly here(std::nullopt), hosts(spanOf("srun:gpu-a=2,gpu-b=2"));
    ASSERT_TRUE(runGpuHarness(here, NoToolchain(), workload, folder, job, {}, {}));
    ASSERT_TRUE(runGpuHarness(hosts, NoToolchain(), workload, folder, job, {}, {}));
    EXPECT_EQ(hosts.wall - here.wall, std::chrono::seconds(60));
    EXPECT_THAT(hosts.job, HasSubstr("\nhost 2 gpu-a\nhost 1 gpu-b\n"));
    EXPECT_THAT(here.job, Not(HasSubstr("\nhost")));
}

TEST(HostSpan, SaysThatAVersionDoesNotCome)
{
    const OwnPrograms programs;
    programs.add("mpirun", "sleep 60");
    const auto span = spanOf("mpirun:gpu-a=1,gpu-b=1");
    const auto late = launchCommand(span, {}, std::chrono::seconds(1));
    ASSERT_FALSE(late);
    EXPECT_EQ(late.error().what, "mpirun does not tell its version within 1 s.");
    EXPECT_EQ(late.error().remedy, "Run mpirun --version by itself.");
    std::stop_source stop;
    stop.request_stop();
    const auto stopped = launchCommand(span, stop.get_token());
    ASSERT_FALSE(stopped);
    EXPECT_THAT(stopped.error().what, HasSubstr("was stopped"));
    programs.add("mpirun", "echo another");
    EXPECT_THAT(launchCommand(span, {}).error().what, HasSubstr("neither Open MPI's nor MPICH's"));
}

TEST(HostSpan, IsNoPlaceForAProgram)
{
    Workload workload = testing::product();
    workload.program.emplace();
    const auto node = makeNodeFor(workload, "srun:gpu-a=1,gpu-b=1", 2);
    ASSERT_FALSE(node);
    EXPECT_EQ(node.error().what, "A program is run on this host alone.");
    EXPECT_EQ(node.error().remedy, "Choose --node local.");
}

TEST(HostSpan, HasNoPeersMemoryButWindowsInsideAHost)
{
    const auto space = DesignSpace::load(DataPaths::find()->resources / "design_space.json");
    ASSERT_TRUE(space);
    const std::set<std::string> across_hosts{"cooperative_launch", "gin", "lsa_in_host"};
    Directive directive{"lsa", "sequential", "world", "cta", 0};
    EXPECT_THAT(space->violation(directive, across_hosts), HasSubstr("backend=lsa"));
    EXPECT_THAT(space->violation(directive, {"lsa", "lsa_in_host"}), Not(HasSubstr("this node lacks")));
    directive.backend = "lsa+gin";
    EXPECT_THAT(space->violation(directive, across_hosts), Not(HasSubstr("this node lacks")));
    EXPECT_THAT(space->violation(directive, {"gin"}), HasSubstr("this node lacks"));
}

CommandOutcome answered(const std::string& out, const std::string& err = "")
{
    CommandOutcome outcome;
    outcome.exit_code = 0;
    outcome.out = out;
    outcome.err = err;
    return outcome;
}

std::string findings(const CommandOutcome& outcome)
{
    std::string text;
    for (const auto& problem : judgeHosts(spanOf("mpirun:gpu-a=4,gpu-b=4"), outcome))
        text += problem.what + " " + problem.where + " " + problem.remedy + "\n";
    return text;
}

TEST(HostFindings, AreNoneWhereEveryHostIsAsNamed)
{
    EXPECT_EQ(findings(answered("cuco-host gpu-b.cluster 8 sees\nWelcome!\ncuco-host gpu-a 4 sees\n")), "");
}

TEST(HostFindings, NameTheHostAndWhatToDo)
{
    EXPECT_THAT(findings(answered("cuco-host gpu-a 4 sees\ncuco-host gpu-b 2 sees\n")),
                HasSubstr("Host gpu-b has 2 GPUs, not 4."));
    EXPECT_THAT(findings(answered("cuco-host gpu-a 4 sees\ncuco-host gpu-b 4\n")), HasSubstr("XDG_CACHE_HOME"));
    EXPECT_THAT(findings(answered("cuco-host gpu-a 4 sees\n", "ssh: connect to host gpu-b port 22: refused\n")),
                ::testing::AllOf(HasSubstr("1 of 2 hosts answered, not gpu-b."), HasSubstr("refused")));
    EXPECT_THAT(findings(answered("cuco-host login 4 sees\n")), HasSubstr("1 of 2 hosts answered."))
        << "by an alias nobody knows which one it is";
    EXPECT_THAT(findings(answered("")), HasSubstr("0 of 2 hosts"));
    CommandOutcome late = answered("");
    late.timed_out = true;
    EXPECT_THAT(findings(late), HasSubstr("did not answer in time"));
}

TEST(HostFindings, ComeFromEveryHostThatMpirunReaches)
{
    if (!findProgram("mpirun"))
        GTEST_SKIP() << "mpirun is not installed";
    const auto span = spanOf("mpirun:localhost=1,127.0.0.1=1");
    const auto launch = launchCommand(span, {});
    ASSERT_TRUE(launch) << describe(launch.error());
    Command command;
    const testing::TemporaryFolder seen;
    command.argv = hostSurveyCommand(*launch, seen.path());
    command.working_directory = "/";
    command.environment = scrubbedEnvironment();
    command.limits.wall = std::chrono::seconds(30);
    const auto outcome = runCommand(command, {});
    ASSERT_TRUE(outcome);
    for (const auto& problem : judgeHosts(span, *outcome))
        EXPECT_THAT(problem.what, Not(HasSubstr("answered"))) << outcome->out << outcome->err;
}

TEST(HostFindings, TellAFolderThatWasMadeHereFromOneOfEachHost)
{
    const testing::TemporaryFolder seen;
    const auto surveyOf = [](const std::filesystem::path& folder) {
        Command command;
        command.argv = hostSurveyCommand({}, folder);
        command.working_directory = "/";
        command.environment = scrubbedEnvironment();
        return runCommand(command, {})->out;
    };
    EXPECT_THAT(surveyOf(seen.path()), ::testing::MatchesRegex("cuco-host [^ ]+ [0-9]+ sees\n"));
    EXPECT_THAT(surveyOf(seen / "missing"), ::testing::MatchesRegex("cuco-host [^ ]+ [0-9]+ ?\n"));
}

TEST(HostSpan, LetsTheSandboxHaveTheNetworkOnlyThere)
{
    SandboxTool tool;
    tool.program = "bwrap";
    SandboxPolicy policy;
    policy.gpus = true;
    EXPECT_THAT(sandboxPrefix(policy, tool), Not(Contains("--share-net")));
    EXPECT_THAT(sandboxPrefix(policy, tool), Contains("NCCL_SOCKET_IFNAME"));
    EXPECT_THAT(sandboxPrefix(policy, tool), Not(Contains("/dev/nvidia63")));
    policy.network = true;
    EXPECT_THAT(sandboxPrefix(policy, tool), Contains("/dev/nvidia63")) << "another host may have more GPUs";
    EXPECT_THAT(sandboxPrefix(policy, tool), Contains("--share-net"));
    EXPECT_THAT(sandboxPrefix(policy, tool), Not(Contains("NCCL_SOCKET_IFNAME")));
}

}  // namespace
}  // namespace cuco
