// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "workloads/harness/gpu/host_clock.h"
#include "tests/support/host_links.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>
#include <cstdlib>
#include <memory>
#include <thread>
#include <vector>

namespace cuco_harness {
namespace {

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

}  // namespace
}  // namespace cuco_harness
