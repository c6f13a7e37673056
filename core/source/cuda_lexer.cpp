// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/source/cuda_lexer.h"

#include <algorithm>
#include <string>

namespace cuco {

namespace {

bool isDigit(char c)
{
    return c >= '0' && c <= '9';
}
bool isWordStart(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || (c & 0x80) != 0;
}
bool isWord(char c)
{
    return isWordStart(c) || isDigit(c);
}
bool isSpace(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

}  // namespace

bool CudaLexer::atContinuation(std::size_t at) const
{
    return text_[at] == '\\' && (text_.substr(at + 1, 1) == "\n" || text_.substr(at + 1, 2) == "\r\n");
}

void CudaLexer::skipLineComment()
{
    while (at_ < text_.size() && text_[at_] != '\n') {
        at_ += atContinuation(at_) ? (text_[at_ + 1] == '\r' ? 3 : 2) : 1;
    }
    if (at_ > 0 && at_ <= text_.size() && text_[at_ - 1] == '\r') {
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
    while (at_ < text_.size() && isWord(text_[at_])) {
        ++at_;
    }
    const std::string_view word = text_.substr(begin, at_ - begin);
    const char quote = at_ < text_.size() ? text_[at_] : '\0';
    const auto is_one_of = [&](auto... prefixes) { return ((word == prefixes) || ...); };
    if (quote == '"' && is_one_of("R", "u8R", "uR", "UR", "LR")) {
        skipRawString();
        return LexemeKind::text;
    }
    if ((quote == '"' || quote == '\'') && is_one_of("u8", "u", "U", "L")) {
        skipLiteral(quote);
        return LexemeKind::text;
    }
    return LexemeKind::identifier;
}

Lexeme CudaLexer::next()
{
    while (at_ < text_.size() && (isSpace(text_[at_]) || atContinuation(at_))) {
        line_has_code_ = line_has_code_ && text_[at_] != '\n';
        at_ += atContinuation(at_) ? (text_[at_ + 1] == '\r' ? 3 : 2) : 1;
    }
    line_ += static_cast<std::size_t>(std::count(text_.begin() + static_cast<std::ptrdiff_t>(counted_),
                                                 text_.begin() + static_cast<std::ptrdiff_t>(at_), '\n'));
    counted_ = at_;
    Lexeme token{LexemeKind::end, at_, at_, line_};
    if (at_ >= text_.size()) {
        return token;
    }
    const std::string_view rest = text_.substr(at_);
    const char first = rest.front();
    const bool starts_line = !line_has_code_;
    line_has_code_ = true;
    if (rest.starts_with("//")) {
        token.kind = LexemeKind::comment;
        skipLineComment();
    } else if (rest.starts_with("/*")) {
        token.kind = LexemeKind::comment;
        skipBlockComment();
        line_has_code_ = !starts_line;  // a directive may follow a comment
    } else if (first == '#' && starts_line) {
        token.kind = LexemeKind::preprocessor;
        skipDirective();
    } else if (first == '"' || first == '\'') {
        token.kind = LexemeKind::text;
        skipLiteral(first);
    } else if (isWordStart(first)) {
        token.kind = skipWordOrLiteral();
    } else if (isDigit(first) || (first == '.' && rest.size() > 1 && isDigit(rest[1]))) {
        token.kind = LexemeKind::number;
        for (++at_; at_ < text_.size(); ++at_) {
            const char c = text_[at_], before = text_[at_ - 1];
            const bool exponent_sign =
                (c == '+' || c == '-') && (before == 'e' || before == 'E' || before == 'p' || before == 'P');
            const bool separator = c == '\'' && at_ + 1 < text_.size() && isWord(text_[at_ + 1]);
            if (!isWord(c) && c != '.' && !exponent_sign && !separator) {
                break;
            }
        }
    } else {
        token.kind = LexemeKind::punctuation;
        ++at_;
    }
    token.end = at_;
    return token;
}

}  // namespace cuco
