// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace cuco::testing {

/// CRC-32 as gzip has it, bit by bit.
inline std::uint32_t crc32Of(const std::string& bytes)
{
    std::uint32_t crc = ~0u;
    for (const char byte : bytes) {
        crc ^= static_cast<unsigned char>(byte);
        for (int bit = 0; bit < 8; ++bit)
            crc = crc >> 1 ^ (crc & 1 ? 0xedb88320u : 0u);
    }
    return ~crc;
}

inline std::string bigEndian(std::uint32_t value, int bytes = 4)
{
    std::string text;
    for (int shift = 8 * (bytes - 1); shift >= 0; shift -= 8)
        text.push_back(static_cast<char>(value >> shift & 0xff));
    return text;
}

inline std::string textHeader(const std::string& name, const std::string& value)
{
    return bigEndian(static_cast<std::uint32_t>(name.size()), 1) + name + '\x07' +
           bigEndian(static_cast<std::uint32_t>(value.size()), 2) + value;
}

/// A message of application/vnd.amazon.eventstream around headers that are encoded already.
inline std::string eventStreamFrame(const std::string& headers, const std::string& payload)
{
    std::string frame = bigEndian(static_cast<std::uint32_t>(16 + headers.size() + payload.size())) +
                        bigEndian(static_cast<std::uint32_t>(headers.size()));
    frame += bigEndian(crc32Of(frame)) + headers + payload;
    return frame + bigEndian(crc32Of(frame));
}

/// As Bedrock sends it.
inline std::string bedrockEvent(const std::string& type, const std::string& payload)
{
    return eventStreamFrame(textHeader(":event-type", type) + textHeader(":content-type", "application/json") +
                                textHeader(":message-type", "event"),
                            payload);
}

inline std::string bedrockException(const std::string& type, const std::string& payload)
{
    return eventStreamFrame(textHeader(":exception-type", type) + textHeader(":content-type", "application/json") +
                                textHeader(":message-type", "exception"),
                            payload);
}

}  // namespace cuco::testing
