// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wire.h"

#include <functional>
#include <vector>

namespace cuco_harness {

/// Carries the messages of many channels of this host over one to another host, where as many channels are. One that is
/// closed on one side is closed on the other, and so is one with a message that is too long to travel. Descriptors do
/// not travel.
class StreamRelay {
public:
    StreamRelay(Channel far, std::vector<Channel> streams) : far_(std::move(far)), streams_(std::move(streams)) {}

    /// Descriptors that go with a message from the other host to a channel of this one; they are closed once sent.
    std::function<std::vector<int>(size_t stream, const Message& message)> descriptors_for;
    /// The other host has closed this one.
    std::function<void(size_t stream)> closed;
    /// A channel whose other end does not take a message for so long is closed: it would hold all others' messages.
    int patience_ms = 10'000;
    /// The other host is gone; the channels of this one are closed next.
    std::function<void()> lost;

    /// Until the other host is gone.
    void run();
    /// Makes run() return, from another thread.
    void stop();

    Channel& stream(size_t number) { return streams_[number]; }

private:
    void take(const Message& frame);
    bool sendOn(size_t stream);
    bool giveUp(size_t stream);

    Channel far_;
    std::vector<Channel> streams_;
};

}  // namespace cuco_harness
