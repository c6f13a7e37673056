// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/source/cuda_lexer.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>

namespace cuco {

namespace {

enum CharacterClass : std::uint8_t { other, digit = 1, word_start = 2, space = 4 };

constexpr auto class_of = [] {
    std::array<std::uint8_t, 256> classes{};
    for (std::size_t c = 0; c < classes.size(); ++c) {
        const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
        if (c >= '0' && c <= '9') {
            classes[c] = digit;
        } else if (letter || c == '_' || c >= 0x80) {
            classes[c] = word_start;
        } else if (c == ' ' || (c >= '\t' && c <= '\r')) {
            classes[c] = space;
        }
    }
    return classes;
}();

bool is(char c, unsigned classes)
{
    return (class_of[static_cast<unsigned char>(c)] & classes) != 0;
}
bool isDigit(char c)
{
    return is(c, digit);
}
bool isWord(char c)
{
    return is(c, word_start | digit);
}

}  // namespace

bool CudaLexer::atContinuation(std::size_t at) const
{
    return text_[at] == '\\' && (text_.substr(at + 1, 1) == "\n" || text_.substr(at + 1, 2) == "\r\n");
}

void CudaLexer::skipLineComment()
{
    do {
        at_ = std::min(text_.find('\n', at_ + 1), text_.size());
    } while (at_ < text_.size() && (text_[at_ - 1] == '\\' || text_.substr(at_ - 2, 2) == "\\\r"));
    if (text_[at_ - 1] == '\r') {
        --at_;
    }
}

void CudaLexer::skipBlockComment()
{
    const std::size_t close = text_.find("*/", at_ + 2);
    at_ = close == std::string_view::npos ? text_.size() : close + 2;
}

void CudaLexer::skipLiteral(char quote)
{
    for (++at_; at_ < text_.size() && text_[at_] != '\n'; ++at_) {
        if (text_[at_] == quote) {
            ++at_;
            return;
        }
        if (text_[at_] == '\\' && at_ + 1 < text_.size()) {
            at_ += atContinuation(at_) && text_[at_ + 1] == '\r' ? 2 : 1;
        }
    }
}

void CudaLexer::skipRawString()
{
    const std::size_t open = text_.find('(', at_);
    constexpr std::size_t longest_delimiter = 16;
    if (open == std::string_view::npos || open - at_ - 1 > longest_delimiter) {
        at_ = text_.size();
        return;
    }
    std::string close = ")";
    close += text_.substr(at_ + 1, open - at_ - 1);
    close += '"';
    const std::size_t found = text_.find(close, open);
    at_ = found == std::string_view::npos ? text_.size() : found + close.size();
}

void CudaLexer::skipDirective()
{
    while (at_ < text_.size() && text_[at_] != '\n') {
        const std::string_view rest = text_.substr(at_);
        if (rest.starts_with("//")) {
            break;  // a token of its own
        }
        if (rest.starts_with("/*")) {
            skipBlockComment();
        } else if (rest.front() == '"' || rest.front() == '\'') {
            skipLiteral(rest.front());
        } else {
            at_ += atContinuation(at_) ? (text_[at_ + 1] == '\r' ? 3 : 2) : 1;
        }
    }
}

/// A literal may have a prefix that looks like a name: u8"…", LR"(…)".
LexemeKind CudaLexer::skipWordOrLiteral()
{
    const std::size_t begin = at_;
    std::size_t end = begin;
    while (end < text_.size() && isWord(text_[end])) {
        ++end;
    }
    at_ = end;
    const char quote = end < text_.size() ? text_[end] : '\0';
    if (quote != '"' && quote != '\'') {
        return LexemeKind::identifier;
    }
    const std::string_view word = text_.substr(begin, end - begin);
    const auto is_one_of = [&](auto... prefixes) { return ((word == prefixes) || ...); };
    if (quote == '"' && is_one_of("R", "u8R", "uR", "UR", "LR")) {
        skipRawString();
        return LexemeKind::text;
    }
    if (is_one_of("u8", "u", "U", "L")) {
        skipLiteral(quote);
        return LexemeKind::text;
    }
    return LexemeKind::identifier;
}

void CudaLexer::skipNumber()
{
    for (++at_; at_ < text_.size(); ++at_) {
        const char c = text_[at_], before = text_[at_ - 1];
        if (isWord(c) || c == '.') {
            continue;
        }
        const bool exponent_sign =
            (c == '+' || c == '-') && (before == 'e' || before == 'E' || before == 'p' || before == 'P');
        const bool separator = c == '\'' && at_ + 1 < text_.size() && isWord(text_[at_ + 1]);
        if (!exponent_sign && !separator) {
            break;
        }
    }
}

void CudaLexer::skipSpace()
{
    std::size_t at = at_;
    for (; at < text_.size(); ++at) {
        const char c = text_[at];
        if (c == '\n') {
            line_has_code_ = false;
            ++line_;
        } else if (c == '\\' && atContinuation(at)) {
            at += text_[at + 1] == '\r' ? 2 : 1;
            ++line_;
        } else if (!is(c, space)) {
            break;
        }
    }
    at_ = at;
}

Lexeme CudaLexer::next()
{
    skipSpace();
    Lexeme token{LexemeKind::end, at_, at_, line_};
    if (at_ >= text_.size()) {
        return token;
    }
    // The most frequent first.
    const char first = text_[at_], second = at_ + 1 < text_.size() ? text_[at_ + 1] : '\0';
    const bool starts_line = !line_has_code_;
    line_has_code_ = true;
    if (is(first, word_start)) {
        token.kind = skipWordOrLiteral();
    } else if (isDigit(first) || (first == '.' && isDigit(second))) {
        token.kind = LexemeKind::number;
        skipNumber();
    } else if (first == '/' && second == '/') {
        token.kind = LexemeKind::comment;
        skipLineComment();
    } else if (first == '/' && second == '*') {
        token.kind = LexemeKind::comment;
        skipBlockComment();
        line_has_code_ = !starts_line;  // a directive may follow a comment
    } else if (first == '#' && starts_line) {
        token.kind = LexemeKind::preprocessor;
        skipDirective();
    } else if (first == '"' || first == '\'') {
        token.kind = LexemeKind::text;
        skipLiteral(first);
    } else {
        token.kind = LexemeKind::punctuation;
        ++at_;
    }
    token.end = at_;
    if (token.kind == LexemeKind::comment || token.kind == LexemeKind::preprocessor || token.kind == LexemeKind::text) {
        line_ += static_cast<std::size_t>(std::ranges::count(text_.substr(token.begin, token.end - token.begin), '\n'));
    }
    return token;
}

}  // namespace cuco
