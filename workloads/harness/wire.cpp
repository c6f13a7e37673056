// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: Apache-2.0
#include "wire.h"

#include <sys/socket.h>
#include <unistd.h>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <utility>

namespace cuco_harness {
namespace {

// Three regions of each of 64 ranks; Linux takes 253.
constexpr size_t max_descriptors = 192;

}  // namespace

std::string packed(char kind, const std::string& bytes)
{
    const auto size = uint32_t(bytes.size());
    std::string out(1 + sizeof size, kind);
    std::memcpy(out.data() + 1, &size, sizeof size);
    return out + bytes;
}

bool takeMessage(std::string& received, Message& message, bool& broken)
{
    broken = false;
    uint32_t size = 0;
    constexpr size_t header = 1 + sizeof size;
    if (received.size() < header)
        return false;
    std::memcpy(&size, received.data() + 1, sizeof size);
    broken = size > max_message_bytes;
    if (broken || received.size() < header + size)
        return false;
    message.kind = received[0];
    message.bytes = received.substr(header, size);
    received.erase(0, header + size);
    return true;
}

Packer& Packer::number(int64_t value)
{
    bytes_.append(reinterpret_cast<const char*>(&value), sizeof value);
    return *this;
}

Packer& Packer::number(double value)
{
    bytes_.append(reinterpret_cast<const char*>(&value), sizeof value);
    return *this;
}

Packer& Packer::text(const std::string& value)
{
    number(int64_t(value.size()));
    bytes_ += value;
    return *this;
}

const char* Unpacker::take(size_t size)
{
    ok_ = ok_ && size <= bytes_.size() - next_;
    if (!ok_)
        return nullptr;
    const char* const begin = bytes_.data() + next_;
    next_ += size;
    return begin;
}

int64_t Unpacker::number()
{
    int64_t value = 0;
    if (const char* begin = take(sizeof value))
        std::memcpy(&value, begin, sizeof value);
    return value;
}

double Unpacker::real()
{
    double value = 0;
    if (const char* begin = take(sizeof value))
        std::memcpy(&value, begin, sizeof value);
    return value;
}

std::string Unpacker::text()
{
    const int64_t size = number();
    const char* begin = size < 0 ? nullptr : take(size_t(size));
    ok_ = ok_ && size >= 0;
    return begin ? std::string(begin, size_t(size)) : std::string();
}

Channel::~Channel()
{
    close();
}

Channel::Channel(Channel&& other) noexcept
    : socket_(std::exchange(other.socket_, -1)),
      received_(std::move(other.received_)),
      descriptors_(std::exchange(other.descriptors_, {}))
{
}

Channel& Channel::operator=(Channel&& other) noexcept
{
    close();
    socket_ = std::exchange(other.socket_, -1);
    received_ = std::move(other.received_);
    descriptors_ = std::exchange(other.descriptors_, {});
    return *this;
}

void Channel::close()
{
    if (socket_ >= 0)
        ::close(socket_);
    socket_ = -1;
    for (const int descriptor : descriptors_)
        ::close(descriptor);
    descriptors_.clear();
}

bool Channel::makePair(Channel& mine, Channel& theirs)
{
    int pair[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0)
        return false;
    mine = Channel(pair[0]);
    theirs = Channel(pair[1]);
    return true;
}

bool Channel::send(char kind, const std::string& bytes, const std::vector<int>& descriptors)
{
    const std::string whole = packed(kind, bytes);
    alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int) * max_descriptors)];
    if (descriptors.size() > max_descriptors)
        return false;
    for (size_t done = 0; done < whole.size();) {
        iovec part{const_cast<char*>(whole.data()) + done, whole.size() - done};
        msghdr header{};
        header.msg_iov = &part;
        header.msg_iovlen = 1;
        if (done == 0 && !descriptors.empty()) {
            const size_t size = sizeof(int) * descriptors.size();
            header.msg_control = control;
            header.msg_controllen = CMSG_SPACE(size);
            cmsghdr* const rights = CMSG_FIRSTHDR(&header);
            rights->cmsg_level = SOL_SOCKET;
            rights->cmsg_type = SCM_RIGHTS;
            rights->cmsg_len = CMSG_LEN(size);
            std::memcpy(CMSG_DATA(rights), descriptors.data(), size);
        }
        const ssize_t sent = sendmsg(socket_, &header, MSG_NOSIGNAL);
        if (sent < 0 && errno == EINTR)
            continue;
        if (sent <= 0)
            return false;
        done += size_t(sent);
    }
    return true;
}

bool Channel::read(int flags, bool& nothing)
{
    nothing = false;
    char buffer[65536];
    alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int) * max_descriptors)];
    iovec part{buffer, sizeof buffer};
    msghdr header{};
    header.msg_iov = &part;
    header.msg_iovlen = 1;
    header.msg_control = control;
    header.msg_controllen = sizeof control;
    ssize_t count;
    do {
        count = recvmsg(socket_, &header, flags | MSG_CMSG_CLOEXEC);
    } while (count < 0 && errno == EINTR);
    nothing = count < 0 && (errno == EAGAIN || errno == EWOULDBLOCK);
    if (count <= 0)
        return nothing;
    for (cmsghdr* rights = CMSG_FIRSTHDR(&header); rights; rights = CMSG_NXTHDR(&header, rights)) {
        if (rights->cmsg_level != SOL_SOCKET || rights->cmsg_type != SCM_RIGHTS)
            continue;
        const size_t size = (rights->cmsg_len - CMSG_LEN(0)) / sizeof(int);
        for (size_t i = 0; i < size; ++i) {
            int descriptor;
            std::memcpy(&descriptor, CMSG_DATA(rights) + i * sizeof descriptor, sizeof descriptor);
            if (descriptors_.size() < kept_descriptors_)
                descriptors_.push_back(descriptor);
            else
                ::close(descriptor);
        }
    }
    received_.append(buffer, size_t(count));
    return true;
}

bool Channel::receive(Message& message)
{
    for (bool broken = false, nothing = false;;) {
        if (takeMessage(received_, message, broken))
            return true;
        if (broken || socket_ < 0 || !read(0, nothing))
            return false;
    }
}

Channel::Arrival Channel::poll(Message& message)
{
    for (bool broken = false, nothing = false;;) {
        if (takeMessage(received_, message, broken))
            return Arrival::message;
        if (broken || socket_ < 0 || !read(MSG_DONTWAIT, nothing))
            return Arrival::gone;
        if (nothing)
            return Arrival::nothing;
    }
}

int Channel::takeDescriptor()
{
    if (descriptors_.empty())
        return -1;
    const int descriptor = descriptors_.front();
    descriptors_.erase(descriptors_.begin());
    return descriptor;
}

int64_t monotonicNs()
{
    timespec now{};
    clock_gettime(CLOCK_MONOTONIC, &now);
    return int64_t(now.tv_sec) * 1'000'000'000 + now.tv_nsec;
}

}  // namespace cuco_harness
