// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "workloads/harness/gpu/hosts.h"
#include "workloads/harness/gpu/failure_wire.h"
#include "workloads/harness/gpu/host_clock.h"
#include "workloads/harness/gpu/host_link.h"
#include "workloads/harness/gpu/host_start.h"
#include "workloads/harness/gpu/rank_process.h"
#include "workloads/harness/gpu/stream_relay.h"
#include "workloads/harness/gpu/team.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <gmock/gmock.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <future>
#include <memory>
#include <set>
#include <sstream>
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

/// A socket as a stranger has it.
struct TcpSocket {
    explicit TcpSocket(int socket) : number(socket) {}
    TcpSocket(TcpSocket&& other) noexcept : number(std::exchange(other.number, -1)) {}
    ~TcpSocket()
    {
        if (number >= 0)
            close(number);
    }

    static TcpSocket connectedTo(const char* address, int port)
    {
        TcpSocket made(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
        sockaddr_in to{};
        to.sin_family = AF_INET;
        to.sin_port = htons(uint16_t(port));
        inet_pton(AF_INET, address, &to.sin_addr);
        EXPECT_EQ(::connect(made.number, reinterpret_cast<sockaddr*>(&to), sizeof to), 0);
        return made;
    }
    static TcpSocket listening()
    {
        TcpSocket made(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
        EXPECT_EQ(listen(made.number, 8), 0);
        return made;
    }
    int port() const
    {
        sockaddr_in own{};
        socklen_t size = sizeof own;
        getsockname(number, reinterpret_cast<sockaddr*>(&own), &size);
        return ntohs(own.sin_port);
    }

    int number;
};

/// Both ways, until one side ends.
void carryBytes(int one, int other)
{
    for (;;) {
        pollfd sockets[2] = {{one, POLLIN, 0}, {other, POLLIN, 0}};
        poll(sockets, 2, -1);
        for (int from = 0; from < 2; ++from) {
            if (sockets[from].revents == 0)
                continue;
            char buffer[4096];
            const ssize_t count = recv(sockets[from].fd, buffer, sizeof buffer, 0);
            if (count <= 0 || send(sockets[1 - from].fd, buffer, size_t(count), MSG_NOSIGNAL) != count)
                return;
        }
    }
}

/// Whether the other side is seen to be gone, without waiting for ever.
bool ends(Channel& channel)
{
    pollfd readable{channel.socket(), POLLIN, 0};
    Message message;
    return poll(&readable, 1, patience_ms) == 1 && channel.poll(message) == Channel::Arrival::gone;
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
    EXPECT_EQ(read->answer, listener.invitation().answer);
    EXPECT_NE(read->answer, read->secret);
    EXPECT_EQ(read->port, listener.invitation().port);
    EXPECT_EQ(read->addresses, listener.invitation().addresses);
    EXPECT_EQ(read->addresses.back(), "127.0.0.1");
    EXPECT_FALSE(writeInvitation(file, listener.invitation())) << "a file that a candidate made must not be followed";
}

TEST(Invitation, IsRefusedWhenItIsNotWhole)
{
    const Folder folder;
    const std::string begin = "cuco-hosts 1\n", secret = "0123456789abcdef0123456789abcdef\n";
    const auto isRead = [&](const std::string& text) {
        std::ofstream(folder.file("hosts.txt")) << text;
        return readInvitation(folder.file("hosts.txt")).has_value();
    };
    EXPECT_TRUE(isRead(begin + secret + secret + "7000\n127.0.0.1\n"));
    for (const auto& text : {std::string(), begin, begin + "abc\n" + secret + "1\n127.0.0.1\n",
                             begin + secret + "abc\n1\n127.0.0.1\n", begin + secret + "7000\n127.0.0.1\n",
                             begin + secret + secret + "70000\n127.0.0.1\n", begin + secret + secret + "7000\n"})
        EXPECT_FALSE(isRead(text)) << text;
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
    EXPECT_LT(stranger.socket(), 0);
    EXPECT_LT(talker.socket(), 0);
    Message message;
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

TEST(AgentListener, IsNotHeldByAGreetingThatTrickles)
{
    AgentListener listener;
    ASSERT_TRUE(listener.open());
    std::atomic<bool> over{false};
    std::thread trickler([&] {
        const TcpSocket stranger = TcpSocket::connectedTo("127.0.0.1", listener.invitation().port);
        const std::string header = packed('g', std::string(900, 'x')).substr(0, 5);
        send(stranger.number, header.data(), header.size(), MSG_NOSIGNAL);
        while (!over && send(stranger.number, "x", 1, MSG_NOSIGNAL) == 1)
            usleep(50'000);
    });
    Channel agent;
    std::thread late([&] {
        usleep(100'000);
        agent = reachSupervisor(listener.invitation(), {false, 7, "gpu-b"}, patience_ms);
    });
    Channel channel;
    const int64_t began_ns = monotonicNs();
    const auto arrived = listener.accept(patience_ms, channel);
    const int64_t took_ns = monotonicNs() - began_ns;
    over = true;
    late.join();
    trickler.join();
    ASSERT_TRUE(arrived);
    EXPECT_EQ(arrived->number, 7);
    EXPECT_LT(took_ns, 4'000'000'000);
}

TEST(AgentListener, NoticesThatAnAgentHasGivenUpOnIt)
{
    AgentListener listener;
    ASSERT_TRUE(listener.open());
    EXPECT_LT(reachSupervisor(listener.invitation(), {false, 1, "gpu-b"}, 50).socket(), 0) << "nobody accepts yet";
    Channel channel;
    EXPECT_FALSE(listener.accept(200, channel));
}

TEST(ReachSupervisor, PassesByAPeerThatIsNotTheSupervisor)
{
    AgentListener supervisor;
    ASSERT_TRUE(supervisor.open());
    // Somebody who takes whatever comes at the first address; behind the second is the supervisor.
    const TcpSocket door = TcpSocket::listening();
    Invitation invitation = supervisor.invitation();
    invitation.addresses = {"127.0.0.2", "127.0.0.1"};
    invitation.port = door.port();
    std::string told_stranger(4096, 0);
    std::thread behind([&] {
        const TcpSocket stranger(accept(door.number, nullptr, nullptr));
        told_stranger.resize(size_t(std::max<ssize_t>(0, recv(stranger.number, told_stranger.data(), 4096, 0))));
        const std::string nonsense = packed('a', "welcome");
        send(stranger.number, nonsense.data(), nonsense.size(), MSG_NOSIGNAL);
        const TcpSocket agent(accept(door.number, nullptr, nullptr));
        const TcpSocket inside = TcpSocket::connectedTo("127.0.0.1", supervisor.invitation().port);
        carryBytes(agent.number, inside.number);
    });
    Channel reached;
    std::thread agent([&] { reached = reachSupervisor(invitation, {false, 2, "gpu-b"}, patience_ms); });
    Channel accepted;
    const auto greeting = supervisor.accept(patience_ms, accepted);
    // What follows at once is not lost with the answer.
    if (greeting)
        accepted.send('S', "start");
    agent.join();
    Message message;
    const bool told = reached.socket() >= 0 && reached.receive(message);
    accepted.close();
    reached.close();
    behind.join();
    EXPECT_FALSE(told_stranger.empty());
    ASSERT_TRUE(greeting);
    EXPECT_EQ(greeting->number, 2);
    ASSERT_TRUE(told);
    EXPECT_EQ(message.bytes, "start");
}

TEST(ReachSupervisor, DoesNotObeyWhoDoesNotKnowTheAnswer)
{
    AgentListener other;
    ASSERT_TRUE(other.open());
    Invitation invitation = other.invitation();
    std::swap(invitation.answer[0], invitation.answer[1]);
    invitation.answer[2] = invitation.answer[2] == '0' ? '1' : '0';
    Channel agent;
    std::thread agent_thread([&] { agent = reachSupervisor(invitation, {false, 0, "gpu-b"}, 300); });
    Channel channel;
    other.accept(300, channel);
    agent_thread.join();
    EXPECT_LT(agent.socket(), 0);
}

TEST(AgentListener, NoticesANetworkThatGoesSilent)
{
    AgentListener listener;
    ASSERT_TRUE(listener.open());
    const Connection connection = connect(listener, false);
    for (const Channel* end : {&connection.supervisor, &connection.agent}) {
        int alive = 0, unanswered_ms = 0;
        socklen_t size = sizeof alive;
        ASSERT_EQ(getsockopt(end->socket(), SOL_SOCKET, SO_KEEPALIVE, &alive, &size), 0);
        ASSERT_EQ(getsockopt(end->socket(), IPPROTO_TCP, TCP_USER_TIMEOUT, &unanswered_ms, &size), 0);
        EXPECT_NE(alive, 0);
        EXPECT_GT(unanswered_ms, 0);
        EXPECT_LT(unanswered_ms, 20'000) << "a step that takes so long is the candidate's";
    }
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

/// A network between a supervisor and a host's clock on which every message takes its time, and the start more.
class SlowNetwork {
public:
    SlowNetwork(useconds_t takes_us, useconds_t start_takes_us) : takes_us_(takes_us), start_takes_us_(start_takes_us)
    {
        EXPECT_TRUE(Channel::makePair(supervisor, near_));
        EXPECT_TRUE(Channel::makePair(host, far_));
        threads_.emplace_back([this] { carry(near_, far_); });
        threads_.emplace_back([this] { carry(far_, near_); });
    }
    ~SlowNetwork()
    {
        for (const Channel* end : {&near_, &far_})
            shutdown(end->socket(), SHUT_RDWR);
        for (auto& thread : threads_)
            thread.join();
    }

    Channel supervisor, host;

private:
    void carry(Channel& from, Channel& to) const
    {
        bool asked = false;
        for (Message message; from.receive(message); to.send(message.kind, message.bytes)) {
            asked = asked || message.kind == clock_question;
            const bool is_start = asked && message.kind != clock_question;
            usleep(is_start ? takes_us_ + start_takes_us_ : takes_us_);
        }
        shutdown(to.socket(), SHUT_WR);
    }

    const useconds_t takes_us_, start_takes_us_;
    Channel near_, far_;
    std::vector<std::thread> threads_;
};

/// One stretch of a rank on each of so many hosts.
int64_t uncertaintyOver(std::vector<std::unique_ptr<SlowNetwork>>& networks)
{
    std::vector<TimingPage> pages(networks.size());
    std::vector<Channel> clocks;
    std::vector<std::thread> threads;
    std::vector<int64_t> began_ns(networks.size());
    for (size_t i = 0; i < networks.size(); ++i) {
        clocks.push_back(std::move(networks[i]->supervisor));
        threads.emplace_back([&, i] { serveHostClock(networks[i]->host, {PageStartLine(pages[i], int(i), 1)}); });
        threads.emplace_back([&, i] { rankWorks(pages[i], i, 1, 1'000'000, began_ns[i]); });
    }
    HostsStartLine line(clocks, 0);
    int64_t makespan_ns = 0;
    const auto failed = line.time(
        1, [] { return Outcome(); }, makespan_ns);
    EXPECT_FALSE(failed);
    clocks.clear();
    for (auto& thread : threads)
        thread.join();
    return line.startUncertaintyNs();
}

TEST(HostClock, MayBeOffInOppositeDirectionsOnTwoHosts)
{
    std::vector<std::unique_ptr<SlowNetwork>> networks;
    for (int i = 0; i < 3; ++i)
        networks.push_back(std::make_unique<SlowNetwork>(20'000, 0));
    const int64_t uncertainty_ns = uncertaintyOver(networks);
    EXPECT_GE(uncertainty_ns, 40'000'000) << "a way takes 20 ms, and each of two clocks may be off by it";
}

TEST(HostClock, TellsOfAStartThatCameTooLate)
{
    std::vector<std::unique_ptr<SlowNetwork>> networks;
    networks.push_back(std::make_unique<SlowNetwork>(0, 0));
    networks.push_back(std::make_unique<SlowNetwork>(0, 200'000));
    EXPECT_GE(uncertaintyOver(networks), 150'000'000);
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
        near_socket = connection.supervisor.socket();
        near_relay = std::make_unique<StreamRelay>(std::move(connection.supervisor), std::move(near_streams));
        far_relay = std::make_unique<StreamRelay>(std::move(connection.agent), std::move(far_streams));
    }

    void open()
    {
        threads_.emplace_back([this] { near_relay->run(); });
        threads_.emplace_back([this] { far_relay->run(); });
    }

    void TearDown() override
    {
        near_relay->stop();
        for (auto& thread : threads_)
            thread.join();
    }

    Channel near[2], far[2];
    std::unique_ptr<StreamRelay> near_relay, far_relay;
    int near_socket = -1;  ///< that leads to the other host

private:
    AgentListener listener_;
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

TEST_F(Relayed, AMessageThatIsTooLongToTravelEndsItsOwnChannelAlone)
{
    open();
    std::thread sending([&] { far[0].send('K', std::string(max_message_bytes - 10, 'x')); });
    Message message;
    EXPECT_FALSE(near[0].receive(message));
    sending.join();
    EXPECT_TRUE(ends(far[0]));
    ASSERT_TRUE(far[1].send('K', "still here"));
    ASSERT_TRUE(near[1].receive(message));
    EXPECT_EQ(message.bytes, "still here");
}

TEST_F(Relayed, AChannelThatNobodyReadsDoesNotHoldTheOthers)
{
    near_relay->patience_ms = 200;
    open();
    ASSERT_TRUE(far[0].send('K', std::string(32 << 20, 'x')));
    ASSERT_TRUE(far[1].send('K', "still here"));
    Message message;
    ASSERT_TRUE(near[1].receive(message));
    EXPECT_EQ(message.bytes, "still here");
    EXPECT_TRUE(ends(far[0]));
    EXPECT_FALSE(near[0].receive(message));
}

TEST_F(Relayed, WhatCannotBeSentOnEndsAllChannels)
{
    std::atomic<bool> lost{false};
    near_relay->lost = [&] { lost = true; };
    open();
    // The other direction stays: only sending shows that the host is gone.
    shutdown(near_socket, SHUT_WR);
    near[1].send('a', "does not arrive");
    EXPECT_TRUE(ends(near[0]));
    EXPECT_TRUE(lost);
    EXPECT_TRUE(ends(near[1]));
    EXPECT_TRUE(ends(far[0]));
}

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
        job.folder = folder.file("");
        job.hosts = on;
        for (const auto& host : on)
            job.ranks += host.ranks;
        // What is started stays until the invitation is removed, and says which descriptors it has.
        job.launch = {"/bin/sh", "-c",
                      "ls /proc/self/fd > " + folder.file("descriptors") + "; while [ -e \"$3\" ]; do sleep 0.05; done",
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
        text << std::ifstream(folder.file("descriptors")).rdbuf();
        return text.str();
    }

    const Folder folder;
    Hosts hosts;

private:
    HostStart agentTold(int number, const std::string& name) const
    {
        std::optional<Invitation> invitation;
        for (int tries = 0; tries < 200 && (!invitation || launcherDescriptors().empty()); ++tries) {
            usleep(20'000);
            invitation = readInvitation(folder.file("hosts.txt"));
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
