// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/trace/json_scanner.h"

#include <charconv>
#include <cmath>
#include <cstring>

namespace cuco {

namespace {

constexpr std::size_t deepest = 200;
constexpr std::int64_t largest = 2'000'000'000'000'000'000;

bool isSpace(char c)
{
    return c == ' ' || c == '\n' || c == '\t' || c == '\r';
}

bool isDigit(char c)
{
    return c >= '0' && c <= '9';
}

void appendUtf8(std::string& to, std::uint32_t code)
{
    if (code < 0x80) {
        to += static_cast<char>(code);
    } else if (code < 0x800) {
        to += static_cast<char>(0xC0 | code >> 6);
        to += static_cast<char>(0x80 | (code & 0x3F));
    } else if (code < 0x10000) {
        to += static_cast<char>(0xE0 | code >> 12);
        to += static_cast<char>(0x80 | (code >> 6 & 0x3F));
        to += static_cast<char>(0x80 | (code & 0x3F));
    } else {
        to += static_cast<char>(0xF0 | code >> 18);
        to += static_cast<char>(0x80 | (code >> 12 & 0x3F));
        to += static_cast<char>(0x80 | (code >> 6 & 0x3F));
        to += static_cast<char>(0x80 | (code & 0x3F));
    }
}

std::optional<std::uint32_t> hex4(std::string_view text)
{
    std::uint32_t value = 0;
    if (text.size() < 4) {
        return std::nullopt;
    }
    const auto [end, error] = std::from_chars(text.data(), text.data() + 4, value, 16);
    return error == std::errc() && end == text.data() + 4 ? std::optional(value) : std::nullopt;
}

/// What follows a backslash; how many characters it took, 0 when it is no escape.
std::size_t decodeEscape(std::string_view rest, std::string& to)
{
    constexpr std::string_view letters = "\"\\/bfnrt", meanings = "\"\\/\b\f\n\r\t";
    if (rest.empty()) {
        return 0;
    }
    if (const auto letter = letters.find(rest[0]); letter != std::string_view::npos) {
        to += meanings[letter];
        return 1;
    }
    const auto first = rest[0] == 'u' ? hex4(rest.substr(1)) : std::nullopt;
    if (!first) {
        return 0;
    }
    constexpr std::uint32_t replacement = 0xFFFD;
    if (*first < 0xD800 || *first > 0xDFFF) {
        appendUtf8(to, *first);
        return 5;
    }
    const bool pair = *first < 0xDC00 && rest.size() >= 11 && rest[5] == '\\' && rest[6] == 'u';
    const auto second = pair ? hex4(rest.substr(7)) : std::nullopt;
    if (!second || *second < 0xDC00 || *second > 0xDFFF) {
        appendUtf8(to, replacement);
        return 5;
    }
    appendUtf8(to, 0x10000 + ((*first - 0xD800) << 10) + (*second - 0xDC00));
    return 11;
}

}  // namespace

bool JsonScanner::fail(const char* fault)
{
    if (!fault_) {
        truncated_ = at_ >= text_.size();
        fault_ = truncated_ ? "the text ends in the middle" : fault;
    }
    return false;
}

void JsonScanner::skipSpace()
{
    while (at_ < text_.size() && isSpace(text_[at_])) {
        ++at_;
    }
}

char JsonScanner::peek()
{
    skipSpace();
    return failed() || at_ >= text_.size() ? '\0' : text_[at_];
}

bool JsonScanner::atEnd()
{
    skipSpace();
    return at_ >= text_.size();
}

bool JsonScanner::enter(char bracket)
{
    if (failed() || peek() != bracket) {
        return fail(bracket == '{' ? "an object was expected" : "a list was expected");
    }
    if (has_members_.size() >= deepest) {
        return fail("it is nested too deeply");
    }
    ++at_;
    has_members_.push_back(false);
    return true;
}

bool JsonScanner::nextMember(char closing)
{
    if (failed()) {
        return false;
    }
    char next = peek();
    if (next == closing) {
        ++at_;
        has_members_.pop_back();
        return false;
    }
    if (has_members_.back()) {
        if (next != ',') {
            return fail("a comma or a closing bracket was expected");
        }
        ++at_;
        next = peek();
        if (next == closing) {
            return fail("a comma stands before a closing bracket");
        }
    }
    has_members_.back() = true;
    return next != '\0' || fail("");
}

bool JsonScanner::nextElement()
{
    return nextMember(']');
}

bool JsonScanner::nextKey(std::string_view& key)
{
    if (!nextMember('}') || !readString(key)) {
        return false;
    }
    if (peek() != ':') {
        return fail("a colon was expected");
    }
    ++at_;
    return true;
}

bool JsonScanner::rawString(std::string_view& value, bool& has_escapes)
{
    if (failed() || peek() != '"') {
        return fail("a string was expected");
    }
    const std::size_t begin = ++at_;
    has_escapes = false;
    while (true) {
        const auto* quote = static_cast<const char*>(std::memchr(text_.data() + at_, '"', text_.size() - at_));
        if (!quote) {
            at_ = text_.size();
            return fail("");
        }
        const auto end = static_cast<std::size_t>(quote - text_.data());
        std::size_t backslashes = 0;
        while (end - backslashes > begin && text_[end - backslashes - 1] == '\\') {
            ++backslashes;
        }
        at_ = end + 1;
        if (backslashes % 2 == 0) {
            value = text_.substr(begin, end - begin);
            has_escapes = backslashes > 0 || std::memchr(value.data(), '\\', value.size()) != nullptr;
            return true;
        }
    }
}

bool JsonScanner::readString(std::string_view& value)
{
    bool has_escapes = false;
    if (!rawString(value, has_escapes) || !has_escapes) {
        return !failed();
    }
    decoded_.clear();
    for (std::size_t i = 0; i < value.size(); ++i) {
        if (value[i] != '\\') {
            decoded_ += value[i];
            continue;
        }
        const std::size_t taken = decodeEscape(value.substr(i + 1), decoded_);
        if (taken == 0) {
            return fail("a string holds an escape that JSON does not have");
        }
        i += taken;
    }
    value = decoded_;
    return true;
}

bool JsonScanner::readScalar(std::string_view& value)
{
    const char next = peek();
    if (next == '"') {
        return readString(value);
    }
    const std::size_t begin = at_;
    while (at_ < text_.size() && !isSpace(text_[at_]) && text_[at_] != ',' && text_[at_] != '}' && text_[at_] != ']' &&
           text_[at_] != '{' && text_[at_] != '[' && text_[at_] != '"' && text_[at_] != ':') {
        ++at_;
    }
    value = text_.substr(begin, at_ - begin);
    if (at_ >= text_.size()) {
        return fail("");  // a value of the end of a text may be half of one
    }
    const bool is_value = !value.empty() && (isDigit(value[0]) || value[0] == '-' || value == "true" ||
                                             value == "false" || value == "null");
    return is_value || fail("a value was expected");
}

bool JsonScanner::readNumber(std::string_view& value)
{
    const char next = peek();
    if (next != '-' && !isDigit(next)) {
        return fail("a number was expected");
    }
    return readScalar(value);
}

bool JsonScanner::skip()
{
    std::size_t depth = 0;
    std::string_view ignored;
    bool has_escapes = false;
    do {
        const char next = peek();
        if (next == '{' || next == '[') {
            if (++depth + has_members_.size() > deepest) {
                return fail("it is nested too deeply");
            }
            ++at_;
        } else if (depth > 0 && (next == '}' || next == ']')) {
            --depth;
            ++at_;
        } else if (depth > 0 && (next == ',' || next == ':')) {
            ++at_;
        } else if (next == '"' ? !rawString(ignored, has_escapes) : !readScalar(ignored)) {
            return false;
        }
    } while (depth > 0);
    return true;
}

std::optional<std::int64_t> thousandfold(std::string_view decimal)
{
    std::size_t at = 0;
    const bool negative = !decimal.empty() && decimal[0] == '-';
    at += negative ? 1 : 0;
    std::int64_t value = 0;
    int decimals = -1;  // of those that count; -1 before the point
    bool any = false, half = false;
    for (; at < decimal.size(); ++at) {
        const char c = decimal[at];
        if (c == '.' && decimals < 0) {
            decimals = 0;
        } else if (!isDigit(c)) {
            break;
        } else if (decimals >= 3) {
            half = half || (decimals == 3 && c >= '5');
            ++decimals;
        } else {
            any = true;
            if (value > largest / 10) {
                return std::nullopt;
            }
            value = value * 10 + (c - '0');
            decimals += decimals >= 0 ? 1 : 0;
        }
    }
    if (!any) {
        return std::nullopt;
    }
    if (at < decimal.size()) {
        double number = 0;
        const auto [end, error] = std::from_chars(decimal.data(), decimal.data() + decimal.size(), number);
        const double scaled = number * 1e3;
        if (error != std::errc() || end != decimal.data() + decimal.size() ||
            !(std::abs(scaled) < static_cast<double>(largest))) {
            return std::nullopt;
        }
        return std::llround(scaled);
    }
    for (int i = decimals < 0 ? 0 : decimals; i < 3; ++i) {
        if (value > largest / 10) {
            return std::nullopt;
        }
        value *= 10;
    }
    value += half ? 1 : 0;
    if (value > largest) {
        return std::nullopt;
    }
    return negative ? -value : value;
}

}  // namespace cuco
