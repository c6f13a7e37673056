// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "workloads/harness/gpu/host_clock.h"
#include "workloads/harness/gpu/host_link.h"
#include "workloads/harness/gpu/host_start.h"
#include "workloads/harness/gpu/stream_relay.h"

#include <gmock/gmock.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <future>
#include <memory>
#include <set>
#include <thread>

namespace cuco_harness {
namespace {

constexpr int patience_ms = 5000;

class Folder {
public:
    Folder()
    {
        std::string pattern = (std::filesystem::temp_directory_path() / "cuco-hosts-XXXXXX").string();
        path_ = mkdtemp(pattern.data());
    }
    ~Folder() { std::filesystem::remove_all(path_); }
    std::string file(const std::string& name) const { return (path_ / name).string(); }

private:
    std::filesystem::path path_;
};

/// Both ends of a connection as a supervisor and an agent have it.
struct Connection {
    Channel supervisor, agent;
};

Connection connect(AgentListener& listener, bool clock)
{
    Connection connection;
    Greeting greeting;
    greeting.clock = clock;
    std::thread agent([&] { connection.agent = reachSupervisor(listener.invitation(), greeting, patience_ms); });
    listener.accept(patience_ms, connection.supervisor);
    agent.join();
    return connection;
}

TEST(Invitation, IsReadBackAndIsForItsOwnerOnly)
{
    const Folder folder;
    AgentListener listener;
    ASSERT_TRUE(listener.open());
    const std::string file = folder.file("hosts.txt");
    ASSERT_TRUE(writeInvitation(file, listener.invitation()));
    struct stat status {};
    ASSERT_EQ(stat(file.c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 0777, 0600u);
    const auto read = readInvitation(file);
    ASSERT_TRUE(read);
    EXPECT_EQ(read->secret, listener.invitation().secret);
    EXPECT_EQ(read->port, listener.invitation().port);
    EXPECT_EQ(read->addresses, listener.invitation().addresses);
    EXPECT_EQ(read->addresses.back(), "127.0.0.1");
    EXPECT_FALSE(writeInvitation(file, listener.invitation())) << "a file that a candidate made must not be followed";
}

TEST(Invitation, IsRefusedWhenItIsNotWhole)
{
    const Folder folder;
    for (const char* text : {"", "cuco-hosts 1\n", "cuco-hosts 1\nabc\n1\n127.0.0.1\n",
                             "cuco-hosts 1\n0123456789abcdef0123456789abcdef\n70000\n127.0.0.1\n",
                             "cuco-hosts 1\n0123456789abcdef0123456789abcdef\n7000\n"}) {
        std::ofstream(folder.file("hosts.txt")) << text;
        EXPECT_FALSE(readInvitation(folder.file("hosts.txt"))) << text;
    }
    EXPECT_FALSE(readInvitation(folder.file("missing")));
}

TEST(AgentListener, LetsInWhoKnowsTheSecretAndNobodyElse)
{
    AgentListener listener;
    ASSERT_TRUE(listener.open());
    Greeting greeting;
    greeting.number = 3;
    greeting.host = "gpu-b";
    Channel stranger, talker, agent;
    std::thread others([&] {
        Invitation wrong = listener.invitation();
        wrong.secret[0] = wrong.secret[0] == '0' ? '1' : '0';
        stranger = reachSupervisor(wrong, greeting, patience_ms);
        // What claims to be longer than any greeting.
        talker = reachSupervisor(listener.invitation(), {false, 1, std::string(5000, 'x')}, patience_ms);
        agent = reachSupervisor(listener.invitation(), greeting, patience_ms);
    });
    Channel accepted;
    const auto arrived = listener.accept(patience_ms, accepted);
    others.join();
    ASSERT_TRUE(arrived);
    EXPECT_EQ(arrived->number, 3);
    EXPECT_EQ(arrived->host, "gpu-b");
    Message message;
    EXPECT_FALSE(stranger.receive(message));
    EXPECT_FALSE(talker.receive(message));
    ASSERT_TRUE(accepted.send('x', "hello"));
    ASSERT_TRUE(agent.receive(message));
    EXPECT_EQ(message.bytes, "hello");
}

TEST(AgentListener, GivesUpWhenNobodyComes)
{
    AgentListener listener;
    ASSERT_TRUE(listener.open());
    Channel channel;
    EXPECT_FALSE(listener.accept(50, channel));
}

TEST(HostClock, OfThisHostLeadsByNothing)
{
    AgentListener listener;
    ASSERT_TRUE(listener.open());
    Connection clock = connect(listener, true);
    std::thread host([&] { serveHostClock(clock.agent, {}); });
    const auto lead = measureClockLead(clock.supervisor);
    shutdown(clock.supervisor.socket(), SHUT_RDWR);
    host.join();
    ASSERT_TRUE(lead);
    EXPECT_LE(std::abs(lead->ns), lead->uncertainty_ns);
    EXPECT_GT(lead->uncertainty_ns, 0);
}

/// A rank as the start line sees it: ready, spinning until the start, working for so long, ended.
void rankWorks(TimingPage& page, size_t rank, uint32_t stretch, int64_t work_ns, int64_t& began_ns)
{
    page.ranks[rank].ready.store(stretch);
    while (page.go.load() != stretch)
        std::this_thread::yield();
    while (monotonicNs() < page.start_ns.load())
        std::this_thread::yield();
    began_ns = monotonicNs();
    usleep(useconds_t(work_ns / 1000));
    page.ranks[rank].ended.store(stretch);
}

TEST(HostClock, StartsRanksOnTwoHostsTogetherAndTimesTheSlowest)
{
    AgentListener listener;
    ASSERT_TRUE(listener.open());
    TimingPage pages[2] = {};
    std::vector<Channel> clocks, agents;
    std::vector<std::thread> threads;
    for (int i = 0; i < 2; ++i) {
        Connection clock = connect(listener, true);
        clocks.push_back(std::move(clock.supervisor));
        agents.push_back(std::move(clock.agent));
    }
    for (size_t i = 0; i < 2; ++i)
        threads.emplace_back([&, i] { serveHostClock(agents[i], {PageStartLine(pages[i], int(i), 1)}); });
    HostsStartLine line(clocks, 0);
    const auto look = [] { return Outcome(); };
    for (uint32_t stretch = 1; stretch <= 3; ++stretch) {
        int64_t began_ns[2] = {}, makespan_ns = 0;
        std::thread fast([&] { rankWorks(pages[0], 0, stretch, 2'000'000, began_ns[0]); });
        std::thread slow([&] { rankWorks(pages[1], 1, stretch, 30'000'000, began_ns[1]); });
        const auto failed = line.time(stretch, look, makespan_ns);
        fast.join();
        slow.join();
        ASSERT_FALSE(failed) << failed->message;
        EXPECT_GE(makespan_ns, 30'000'000);
        EXPECT_GT(line.startUncertaintyNs(), 0);
        EXPECT_GT(began_ns[0], 0);
        EXPECT_GT(began_ns[1], 0);
    }
    for (auto& clock : clocks)
        shutdown(clock.socket(), SHUT_RDWR);
    for (auto& thread : threads)
        thread.join();
}

TEST(HostClock, StopsWaitingWhenARankHasFailedAndStartsTheNextStretch)
{
    AgentListener listener;
    ASSERT_TRUE(listener.open());
    TimingPage page{};
    Connection clock = connect(listener, true);
    std::thread host([&] { serveHostClock(clock.agent, {PageStartLine(page, 0, 1)}); });
    std::vector<Channel> clocks;
    clocks.push_back(std::move(clock.supervisor));
    HostsStartLine line(clocks, 0);
    int64_t makespan_ns = 0, began_ns = 0;
    const auto failed = line.time(
        1, [] { return Outcome(environmentFailure("Rank 0 is gone.")); }, makespan_ns);
    ASSERT_TRUE(failed);
    EXPECT_EQ(failed->message, "Rank 0 is gone.");
    std::thread rank([&] { rankWorks(page, 0, 2, 1'000'000, began_ns); });
    EXPECT_FALSE(line.time(
        2, [] { return Outcome(); }, makespan_ns));
    rank.join();
    shutdown(clocks[0].socket(), SHUT_RDWR);
    host.join();
    EXPECT_TRUE(line.time(
        3, [] { return Outcome(); }, makespan_ns))
        << "a host that is gone must be noticed";
}

/// A supervisor's channels, as many on another host, and what carries messages between them.
class Relayed : public testing::Test {
protected:
    void SetUp() override
    {
        ASSERT_TRUE(listener_.open());
        Connection connection = connect(listener_, false);
        std::vector<Channel> near_streams(2), far_streams(2);
        for (size_t i = 0; i < 2; ++i) {
            ASSERT_TRUE(Channel::makePair(near[i], near_streams[i]));
            ASSERT_TRUE(Channel::makePair(far[i], far_streams[i]));
        }
        near_relay_ = std::make_unique<StreamRelay>(std::move(connection.supervisor), std::move(near_streams));
        far_relay = std::make_unique<StreamRelay>(std::move(connection.agent), std::move(far_streams));
    }

    void open()
    {
        threads_.emplace_back([this] { near_relay_->run(); });
        threads_.emplace_back([this] { far_relay->run(); });
    }

    void TearDown() override
    {
        near_relay_->stop();
        for (auto& thread : threads_)
            thread.join();
    }

    Channel near[2], far[2];
    std::unique_ptr<StreamRelay> far_relay;

private:
    AgentListener listener_;
    std::unique_ptr<StreamRelay> near_relay_;
    std::vector<std::thread> threads_;
};

TEST_F(Relayed, MessagesArriveWholeAndOnTheirOwnChannel)
{
    open();
    const std::string long_text(3 << 20, 'x');
    ASSERT_TRUE(near[1].send('a', "to the second"));
    ASSERT_TRUE(near[0].send('b', "to the first"));
    Message message;
    ASSERT_TRUE(far[0].receive(message));
    EXPECT_EQ(message.kind, 'b');
    EXPECT_EQ(message.bytes, "to the first");
    ASSERT_TRUE(far[1].receive(message));
    EXPECT_EQ(message.bytes, "to the second");
    std::thread answering([&] { far[1].send('c', long_text); });
    ASSERT_TRUE(near[1].receive(message));
    answering.join();
    EXPECT_EQ(message.kind, 'c');
    EXPECT_EQ(message.bytes.size(), long_text.size());
}

TEST_F(Relayed, AChannelThatEndsOnOneSideEndsOnTheOther)
{
    std::promise<size_t> closed;
    far_relay->closed = [&](size_t stream) { closed.set_value(stream); };
    open();
    far[0].close();
    Message message;
    EXPECT_FALSE(near[0].receive(message)) << "a rank that died there is gone here";
    near[1].close();
    EXPECT_EQ(closed.get_future().get(), 1u);
    EXPECT_FALSE(far[1].receive(message));
}

TEST_F(Relayed, DescriptorsJoinAMessageOnTheirOwnHost)
{
    far_relay->descriptors_for = [](size_t stream, const Message& message) {
        return stream == 0 && message.kind == 'A' ? std::vector<int>{dup(STDERR_FILENO)} : std::vector<int>();
    };
    open();
    ASSERT_TRUE(near[0].send('A', "attach"));
    ASSERT_TRUE(near[0].send('P', "prepare"));
    Message message;
    ASSERT_TRUE(far[0].receive(message));
    ASSERT_TRUE(far[0].receive(message));
    const int descriptor = far[0].takeDescriptor();
    EXPECT_GE(descriptor, 0);
    close(descriptor);
    EXPECT_EQ(far[0].takeDescriptor(), -1);
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
