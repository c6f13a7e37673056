// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: Apache-2.0
#include "gpu/host_link.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>

namespace cuco_harness {
namespace {

constexpr const char* first_line = "cuco-hosts 1";
constexpr char greeting_kind = 'g', answer_kind = 'a';
constexpr size_t secret_bytes = 16, most_addresses = 64, most_greeting_bytes = 1024;
// Who connects says at once who he is.
constexpr int greeting_patience_ms = 1000;
// A network that has gone silent is noticed before a step's 20 s have passed, so that no candidate is blamed for it.
constexpr int idle_s = 5, probe_interval_s = 2, probes = 5, unanswered_ms = 15'000;
constexpr int clock_questions = 16;

std::string newSecret()
{
    unsigned char bytes[secret_bytes];
    if (getrandom(bytes, sizeof bytes, 0) != ssize_t(sizeof bytes))
        return {};
    std::string text;
    for (const unsigned char byte : bytes) {
        text += "0123456789abcdef"[byte >> 4];
        text += "0123456789abcdef"[byte & 15];
    }
    return text;
}

/// The loopback last: it leads somewhere else on every host.
std::vector<std::string> ownAddresses()
{
    std::vector<std::string> addresses;
    ifaddrs* all = nullptr;
    if (getifaddrs(&all) == 0) {
        for (const ifaddrs* one = all; one && addresses.size() + 1 < most_addresses; one = one->ifa_next) {
            if (!one->ifa_addr || one->ifa_addr->sa_family != AF_INET || (one->ifa_flags & IFF_LOOPBACK) != 0 ||
                (one->ifa_flags & IFF_UP) == 0)
                continue;
            char text[INET_ADDRSTRLEN] = {};
            const auto* address = reinterpret_cast<const sockaddr_in*>(one->ifa_addr);
            if (inet_ntop(AF_INET, &address->sin_addr, text, sizeof text))
                addresses.emplace_back(text);
        }
        freeifaddrs(all);
    }
    addresses.emplace_back("127.0.0.1");
    return addresses;
}

void set(int socket, int level, int option, int value)
{
    setsockopt(socket, level, option, &value, sizeof value);
}

/// Messages leave at once, and an end that is gone is noticed.
void makePrompt(int socket)
{
    set(socket, IPPROTO_TCP, TCP_NODELAY, 1);
    set(socket, SOL_SOCKET, SO_KEEPALIVE, 1);
    set(socket, IPPROTO_TCP, TCP_KEEPIDLE, idle_s);
    set(socket, IPPROTO_TCP, TCP_KEEPINTVL, probe_interval_s);
    set(socket, IPPROTO_TCP, TCP_KEEPCNT, probes);
    set(socket, IPPROTO_TCP, TCP_USER_TIMEOUT, unanswered_ms);
}

/// The first message of somebody who may be a stranger: in so many milliseconds, no more bytes than a greeting has, and
/// none of what follows it.
std::optional<std::string> receiveFirst(int socket, char kind, int patience_ms)
{
    const int64_t until_ns = monotonicNs() + int64_t(patience_ms) * 1'000'000;
    for (std::string received;;) {
        Message message;
        bool broken = false;
        if (takeMessage(received, message, broken))
            return message.kind == kind ? std::optional(message.bytes) : std::nullopt;
        const int64_t left_ns = until_ns - monotonicNs();
        if (broken || left_ns <= 0 || received.size() == most_greeting_bytes)
            return std::nullopt;
        pollfd readable{socket, POLLIN, 0};
        if (poll(&readable, 1, int(left_ns / 1'000'000) + 1) != 1)
            continue;
        char byte;
        const ssize_t count = recv(socket, &byte, 1, MSG_DONTWAIT);
        if (count == 0 || (count < 0 && errno != EAGAIN && errno != EINTR))
            return std::nullopt;
        received.append(&byte, size_t(std::max<ssize_t>(count, 0)));
    }
}

/// An agent that was let wait for too long has gone on to the next address.
bool hasLeft(int socket)
{
    char byte;
    return recv(socket, &byte, 1, MSG_PEEK | MSG_DONTWAIT) == 0;
}

int connected(const std::string& address, int port, int patience_ms)
{
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_port = htons(uint16_t(port));
    if (inet_pton(AF_INET, address.c_str(), &to.sin_addr) != 1)
        return -1;
    const int socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (socket < 0)
        return -1;
    int error = 0;
    socklen_t size = sizeof error;
    pollfd writable{socket, POLLOUT, 0};
    const bool begun = connect(socket, reinterpret_cast<const sockaddr*>(&to), sizeof to) == 0 || errno == EINPROGRESS;
    if (!begun || poll(&writable, 1, patience_ms) != 1 ||
        getsockopt(socket, SOL_SOCKET, SO_ERROR, &error, &size) != 0 || error != 0) {
        close(socket);
        return -1;
    }
    fcntl(socket, F_SETFL, fcntl(socket, F_GETFL) & ~O_NONBLOCK);
    return socket;
}

}  // namespace

bool writeInvitation(const std::string& path, const Invitation& invitation)
{
    std::string text = std::string(first_line) + "\n" + invitation.secret + "\n" + invitation.answer + "\n" +
                       std::to_string(invitation.port);
    for (const auto& address : invitation.addresses)
        text += "\n" + address;
    text += "\n";
    const int file = open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (file < 0)
        return false;
    const bool written = write(file, text.data(), text.size()) == ssize_t(text.size());
    return close(file) == 0 && written;
}

std::optional<Invitation> readInvitation(const std::string& path)
{
    std::ifstream file(path);
    Invitation invitation;
    std::string line;
    if (!std::getline(file, line) || line != first_line || !std::getline(file, invitation.secret) ||
        invitation.secret.size() != 2 * secret_bytes || !std::getline(file, invitation.answer) ||
        invitation.answer.size() != 2 * secret_bytes || !std::getline(file, line))
        return std::nullopt;
    invitation.port = std::atoi(line.c_str());
    while (invitation.addresses.size() < most_addresses && std::getline(file, line))
        invitation.addresses.push_back(line);
    if (invitation.port < 1 || invitation.port > 65535 || invitation.addresses.empty())
        return std::nullopt;
    return invitation;
}

AgentListener::~AgentListener()
{
    if (socket_ >= 0)
        close(socket_);
}

bool AgentListener::open()
{
    invitation_.secret = newSecret();
    invitation_.answer = newSecret();
    invitation_.addresses = ownAddresses();
    socket_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in own{};
    own.sin_family = AF_INET;
    own.sin_addr.s_addr = htonl(INADDR_ANY);
    socklen_t size = sizeof own;
    if (invitation_.secret.empty() || invitation_.answer.empty() || socket_ < 0 ||
        bind(socket_, reinterpret_cast<sockaddr*>(&own), size) != 0 || listen(socket_, 128) != 0 ||
        getsockname(socket_, reinterpret_cast<sockaddr*>(&own), &size) != 0)
        return false;
    invitation_.port = ntohs(own.sin_port);
    return true;
}

std::optional<Greeting> AgentListener::accept(int patience_ms, Channel& channel)
{
    const int64_t until_ns = monotonicNs() + int64_t(patience_ms) * 1'000'000;
    for (int64_t left_ns = until_ns - monotonicNs(); left_ns > 0; left_ns = until_ns - monotonicNs()) {
        pollfd readable{socket_, POLLIN, 0};
        if (poll(&readable, 1, int(left_ns / 1'000'000) + 1) != 1)
            continue;
        Channel arrived(accept4(socket_, nullptr, nullptr, SOCK_CLOEXEC));
        if (arrived.socket() < 0)
            continue;
        const auto bytes = receiveFirst(arrived.socket(), greeting_kind, greeting_patience_ms);
        if (!bytes)
            continue;
        Unpacker fields(*bytes);
        const bool invited = fields.text() == invitation_.secret;
        Greeting greeting;
        greeting.clock = fields.number() != 0;
        greeting.number = int(fields.number());
        greeting.host = fields.text();
        if (!invited || !fields.ok() || hasLeft(arrived.socket()))
            continue;
        makePrompt(arrived.socket());
        if (!arrived.send(answer_kind, invitation_.answer))
            continue;
        channel = std::move(arrived);
        return greeting;
    }
    return std::nullopt;
}

Channel reachSupervisor(const Invitation& invitation, const Greeting& greeting, int patience_ms)
{
    const std::string bytes = Packer()
                                  .text(invitation.secret)
                                  .number(int64_t(greeting.clock))
                                  .number(int64_t(greeting.number))
                                  .text(greeting.host)
                                  .bytes();
    for (const auto& address : invitation.addresses) {
        Channel channel(connected(address, invitation.port, patience_ms));
        if (channel.socket() < 0)
            continue;
        makePrompt(channel.socket());
        if (channel.send(greeting_kind, bytes) &&
            receiveFirst(channel.socket(), answer_kind, patience_ms) == invitation.answer)
            return channel;
    }
    return Channel();
}

std::optional<ClockLead> measureClockLead(Channel& clock)
{
    std::optional<ClockLead> best;
    for (int i = 0; i < clock_questions; ++i) {
        Message message;
        const int64_t asked_ns = monotonicNs();
        if (!clock.send(clock_question, ""))
            return std::nullopt;
        // What was still under way when the last stretch was given up may come first.
        do {
            if (!clock.receive(message))
                return std::nullopt;
        } while (message.kind != clock_answer);
        const int64_t answered_ns = monotonicNs();
        Unpacker fields(message.bytes);
        const int64_t theirs_ns = fields.number();
        const int64_t half_ns = (answered_ns - asked_ns) / 2;
        if (fields.ok() && (!best || half_ns < best->uncertainty_ns))
            best = ClockLead{theirs_ns - (asked_ns + half_ns), half_ns};
    }
    return best;
}

bool answerClock(Channel& clock)
{
    return clock.send(clock_answer, Packer().number(monotonicNs()).bytes());
}

}  // namespace cuco_harness
