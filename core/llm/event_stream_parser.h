// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>

namespace cuco {

struct EventStreamMessage {
    std::map<std::string, std::string> headers;  ///< those whose values are texts, as all that matter are
    std::string_view payload;                    ///< valid during the call
};

/// application/vnd.amazon.eventstream (AWS, "Event stream encoding"), in pieces as they come: total length, length of
/// the headers and their CRC-32, headers, payload, CRC-32 of all before; numbers big-endian. A message that the end of
/// the stream cuts off is dropped.
class EventStreamParser {
public:
    /// False ends the reading.
    using OnMessage = std::function<bool(const EventStreamMessage&)>;

    explicit EventStreamParser(OnMessage on_message) : on_message_(std::move(on_message)) {}
    /// False once on_message said so, or when the stream is none.
    bool feed(std::string_view piece);
    /// What was wrong with the stream, without a full stop; else empty.
    const std::string& fault() const { return fault_; }

private:
    bool message(std::string_view bytes);
    bool failed(std::string fault);

    OnMessage on_message_;
    std::string bytes_, fault_;
    bool going_ = true;
};

}  // namespace cuco
