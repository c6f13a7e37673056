// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "workloads/harness/gpu/host_link.h"
#include "tests/support/host_links.h"
#include "tests/support/temporary_folder.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>
#include <algorithm>
#include <atomic>
#include <fstream>
#include <string>
#include <thread>
#include <utility>

namespace cuco_harness {
namespace {

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

TEST(Invitation, IsReadBackAndIsForItsOwnerOnly)
{
    const cuco::testing::TemporaryFolder folder;
    AgentListener listener;
    ASSERT_TRUE(listener.open());
    const std::string file = (folder / "hosts.txt").string();
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
    const cuco::testing::TemporaryFolder folder;
    const std::string begin = "cuco-hosts 1\n", secret = "0123456789abcdef0123456789abcdef\n";
    const auto isRead = [&](const std::string& text) {
        std::ofstream(folder / "hosts.txt") << text;
        return readInvitation((folder / "hosts.txt").string()).has_value();
    };
    EXPECT_TRUE(isRead(begin + secret + secret + "7000\n127.0.0.1\n"));
    for (const auto& text : {std::string(), begin, begin + "abc\n" + secret + "1\n127.0.0.1\n",
                             begin + secret + "abc\n1\n127.0.0.1\n", begin + secret + "7000\n127.0.0.1\n",
                             begin + secret + secret + "70000\n127.0.0.1\n", begin + secret + secret + "7000\n"})
        EXPECT_FALSE(isRead(text)) << text;
    EXPECT_FALSE(readInvitation((folder / "missing").string()));
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

}  // namespace
}  // namespace cuco_harness
