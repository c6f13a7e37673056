// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: Apache-2.0
#include "gpu/stream_relay.h"

#include <poll.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>
#include <cerrno>

namespace cuco_harness {
namespace {

constexpr char frame_message = 'm', frame_closed = 'x';

}  // namespace

void StreamRelay::take(const Message& frame)
{
    Unpacker fields(frame.bytes);
    const auto number = size_t(fields.number());
    if (!fields.ok() || number >= streams_.size() || streams_[number].socket() < 0)
        return;
    if (frame.kind == frame_closed) {
        streams_[number].close();
        if (closed)
            closed(number);
        return;
    }
    Message message;
    message.kind = char(fields.number());
    message.bytes = fields.text();
    if (frame.kind != frame_message || !fields.ok())
        return;
    const auto descriptors = descriptors_for ? descriptors_for(number, message) : std::vector<int>();
    // Whoever is gone shows when his answer is waited for.
    const bool stuck = !streams_[number].send(message.kind, message.bytes, descriptors) && errno == EAGAIN;
    for (const int descriptor : descriptors)
        ::close(descriptor);
    if (stuck)
        giveUp(number);
}

bool StreamRelay::giveUp(size_t number)
{
    streams_[number].close();
    return far_.send(frame_closed, Packer().number(int64_t(number)).bytes());
}

/// What has arrived on a channel of this host. False when the other host is gone.
bool StreamRelay::sendOn(size_t number)
{
    Channel& channel = streams_[number];
    for (Message message;;) {
        switch (channel.poll(message)) {
            case Channel::Arrival::nothing:
                return true;
            case Channel::Arrival::gone:
                return giveUp(number);
            case Channel::Arrival::message: {
                const std::string frame =
                    Packer().number(int64_t(number)).number(int64_t(message.kind)).text(message.bytes).bytes();
                if (frame.size() > max_message_bytes)
                    return giveUp(number);
                if (!far_.send(frame_message, frame))
                    return false;
            }
        }
    }
}

void StreamRelay::run()
{
    const timeval patience{patience_ms / 1000, patience_ms % 1000 * 1000};
    for (const auto& stream : streams_)
        setsockopt(stream.socket(), SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
    std::vector<pollfd> sockets;
    for (bool there = true; there;) {
        sockets.assign(1, {far_.socket(), POLLIN, 0});
        // poll passes over the closed ones: their socket is -1.
        for (const auto& stream : streams_)
            sockets.push_back({stream.socket(), POLLIN, 0});
        if (poll(sockets.data(), nfds_t(sockets.size()), -1) < 0)
            continue;
        if (sockets[0].revents != 0) {
            Message frame;
            Channel::Arrival arrival;
            while ((arrival = far_.poll(frame)) == Channel::Arrival::message)
                take(frame);
            there = arrival != Channel::Arrival::gone;
        }
        for (size_t i = 0; there && i < streams_.size(); ++i) {
            if (sockets[i + 1].revents != 0 && streams_[i].socket() >= 0)
                there = sendOn(i);
        }
    }
    // When only one direction is broken the other host does not know yet.
    stop();
    if (lost)
        lost();
    for (auto& stream : streams_)
        stream.close();
}

void StreamRelay::stop()
{
    shutdown(far_.socket(), SHUT_RDWR);
}

}  // namespace cuco_harness
