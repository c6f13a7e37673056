// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <charconv>
#include <cstdint>
#include <optional>
#include <string_view>

namespace cuco {

/// The fields of one event that matter, as written.
struct ChromeEvent {
    char phase = 0;
    std::uint32_t name = 0, category = 0, process = 0, thread = 0;
    std::uint32_t id = 0;
    bool has_name = false, has_id = false;
    std::optional<std::int64_t> begin_ns, length_ns;
    std::uint32_t argument_name = 0;  ///< of metadata
    bool has_argument_name = false;
    std::optional<std::uint32_t> device, stream;  ///< as places
    std::uint64_t bytes = 0;
};

template <class Number>
std::optional<Number> integer(std::string_view text)
{
    Number value{};
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    return error == std::errc() && end == text.data() + text.size() ? std::optional(value) : std::nullopt;
}

}  // namespace cuco
