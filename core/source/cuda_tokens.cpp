// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/source/cuda_tokens.h"

#include "core/source/cuda_lexer.h"

#include <algorithm>
#include <optional>

namespace cuco {
namespace {

class Tokeniser {
public:
    explicit Tokeniser(std::string_view source) : source_(source) {}

    std::expected<TokenisedSource, SourceFault> run()
    {
        tokenise(0, source_, 1);
        if (fault_)
            return std::unexpected(*fault_);
        return std::move(result_);
    }

private:
    /// The part of the source at `offset`, whose first line is `line`.
    void tokenise(std::size_t offset, std::string_view text, std::size_t line)
    {
        CudaLexer lexer(text);
        for (Lexeme lexeme = lexer.next(); lexeme.kind != LexemeKind::end && !fault_; lexeme = lexer.next()) {
            const auto words = text.substr(lexeme.begin, lexeme.end - lexeme.begin);
            const CudaToken token{TokenKind::punctuation, words, offset + lexeme.begin, line + lexeme.line - 1,
                                  directive_};
            switch (lexeme.kind) {
                case LexemeKind::comment:
                    checkComment(token);
                    break;
                case LexemeKind::preprocessor:
                    readDirective(token);
                    break;
                case LexemeKind::identifier:
                    push(token, TokenKind::identifier);
                    break;
                case LexemeKind::number:
                    push(token, TokenKind::number);
                    break;
                case LexemeKind::text:
                    pushLiteral(token);
                    break;
                default:
                    pushPunctuation(token);
                    break;
            }
        }
    }

    void push(CudaToken token, TokenKind kind)
    {
        token.kind = kind;
        result_.tokens.push_back(token);
    }

    void checkComment(const CudaToken& token)
    {
        if (token.text.starts_with("/*") && (token.text.size() < 4 || !token.text.ends_with("*/")))
            fault_ = SourceFault{token.line, "A comment that starts here never ends; close it with */."};
    }

    /// An apostrophe may be text that #if removes; of it the compiler judges.
    void pushLiteral(const CudaToken& token)
    {
        const auto quote = token.text.find_first_of("\"'");
        const bool is_string = quote != std::string_view::npos && token.text[quote] == '"';
        if (is_string && (token.text.size() < quote + 2 || token.text.back() != '"'))
            fault_ = SourceFault{token.line, "A string that starts here is not closed."};
        else
            push(token, TokenKind::literal);
    }

    /// Joins `<<<`, `::` and `->`.
    void pushPunctuation(const CudaToken& token)
    {
        auto& tokens = result_.tokens;
        const auto adjacent = [&](std::size_t back, std::string_view text) {
            if (tokens.size() < back)
                return false;
            const auto& before = tokens[tokens.size() - back];
            return before.text == text && before.begin + back == token.begin && before.directive == directive_;
        };
        if (token.text == "<" && adjacent(1, "<") && adjacent(2, "<")) {
            tokens.pop_back();
            tokens.back().text = source_.substr(tokens.back().begin, 3);
        } else if ((token.text == ":" && adjacent(1, ":")) || (token.text == ">" && adjacent(1, "-"))) {
            tokens.back().text = source_.substr(tokens.back().begin, 2);
        } else {
            push(token, TokenKind::punctuation);
        }
    }

    void readDirective(const CudaToken& directive)
    {
        const auto name_begin = std::min(directive.text.find_first_not_of(" \t", 1), directive.text.size());
        const auto rest = directive.text.substr(name_begin);
        if (rest.starts_with("define")) {
            constexpr std::size_t skipped = std::string_view("define").size();
            directive_ = ++directives_;
            tokenise(directive.begin + name_begin + skipped, rest.substr(skipped), directive.line);
            directive_ = 0;
        } else if (rest.starts_with("include")) {
            const auto open = rest.find_first_of("<\"");
            const auto close = open == std::string_view::npos ? open : rest.find_first_of(">\"", open + 1);
            if (close != std::string_view::npos)
                result_.includes.push_back({rest.substr(open + 1, close - open - 1), directive.line});
        }
    }

    std::string_view source_;
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
