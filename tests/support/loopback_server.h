// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/unique_fd.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <functional>
#include <mutex>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace cuco::testing {

/// One request's connection, as a script sees it.
class LoopbackConnection {
public:
    LoopbackConnection(int fd, const std::atomic<bool>& ending) : fd_(fd), ending_(&ending) {}

    /// False when the client has gone away.
    bool send(std::string_view bytes) const
    {
        while (!bytes.empty()) {
            const ssize_t count = ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
            if (count <= 0)
                return false;
            bytes.remove_prefix(static_cast<std::size_t>(count));
        }
        return true;
    }
    bool chunk(std::string_view bytes) const
    {
        char size[20];
        std::snprintf(size, sizeof size, "%zx\r\n", bytes.size());
        return send(size + std::string(bytes) + "\r\n");
    }
    /// Says nothing until the client leaves or the server ends.
    void hang() const
    {
        while (!*ending_) {
            pollfd waited{fd_, POLLRDHUP, 0};
            if (::poll(&waited, 1, 10) > 0)
                return;
        }
    }

private:
    int fd_;
    const std::atomic<bool>* ending_;
};

/// An HTTP/1.1 server on 127.0.0.1 that does what its scripts say: the first
/// for the first request, the last for all further ones. A script that returns
/// false closes the connection.
class LoopbackServer {
public:
    using Script = std::function<bool(const LoopbackConnection&, const std::string& request)>;

    explicit LoopbackServer(std::vector<Script> scripts)
        : scripts_(std::move(scripts)), listener_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0))
    {
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        socklen_t size = sizeof address;
        if (::bind(listener_.get(), reinterpret_cast<sockaddr*>(&address), size) != 0 ||
            ::listen(listener_.get(), 64) != 0 ||
            ::getsockname(listener_.get(), reinterpret_cast<sockaddr*>(&address), &size) != 0)
            throw std::runtime_error("no loopback socket");
        port_ = ntohs(address.sin_port);
        accepting_ = std::thread([this] { accept(); });
    }
    ~LoopbackServer()
    {
        ending_ = true;
        ::shutdown(listener_.get(), SHUT_RDWR);
        accepting_.join();
        for (const UniqueFd& connection : connections_)
            ::shutdown(connection.get(), SHUT_RDWR);
        for (std::thread& thread : threads_)
            thread.join();
    }
    LoopbackServer(const LoopbackServer&) = delete;
    LoopbackServer& operator=(const LoopbackServer&) = delete;

    std::string url() const { return "http://127.0.0.1:" + std::to_string(port_); }
    /// Heads and bodies, in the order in which they came.
    std::vector<std::string> requests() const
    {
        const std::scoped_lock lock(mutex_);
        return requests_;
    }

private:
    void accept()
    {
        while (true) {
            UniqueFd connection(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
            if (!connection.open())
                return;
            const int fd = connection.get(), on = 1;
            ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
            connections_.push_back(std::move(connection));
            threads_.emplace_back([this, fd] { serve(fd); });
        }
    }

    void serve(int fd)
    {
        const LoopbackConnection connection(fd, ending_);
        std::string bytes;
        while (true) {
            const std::string request = nextRequest(fd, bytes);
            if (request.empty())
                break;
            std::size_t index = 0;
            {
                const std::scoped_lock lock(mutex_);
                index = std::min(requests_.size(), scripts_.size() - 1);
                requests_.push_back(request);
            }
            if (!scripts_[index](connection, request))
                break;
        }
        ::shutdown(fd, SHUT_RDWR);
    }

    static std::string nextRequest(int fd, std::string& bytes)
    {
        std::size_t needed = std::string::npos;
        while (bytes.size() < needed) {
            if (const std::size_t head = bytes.find("\r\n\r\n"); needed == std::string::npos && head != needed) {
                const std::size_t length = bytes.find("Content-Length: ");
                needed = head + 4 + (length < head ? std::strtoul(bytes.c_str() + length + 16, nullptr, 10) : 0);
                continue;
            }
            char buffer[1 << 14];
            const ssize_t count = ::recv(fd, buffer, sizeof buffer, 0);
            if (count <= 0)
                return {};
            bytes.append(buffer, static_cast<std::size_t>(count));
        }
        std::string request = bytes.substr(0, needed);
        bytes.erase(0, needed);
        return request;
    }

    std::vector<Script> scripts_;
    UniqueFd listener_;
    int port_ = 0;
    std::atomic<bool> ending_ = false;
    mutable std::mutex mutex_;
    std::vector<std::string> requests_;
    // Of the accepting thread until it has ended.
    std::vector<UniqueFd> connections_;
    std::vector<std::thread> threads_;
    std::thread accepting_;
};

/// A whole answer. `headers` are lines that end in CRLF.
inline LoopbackServer::Script answer(int status, std::string body, std::string headers = {})
{
    return [=](const LoopbackConnection& connection, const std::string&) {
        return connection.send("HTTP/1.1 " + std::to_string(status) +
                               " Scripted\r\nContent-Type: application/json\r\n" + headers +
                               "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body);
    };
}

inline constexpr std::string_view stream_head =
    "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: "
    "chunked\r\n\r\n";

/// A stream of which each piece is a chunk of its own; cut off without its end
/// when `whole` is false.
inline LoopbackServer::Script stream(std::vector<std::string> pieces, bool whole = true)
{
    return [=](const LoopbackConnection& connection, const std::string&) {
        connection.send(stream_head);
        for (const std::string& piece : pieces)
            connection.chunk(piece);
        return whole && connection.send("0\r\n\r\n");
    };
}

}  // namespace cuco::testing
