// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

namespace cuco_harness {

/// Messages between a rank's process and the supervisor: a kind and its bytes.
struct Message {
    char kind = 0;
    std::string bytes;
};

namespace message_kind {
constexpr char gather = 'G';    ///< rank: its bytes; supervisor: everyone's, packed
constexpr char start = 'S';     ///< rank: nothing; supervisor: the common start, 8 bytes
constexpr char progress = 'P';  ///< rank: the shape and what it does, packed
constexpr char report = 'R';    ///< rank: a line
constexpr char failure = 'F';   ///< rank: a line, its last
constexpr char done = 'D';      ///< rank: its end
}  // namespace message_kind

constexpr size_t max_message_bytes = size_t(64) << 20;

/// The message as it travels.
std::string packed(char kind, const std::string& bytes);
/// Takes the first whole message out of `received`. `broken` when it can be none.
bool takeMessage(std::string& received, Message& message, bool& broken);

/// Blocking; false when the other side is gone.
bool sendAll(int socket, const std::string& bytes);
bool receiveMessage(int socket, std::string& received, Message& message);

/// CLOCK_MONOTONIC, which all processes of a host share.
int64_t monotonicNs();

}  // namespace cuco_harness
