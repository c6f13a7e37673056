// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "workloads/harness/gpu/stream_relay.h"
#include "tests/support/host_links.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>
#include <atomic>
#include <future>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace cuco_harness {
namespace {

/// Whether the other side is seen to be gone, without waiting for ever.
bool ends(Channel& channel)
{
    pollfd readable{channel.socket(), POLLIN, 0};
    Message message;
    return poll(&readable, 1, patience_ms) == 1 && channel.poll(message) == Channel::Arrival::gone;
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

}  // namespace
}  // namespace cuco_harness
