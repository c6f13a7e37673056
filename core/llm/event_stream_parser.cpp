// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/llm/event_stream_parser.h"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>

namespace cuco {

namespace {

constexpr std::size_t prelude_bytes = 12, crc_bytes = 4;
constexpr std::uint32_t most_header_bytes = 128u << 10, most_payload_bytes = 24u << 20;  // AWS's own limits

std::uint32_t number(std::string_view bytes)
{
    std::uint32_t value = 0;
    for (const char byte : bytes)
        value = value << 8 | static_cast<unsigned char>(byte);
    return value;
}

std::uint32_t crcOf(std::string_view bytes)
{
    return static_cast<std::uint32_t>(
        ::crc32(0, reinterpret_cast<const Bytef*>(bytes.data()), static_cast<uInt>(bytes.size())));
}

/// Takes that many bytes off the front.
std::optional<std::string_view> take(std::string_view& from, std::size_t size)
{
    if (from.size() < size)
        return std::nullopt;
    const std::string_view taken = from.substr(0, size);
    from.remove_prefix(size);
    return taken;
}

/// A header is: length of the name (1 byte), name, type (1), value; texts (7) and bytes (6) begin with their length
/// (2).
bool readHeaders(std::string_view bytes, std::map<std::string, std::string>& headers)
{
    // true, false, byte, short, integer, long, bytes, text, timestamp, uuid
    constexpr std::array<std::size_t, 10> sizes{0, 0, 1, 2, 4, 8, 0, 0, 8, 16};
    constexpr std::size_t type_bytes = 6, type_text = 7;
    while (!bytes.empty()) {
        const auto name_size = take(bytes, 1);
        const auto name = take(bytes, number(*name_size));
        const auto type_byte = name ? take(bytes, 1) : std::nullopt;
        if (!type_byte || name->empty() || number(*type_byte) >= sizes.size())
            return false;
        const std::size_t type = number(*type_byte);
        std::size_t size = sizes[type];
        if (type == type_bytes || type == type_text) {
            const auto length = take(bytes, 2);
            if (!length)
                return false;
            size = number(*length);
        }
        const auto value = take(bytes, size);
        if (!value)
            return false;
        if (type == type_text)
            headers[std::string(*name)] = *value;
    }
    return true;
}

}  // namespace

bool EventStreamParser::failed(std::string fault)
{
    fault_ = std::move(fault);
    return false;
}

bool EventStreamParser::message(std::string_view bytes)
{
    const std::string_view covered = bytes.substr(0, bytes.size() - crc_bytes);
    if (crcOf(covered) != number(bytes.substr(covered.size())))
        return failed("a message whose checksum is wrong");
    const std::size_t header_bytes = number(bytes.substr(4, 4));
    EventStreamMessage read;
    if (!readHeaders(covered.substr(prelude_bytes, header_bytes), read.headers))
        return failed("a message whose headers cannot be read");
    read.payload = covered.substr(prelude_bytes + header_bytes);
    return on_message_(read);
}

bool EventStreamParser::feed(std::string_view piece)
{
    while (going_) {
        const std::size_t known =
            bytes_.size() < prelude_bytes ? prelude_bytes : number(std::string_view(bytes_).substr(0, 4));
        const std::string_view part = piece.substr(0, known - bytes_.size());
        bytes_ += part;
        piece.remove_prefix(part.size());
        if (bytes_.size() < known)
            break;
        const std::string_view bytes = bytes_;
        if (known == prelude_bytes) {
            const std::uint32_t total = number(bytes.substr(0, 4)), headers = number(bytes.substr(4, 4));
            if (crcOf(bytes.substr(0, 8)) != number(bytes.substr(8, 4)))
                going_ = failed("no event stream, or a broken one");
            else if (headers > most_header_bytes || total < prelude_bytes + headers + crc_bytes ||
                     total - headers > prelude_bytes + most_payload_bytes + crc_bytes)
                going_ = failed("a message of an impossible length");
            continue;
        }
        going_ = message(bytes);
        bytes_.clear();
    }
    return going_;
}

}  // namespace cuco
