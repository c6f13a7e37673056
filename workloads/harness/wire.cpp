// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: Apache-2.0
#include "wire.h"

#include <sys/socket.h>
#include <unistd.h>
#include <cerrno>
#include <cstring>
#include <ctime>

namespace cuco_harness {

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

bool sendAll(int socket, const std::string& bytes)
{
    for (size_t done = 0; done < bytes.size();) {
        const ssize_t sent = send(socket, bytes.data() + done, bytes.size() - done, MSG_NOSIGNAL);
        if (sent < 0 && errno == EINTR)
            continue;
        if (sent <= 0)
            return false;
        done += size_t(sent);
    }
    return true;
}

bool receiveMessage(int socket, std::string& received, Message& message)
{
    char buffer[65536];
    for (;;) {
        bool broken = false;
        if (takeMessage(received, message, broken))
            return true;
        const ssize_t count = broken ? 0 : recv(socket, buffer, sizeof buffer, 0);
        if (count < 0 && errno == EINTR)
            continue;
        if (count <= 0)
            return false;
        received.append(buffer, size_t(count));
    }
}

int64_t monotonicNs()
{
    timespec now{};
    clock_gettime(CLOCK_MONOTONIC, &now);
    return int64_t(now.tv_sec) * 1'000'000'000 + now.tv_nsec;
}

}  // namespace cuco_harness
