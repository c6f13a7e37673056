// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/source/cuda_tokens.h"

#include <cctype>
#include <optional>
#include <string>

namespace cuco {
namespace {

bool isNameStart(char c)
{
    return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '$';
}
bool isNamePart(char c)
{
    return isNameStart(c) || std::isdigit(static_cast<unsigned char>(c)) != 0;
}
bool isDigit(char c)
{
    return std::isdigit(static_cast<unsigned char>(c)) != 0;
}

class Tokeniser {
public:
    explicit Tokeniser(std::string_view source) : source_(source) {}

    std::expected<TokenisedSource, SourceFault> run()
    {
        while (at_ < source_.size() && !fault_)
            step();
        if (fault_)
            return std::unexpected(*fault_);
        return std::move(result_);
    }

private:
    char peek(std::size_t ahead = 0) const { return at_ + ahead < source_.size() ? source_[at_ + ahead] : '\0'; }

    /// Length of a backslash-newline here, or 0.
    std::size_t continuation() const
    {
        if (peek() != '\\')
            return 0;
        if (peek(1) == '\n')
            return 2;
        return peek(1) == '\r' && peek(2) == '\n' ? 3 : 0;
    }

    void step()
    {
        if (const auto joined = continuation()) {
            at_ += joined;
            ++line_;
            return;
        }
        const char c = peek();
        if (c == '\n') {
            ++at_;
            ++line_;
            line_has_code_ = false;
            directive_ = 0;
        } else if (std::isspace(static_cast<unsigned char>(c)) != 0) {
            ++at_;
        } else if (c == '/' && peek(1) == '/') {
            skipLine();
        } else if (c == '/' && peek(1) == '*') {
            skipBlockComment();
        } else if (c == '#' && !line_has_code_ && directive_ == 0) {
            openDirective();
        } else {
            line_has_code_ = true;
            token();
        }
    }

    /// To the newline that ends the logical line, which stays.
    void skipLine()
    {
        while (at_ < source_.size() && peek() != '\n') {
            if (const auto joined = continuation()) {
                at_ += joined;
                ++line_;
            } else {
                ++at_;
            }
        }
    }

    void skipBlockComment()
    {
        const auto end = source_.find("*/", at_ + 2);
        if (end == std::string_view::npos) {
            fault_ = SourceFault{line_, "A comment that starts here never ends; close it with */."};
            return;
        }
        advanceTo(end + 2);
    }

    void advanceTo(std::size_t end)
    {
        for (; at_ < end; ++at_)
            line_ += source_[at_] == '\n';
    }

    void openDirective()
    {
        line_has_code_ = true;
        ++at_;
        while (peek() == ' ' || peek() == '\t')
            ++at_;
        const auto begin = at_;
        while (isNamePart(peek()))
            ++at_;
        const auto name = source_.substr(begin, at_ - begin);
        if (name == "define") {
            directive_ = ++directives_;
            return;
        }
        if (name == "include")
            readInclude();
        skipDirective();
    }

    /// Like skipLine, but a block comment may carry the directive over several lines.
    void skipDirective()
    {
        while (at_ < source_.size() && peek() != '\n' && !fault_) {
            if (peek() == '/' && peek(1) == '*') {
                skipBlockComment();
            } else if (const auto joined = continuation()) {
                at_ += joined;
                ++line_;
            } else if (peek() == '/' && peek(1) == '/') {
                skipLine();
            } else {
                ++at_;
            }
        }
    }

    void readInclude()
    {
        while (peek() == ' ' || peek() == '\t')
            ++at_;
        const char open = peek();
        if (open != '<' && open != '"')
            return;
        const auto begin = at_ + 1;
        const auto end = source_.find_first_of(open == '<' ? ">\n" : "\"\n", begin);
        if (end == std::string_view::npos || source_[end] == '\n')
            return;
        result_.includes.push_back({source_.substr(begin, end - begin), line_});
        at_ = end + 1;
    }

    void push(TokenKind kind, std::size_t begin, std::size_t begin_line)
    {
        result_.tokens.push_back({kind, source_.substr(begin, at_ - begin), begin, begin_line, directive_});
    }

    void token()
    {
        const auto begin = at_;
        const auto begin_line = line_;
        const char c = peek();
        if (isNameStart(c)) {
            while (isNamePart(peek()))
                ++at_;
            const auto name = source_.substr(begin, at_ - begin);
            const bool is_prefix = name == "u8" || name == "u" || name == "U" || name == "L";
            const bool is_raw = name == "R" || name == "u8R" || name == "uR" || name == "UR" || name == "LR";
            if (is_raw && peek() == '"')
                rawString(begin, begin_line);
            else if (is_prefix && (peek() == '"' || peek() == '\''))
                quoted(begin, begin_line);
            else
                push(TokenKind::identifier, begin, begin_line);
        } else if (isDigit(c) || (c == '.' && isDigit(peek(1)))) {
            number(begin, begin_line);
        } else if (c == '"' || c == '\'') {
            quoted(begin, begin_line);
        } else {
            const auto next = source_.substr(at_, 3);
            if (next == "<<<")
                at_ += 3;
            else if (next.starts_with("::") || next.starts_with("->"))
                at_ += 2;
            else
                ++at_;
            push(TokenKind::punctuation, begin, begin_line);
        }
    }

    void number(std::size_t begin, std::size_t begin_line)
    {
        while (true) {
            const char c = peek();
            const bool signed_exponent =
                (c == '+' || c == '-') && at_ > begin && std::string_view("eEpP").contains(source_[at_ - 1]);
            const bool separator = c == '\'' && isNamePart(peek(1));
            if (!isNamePart(c) && c != '.' && !signed_exponent && !separator)
                break;
            ++at_;
        }
        push(TokenKind::number, begin, begin_line);
    }

    void quoted(std::size_t begin, std::size_t begin_line)
    {
        const char quote = peek();
        ++at_;
        while (at_ < source_.size() && peek() != quote && peek() != '\n') {
            if (const auto joined = continuation()) {
                at_ += joined;
                ++line_;
            } else {
                at_ += peek() == '\\' ? 2 : 1;
            }
        }
        if (peek() != quote && quote == '"') {
            fault_ = SourceFault{begin_line, "A string that starts here is not closed on its line."};
            return;
        }
        if (peek() != quote) {  // an apostrophe in text that #if removes; the compiler judges it
            at_ = begin + 1;
            line_ = begin_line;
            push(TokenKind::punctuation, begin, begin_line);
            return;
        }
        ++at_;
        push(quote == '"' ? TokenKind::string : TokenKind::character, begin, begin_line);
    }

    void rawString(std::size_t begin, std::size_t begin_line)
    {
        const auto open = source_.find('(', at_);
        const auto delimiter =
            open == std::string_view::npos ? std::string_view() : source_.substr(at_ + 1, open - at_ - 1);
        const std::string closing = ")" + std::string(delimiter) + "\"";
        const auto end = open == std::string_view::npos ? open : source_.find(closing, open);
        if (end == std::string_view::npos || delimiter.size() > 16) {
            fault_ = SourceFault{begin_line, "A raw string that starts here never ends."};
            return;
        }
        advanceTo(end + closing.size());
        push(TokenKind::string, begin, begin_line);
    }

    std::string_view source_;
    std::size_t at_ = 0, line_ = 1;
    bool line_has_code_ = false;
    std::size_t directive_ = 0, directives_ = 0;
    TokenisedSource result_;
    std::optional<SourceFault> fault_;
};

}  // namespace

std::expected<TokenisedSource, SourceFault> tokeniseCuda(std::string_view source)
{
    return Tokeniser(source).run();
}

}  // namespace cuco
