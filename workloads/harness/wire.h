// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace cuco_harness {

/// Messages between the supervisor, the ranks' processes and the observer: a kind and its bytes.
struct Message {
    char kind = 0;
    std::string bytes;
};

constexpr size_t max_message_bytes = size_t(64) << 20;

/// The message as it travels.
std::string packed(char kind, const std::string& bytes);
/// Takes the first whole message out of `received`. `broken` when it can be none.
bool takeMessage(std::string& received, Message& message, bool& broken);

/// Numbers and texts, one after the other. Numbers are 8 bytes of this machine.
class Packer {
public:
    Packer& number(int64_t value);
    Packer& number(double value);
    Packer& text(const std::string& value);
    const std::string& bytes() const { return bytes_; }

private:
    std::string bytes_;
};

/// Reads what a Packer wrote. Beyond the end everything is 0 or empty, and ok() is false.
class Unpacker {
public:
    explicit Unpacker(const std::string& bytes) : bytes_(bytes) {}

    int64_t number();
    double real();
    std::string text();
    bool ok() const { return ok_; }

private:
    const char* take(size_t size);

    const std::string& bytes_;
    size_t next_ = 0;
    bool ok_ = true;
};

/// One end of a stream socket between two processes, and the descriptors that came through it. Owns them all.
class Channel {
public:
    explicit Channel(int socket = -1) : socket_(socket) {}
    ~Channel();
    Channel(Channel&& other) noexcept;
    Channel& operator=(Channel&& other) noexcept;

    /// Both ends; false when there are none to be had. Neither survives an exec.
    static bool makePair(Channel& mine, Channel& theirs);

    int socket() const { return socket_; }
    void close();

    /// Blocking; false when the other side is gone. At most 192 descriptors, which stay the caller's.
    bool send(char kind, const std::string& bytes, const std::vector<int>& descriptors = {});
    /// Blocking; false when the other side is gone or sends what nobody does.
    bool receive(Message& message);

    enum class Arrival { message, nothing, gone };
    /// Does not wait.
    Arrival poll(Message& message);

    /// The next descriptor that came, now the caller's; -1 when there is none.
    int takeDescriptor();
    /// Of descriptors that come and are not taken, more than this are closed: a rank must not be able to use them up. 8
    /// unless it is said.
    void keepDescriptors(size_t most) { kept_descriptors_ = most; }

private:
    bool read(int flags, bool& nothing);

    int socket_;
    std::string received_;
    std::vector<int> descriptors_;
    size_t kept_descriptors_ = 8;
};

/// CLOCK_MONOTONIC, which all processes of a host share.
int64_t monotonicNs();

}  // namespace cuco_harness
