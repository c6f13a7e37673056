// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "workloads/harness/gpu/hosts.h"
#include "tests/support/host_links.h"
#include "tests/support/temporary_folder.h"
#include "workloads/harness/gpu/failure_wire.h"
#include "workloads/harness/gpu/host_clock.h"
#include "workloads/harness/gpu/host_start.h"
#include "workloads/harness/gpu/rank_process.h"
#include "workloads/harness/gpu/stream_relay.h"
#include "workloads/harness/gpu/team.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/socket.h>
#include <unistd.h>
#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <set>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

namespace cuco_harness {
namespace {

/// Two hosts with a rank each, as the supervisor reaches them.
class TeamOnHosts : public testing::Test {
protected:
    void SetUp() override
    {
        program_.candidate = true;
        TeamLinks links;
        clocks_.resize(2);
        for (size_t i = 0; i < 2; ++i) {
            Channel relayed_rank, relayed_launcher;
            ASSERT_TRUE(Channel::makePair(links.ranks.emplace_back(), relayed_rank));
            ASSERT_TRUE(Channel::makePair(links.launchers.emplace_back(), relayed_launcher));
            ASSERT_TRUE(Channel::makePair(clocks_[i], clocks[i]));
            Channel relayed;
            ASSERT_TRUE(Channel::makePair(relayed, hosts[i]));
            std::vector<Channel> streams;
            streams.push_back(std::move(relayed_rank));
            streams.push_back(std::move(relayed_launcher));
            relays_.push_back(std::make_unique<StreamRelay>(std::move(relayed), std::move(streams)));
            relays_[i]->lost = [socket = clocks_[i].socket()] { shutdown(socket, SHUT_RDWR); };
        }
        links.start_line = std::make_unique<HostsStartLine>(clocks_, 0);
        team = std::make_unique<Team>(program_, 2, int64_t(patience_ms) * 1'000'000);
        team->adopt(std::move(links));
        for (auto& relay : relays_)
            threads_.emplace_back([&relay = *relay] { relay.run(); });
    }

    void TearDown() override
    {
        team.reset();
        for (auto& relay : relays_)
            relay->stop();
        for (auto& thread : threads_)
            thread.join();
    }

    /// What the rank of a host says, in the relay's own words.
    void rankSays(size_t host, char kind, const std::string& bytes)
    {
        hosts[host].send('m', Packer().number(int64_t(0)).number(int64_t(kind)).text(bytes).bytes());
    }

    Channel hosts[2], clocks[2];
    std::unique_ptr<Team> team;

private:
    Program program_;
    std::vector<Channel> clocks_;
    std::vector<std::unique_ptr<StreamRelay>> relays_;
    std::vector<std::thread> threads_;
};

TEST_F(TeamOnHosts, AHostThatIsLostIsNoCandidatesCrash)
{
    team->post(rank_message::load, "loading the candidate");
    rankSays(0, rank_message::done, "");
    // Its messages end first; nothing has been heard of its clock.
    hosts[1].close();
    const auto failed = team->collect();
    ASSERT_TRUE(failed);
    EXPECT_EQ(failed->kind, "environment") << failed->message;
    EXPECT_THAT(failed->message, testing::HasSubstr("host"));
    EXPECT_TRUE(team->lost());
}

TEST_F(TeamOnHosts, WhatTheOthersSayOfALostHostIsNotBelieved)
{
    team->post(rank_message::load, "loading the candidate");
    clocks[1].close();
    Failure claimed;
    claimed.kind = "crash";
    claimed.message = "NCCL has lost a rank.";
    rankSays(0, rank_message::failed, packFailure(claimed));
    const auto failed = team->collect();
    ASSERT_TRUE(failed);
    EXPECT_EQ(failed->kind, "environment") << failed->message;
}

TEST_F(TeamOnHosts, ARankThatEndsOnAHostThatIsThereIsACrash)
{
    team->post(rank_message::load, "loading the candidate");
    hosts[1].send('x', Packer().number(int64_t(0)).bytes());
    const auto failed = team->collect();
    ASSERT_TRUE(failed);
    EXPECT_EQ(failed->kind, "crash");
    EXPECT_EQ(failed->rank, 1);
    EXPECT_FALSE(team->lost());
}

TEST_F(TeamOnHosts, RanksThatDoNotJoinInTimeAreNotACandidatesTimeout)
{
    TeamLinks links;
    Channel theirs;
    ASSERT_TRUE(Channel::makePair(links.ranks.emplace_back(), theirs));
    Program program;
    Team alone(program, 1, 1'000'000);
    alone.adopt(std::move(links));
    alone.post(rank_message::join, "joining NCCL's communicator");
    auto failed = alone.collect();
    ASSERT_TRUE(failed);
    EXPECT_EQ(failed->kind, "environment");
    alone.post(rank_message::load, "loading the candidate");
    failed = alone.collect();
    ASSERT_TRUE(failed);
    EXPECT_EQ(failed->kind, "timeout");
}

/// Agents as the launcher's processes would be: they come by the invitation, and tell what they were told to start.
class HostsOfAJob : public testing::Test {
protected:
    Job jobOn(const std::vector<JobHost>& on) const
    {
        Job job;
        job.folder = (folder / "").string();
        job.hosts = on;
        for (const auto& host : on)
            job.ranks += host.ranks;
        // What is started stays until the invitation is removed, and says which descriptors it has.
        job.launch = {
            "/bin/sh", "-c",
            "ls /proc/self/fd > " + (folder / "descriptors").string() + "; while [ -e \"$3\" ]; do sleep 0.05; done",
            "sh"};
        return job;
    }

    /// An agent for each of these names, numbered so.
    std::vector<HostStart> started(const Job& job, const std::vector<std::string>& agents)
    {
        std::vector<HostStart> told(agents.size());
        std::vector<std::thread> threads;
        for (size_t i = 0; i < agents.size(); ++i)
            threads.emplace_back([&, i] { told[i] = agentTold(int(i), agents[i]); });
        const Program program;
        const auto failed = hosts.start(job, {&program}, {}, patience_ms);
        EXPECT_FALSE(failed) << failed->message << failed->detail;
        for (auto& thread : threads)
            thread.join();
        return told;
    }

    std::string launcherDescriptors() const
    {
        std::stringstream text;
        text << std::ifstream(folder / "descriptors").rdbuf();
        return text.str();
    }

    const cuco::testing::TemporaryFolder folder;
    Hosts hosts;

private:
    HostStart agentTold(int number, const std::string& name) const
    {
        std::optional<Invitation> invitation;
        for (int tries = 0; tries < 200 && (!invitation || launcherDescriptors().empty()); ++tries) {
            usleep(20'000);
            invitation = readInvitation((folder / "hosts.txt").string());
        }
        if (!invitation)
            return {};
        Channel messages = reachSupervisor(*invitation, {false, number, name}, patience_ms);
        Channel clock = reachSupervisor(*invitation, {true, number, name}, patience_ms);
        Message message;
        if (!messages.receive(message))
            return {};
        messages.send(host_message::done, "");
        return unpackHostStart(message.bytes).value_or(HostStart());
    }
};

TEST_F(HostsOfAJob, HaveTheSharesOfTheirNamesWhateverOrderTheLauncherNumbersThemIn)
{
    const auto told =
        started(jobOn({{3, "gpu-b"}, {2, "gpu-c.cluster"}, {1, "gpu-a"}}), {"gpu-a.cluster", "gpu-b.cluster", "gpu-c"});
    EXPECT_EQ(told[0].share.ranks, 1);
    EXPECT_EQ(told[0].share.first_rank, 5);
    EXPECT_EQ(told[1].share.ranks, 3);
    EXPECT_EQ(told[1].share.first_rank, 0);
    EXPECT_EQ(told[2].share.first_rank, 3);
    EXPECT_EQ(hosts.names(), (std::vector<std::string>{"gpu-b.cluster", "gpu-c", "gpu-a.cluster"}));
}

TEST_F(HostsOfAJob, HaveTheSharesOfTheirNumbersWhereNoNameFits)
{
    const auto told = started(jobOn({{2, "10.0.0.1"}, {1, "10.0.0.2"}}), {"box", "box"});
    EXPECT_EQ(told[0].share.ranks, 2);
    EXPECT_EQ(told[1].share.first_rank, 2);
    EXPECT_EQ(told[1].share.first_device, 2) << "two agents of one host take its GPUs in turn";
    EXPECT_EQ(told[1].share.devices, 3);
}

TEST_F(HostsOfAJob, KeepTheirOwnChoiceOfGpus)
{
    setenv("CUDA_VISIBLE_DEVICES", "1", 1);
    setenv("CUDA_DEVICE_MAX_CONNECTIONS", "8", 1);
    const auto told = started(jobOn({{1, "gpu-a"}, {1, "gpu-b"}}), {"gpu-a", "gpu-b"});
    unsetenv("CUDA_VISIBLE_DEVICES");
    unsetenv("CUDA_DEVICE_MAX_CONNECTIONS");
    std::set<std::string> names;
    for (const auto& [name, value] : told[1].environment)
        names.insert(name);
    EXPECT_TRUE(names.count("CUDA_DEVICE_MAX_CONNECTIONS"));
    EXPECT_FALSE(names.count("CUDA_VISIBLE_DEVICES"));
}

TEST_F(HostsOfAJob, AreLaunchedWithoutTheReportsDescriptor)
{
    const int report = fcntl(STDERR_FILENO, F_DUPFD, 77);
    ASSERT_GE(report, 77);
    started(jobOn({{1, "gpu-a"}, {1, "gpu-b"}}), {"gpu-a", "gpu-b"});
    close(report);
    std::istringstream lines(launcherDescriptors());
    int highest = -1;
    for (int descriptor; lines >> descriptor;)
        highest = std::max(highest, descriptor);
    EXPECT_GE(highest, 2);
    EXPECT_LT(highest, report);
}

TEST(HostStart, IsReadAsItWasWritten)
{
    HostStart start;
    start.folder = "/shared/job 1";
    start.job = "cuco-job 1\n";
    start.share = {2, 2, 4, 0, 2};
    start.environment = {{"NCCL_DEBUG", "WARN"}};
    start.sandbox = {"bwrap", "--"};
    start.programs = {{}, {{"CUDA_INJECTION64_PATH", "/p.so"}}};
    const auto read = unpackHostStart(packHostStart(start));
    ASSERT_TRUE(read);
    EXPECT_EQ(read->folder, start.folder);
    EXPECT_EQ(read->share.first_rank, 2);
    EXPECT_EQ(read->share.all_ranks, 4);
    EXPECT_EQ(read->share.deviceOf(3), 1);
    EXPECT_EQ(read->environment, start.environment);
    EXPECT_EQ(read->sandbox, start.sandbox);
    EXPECT_EQ(read->programs, start.programs);
    EXPECT_FALSE(unpackHostStart(packHostStart(start).substr(0, 40)));
}

TEST(HostStart, GivesEveryChannelAStreamOfItsOwn)
{
    const HostShare share{2, 3, 8, 0, 3};
    std::set<size_t> streams{observer_stream};
    for (size_t program = 0; program < 2; ++program) {
        EXPECT_TRUE(streams.insert(launcherStream(share, program)).second);
        for (int rank = 2; rank < 5; ++rank)
            EXPECT_TRUE(streams.insert(rankStream(share, program, rank)).second);
    }
    EXPECT_EQ(streams.size(), streamsOf(share, 2));
    EXPECT_EQ(*streams.rbegin() + 1, streams.size());
}

}  // namespace
}  // namespace cuco_harness
