// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/agents/judgement_text.h"

#include <algorithm>
#include <array>
#include <cctype>

namespace cuco {

namespace {

constexpr std::size_t most_field_bytes = 4000;

std::string_view trimmed(std::string_view text)
{
    constexpr std::string_view around = " \t\r\n*_`#>";
    const auto begin = text.find_first_not_of(around);
    if (begin == text.npos)
        return {};
    return text.substr(begin, text.find_last_not_of(around) - begin + 1);
}

std::string lower(std::string_view text)
{
    std::string out(text);
    std::ranges::transform(out, out.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return out;
}

/// What follows "field:" when the line begins with it, whatever marks stand around.
std::optional<std::string_view> fieldOf(std::string_view line, std::string_view field)
{
    const auto words = trimmed(line);
    if (words.size() <= field.size() || lower(words.substr(0, field.size())) != field)
        return std::nullopt;
    auto rest = words.substr(field.size());
    rest.remove_prefix(std::min(rest.find_first_not_of("* "), rest.size()));
    if (!rest.starts_with(':'))
        return std::nullopt;
    return trimmed(rest.substr(1));
}

}  // namespace

std::optional<JudgeAnswer> readJudgeAnswer(std::string_view answer)
{
    std::optional<bool> accept;
    JudgeAnswer read;
    std::string* into = nullptr;
    const auto add = [&](std::string_view text) {
        if (into && !text.empty() && into->size() + text.size() < most_field_bytes)
            *into += (into->empty() ? "" : " ") + std::string(text);
    };
    while (!answer.empty()) {
        const auto end = std::min(answer.find('\n'), answer.size());
        const auto line = answer.substr(0, end);
        answer.remove_prefix(std::min(end + 1, answer.size()));
        if (const auto verdict = fieldOf(line, "verdict")) {
            const auto word = lower(*verdict);
            const bool yes = word.starts_with("accept"), no = word.starts_with("revise");
            if (yes == no || (accept && *accept != yes))
                return std::nullopt;
            accept = yes;
            into = nullptr;
        } else if (const auto cause = fieldOf(line, "cause")) {
            into = &read.cause;
            add(*cause);
        } else if (const auto advice = fieldOf(line, "advice")) {
            into = &read.advice;
            add(*advice);
        } else {
            add(trimmed(line));
        }
    }
    if (!accept)
        return std::nullopt;
    read.accept = *accept;
    for (auto* field : {&read.cause, &read.advice})
        if (lower(trimmed(*field)) == "none" || lower(*field) == "none.")
            field->clear();
    return read;
}

}  // namespace cuco
