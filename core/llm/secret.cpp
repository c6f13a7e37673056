// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/llm/secret.h"

#include <algorithm>
#include <cstdlib>
#include <utility>

namespace cuco {

namespace {

constexpr std::size_t shortest_key = 4;
constexpr std::string_view blanks = " \t\r\n";

}  // namespace

Secret::Secret(std::string text) : text_(std::move(text)) {}

Secret Secret::fromEnvironment(const std::string& variable)
{
    const char* const value = variable.empty() ? nullptr : std::getenv(variable.c_str());
    std::string_view text = value == nullptr ? std::string_view() : std::string_view(value);
    text.remove_prefix(std::min(text.find_first_not_of(blanks), text.size()));
    text = text.substr(0, text.find_last_not_of(blanks) + 1);
    return Secret(std::string(text));
}

bool Secret::fitsHeader() const
{
    return std::ranges::all_of(text_, [](unsigned char c) { return c > ' ' && c < 0x7f; });
}

std::string Secret::redact(std::string_view text) const
{
    std::string kept;
    if (text_.size() >= shortest_key) {
        for (std::size_t at = text.find(text_); at != std::string_view::npos; at = text.find(text_)) {
            kept.append(text.substr(0, at)).append("[redacted]");
            text.remove_prefix(at + text_.size());
        }
    }
    return kept.append(text);
}

}  // namespace cuco
