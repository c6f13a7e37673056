// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/run/sqlite_header.h"

#include <array>
#include <cstddef>
#include <fstream>
#include <string_view>

namespace cuco {

namespace {

constexpr std::string_view magic("SQLite format 3\0", 16);
constexpr std::size_t header_bytes = 100;
constexpr std::size_t page_size_at = 16, change_counter_at = 24, pages_at = 28, user_version_at = 60,
                      application_id_at = 68, pages_valid_for_at = 92;

}  // namespace

std::optional<SqliteHeader> readSqliteHeader(const std::filesystem::path& path)
{
    std::array<char, header_bytes> bytes{};
    std::ifstream file(path, std::ios::binary);
    if (!file.read(bytes.data(), bytes.size()) || std::string_view(bytes.data(), magic.size()) != magic)
        return std::nullopt;
    const auto number = [&](std::size_t at, std::size_t size) {
        std::uint32_t value = 0;
        for (std::size_t i = 0; i < size; ++i)
            value = value << 8 | static_cast<unsigned char>(bytes[at + i]);
        return value;
    };
    SqliteHeader header;
    header.application_id = static_cast<std::int32_t>(number(application_id_at, 4));
    header.user_version = static_cast<std::int32_t>(number(user_version_at, 4));
    if (number(pages_valid_for_at, 4) == number(change_counter_at, 4)) {
        const std::uintmax_t page_bytes = number(page_size_at, 2) == 1 ? 65536 : number(page_size_at, 2);
        header.bytes = page_bytes * number(pages_at, 4);
    }
    return header;
}

}  // namespace cuco
