// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <string_view>

namespace cuco {

enum class LexemeKind {
    end,
    identifier,
    number,        ///< a preprocessing number: 1'000, 0x1F, 1.5e-3f
    text,          ///< a string or character literal, raw ones included
    comment,       ///< with its delimiters, a line comment without its line end
    preprocessor,  ///< a whole directive with its continued lines, up to a line comment or the line end
    punctuation,   ///< one byte
};

struct Lexeme {
    LexemeKind kind = LexemeKind::end;
    std::size_t begin = 0, end = 0;  ///< byte range in the text
    std::size_t line = 0;            ///< 1-based, of its first byte
};

/// Splits CUDA C++ into tokens just well enough to tell code from comments, literals and directives;
/// never fails and never reads outside the text. A comment or literal that is never closed ends with the text or line.
class CudaLexer {
public:
    explicit CudaLexer(std::string_view text) : text_(text) {}
    /// Goes on behind a token of the text.
    CudaLexer(std::string_view text, const Lexeme& behind) : text_(text), at_(behind.end), line_(behind.line) {}
    Lexeme next();  ///< skips white space; `end` for ever at the end

private:
    bool atContinuation(std::size_t at) const;
    void skipSpace();
    void skipNumber();
    void skipLineComment();
    void skipBlockComment();
    void skipLiteral(char quote);
    void skipRawString();
    void skipDirective();
    LexemeKind skipWordOrLiteral();

    std::string_view text_;
    std::size_t at_ = 0, line_ = 1;
    bool line_has_code_ = false;
};

}  // namespace cuco
