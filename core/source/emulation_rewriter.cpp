// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/source/emulation_rewriter.h"

#include "core/source/cuda_tokens.h"
#include "core/source/shared_declaration.h"
#include "core/source/token_edits.h"

#include <algorithm>
#include <array>
#include <map>

namespace cuco {
namespace {

constexpr std::size_t none = static_cast<std::size_t>(-1);

bool isKeywordBeforeExpression(std::string_view text)
{
    static constexpr std::array keywords = {"return", "if",   "while",  "for",       "switch",  "else",
                                            "do",     "case", "throw",  "co_return", "goto",    "and",
                                            "or",     "not",  "sizeof", "decltype",  "noexcept"};
    return std::ranges::find(keywords, text) != keywords.end();
}

std::string cString(std::string_view text)
{
    std::string result = "\"";
    for (const char c : text) {
        if (c == '"' || c == '\\')
            result += '\\';
        result += c;
    }
    return result + '"';
}

class Rewriter {
public:
    Rewriter(std::string_view source, const std::vector<CudaToken>& tokens) : tokens_(tokens), edits_(source) {}

    std::expected<std::string, SourceFault> run()
    {
        for (std::size_t i = 0; i < tokens_.size(); ++i) {
            trackScope(i);
            if (is(i, "<<<")) {
                if (auto launch = rewriteLaunch(i); !launch)
                    return std::unexpected(launch.error());
            } else if (tokens_[i].kind == TokenKind::identifier) {
                if (tokens_[i].text == "__shared__") {
                    const auto end = rewriteShared(tokens_, i, open_braces_.empty(), edits_, renamed_);
                    if (!end)
                        return std::unexpected(end.error());
                    i = *end;
                } else if (tokens_[i].text == "__noinline__") {
                    // As a macro, it would break the compiler's own headers, which use it as an attribute.
                    edits_.replace(tokens_[i], "__attribute__((noinline))");
                } else {
                    rename(i);
                    dropKernelCast(i);
                }
            }
        }
        return edits_.apply();
    }

private:
    bool is(std::size_t i, std::string_view text) const { return i < tokens_.size() && tokens_[i].text == text; }
    bool sameContext(std::size_t a, std::size_t b) const { return tokens_[a].directive == tokens_[b].directive; }

    /// Braces of namespaces and extern "C" do not open a function.
    void trackScope(std::size_t i)
    {
        if (tokens_[i].directive != 0)
            return;
        if (is(i, "{")) {
            if (!opensNamespace(i))
                open_braces_.push_back(i);
            else
                ++namespaces_;
        } else if (is(i, "}")) {
            if (!open_braces_.empty())
                open_braces_.pop_back();
            else if (namespaces_ > 0)
                --namespaces_;
        }
    }

    bool opensNamespace(std::size_t brace) const
    {
        if (!open_braces_.empty() || brace == 0)
            return false;
        if (tokens_[brace - 1].kind == TokenKind::literal)
            return brace > 1 && is(brace - 2, "extern");
        std::size_t i = brace;
        while (i > 0 && (tokens_[i - 1].kind == TokenKind::identifier || is(i - 1, "::")) && !is(i - 1, "namespace"))
            --i;
        return i > 0 && is(i - 1, "namespace");
    }

    /// Token that opens the bracket closed at `close`, or none.
    std::size_t openingOf(std::size_t close, std::string_view open_text, std::string_view close_text) const
    {
        int depth = 0;
        for (std::size_t i = close + 1; i-- > 0 && sameContext(i, close);) {
            if (is(i, close_text))
                ++depth;
            else if (is(i, open_text) && --depth == 0)
                return i;
            else if (is(i, ";") || is(i, "{") || is(i, "}"))
                return none;
        }
        return none;
    }

    /// First token of the callee that ends right before `launch`, or none. Callees are names, qualified and with
    /// template arguments as may be, members, calls and parenthesised expressions.
    std::size_t calleeBegin(std::size_t launch) const
    {
        const auto before = [&](std::size_t i) {
            return i > 0 && sameContext(i - 1, launch) ? tokens_[i - 1].text : std::string_view();
        };
        const auto name_before = [&](std::size_t i) {
            return !before(i).empty() && tokens_[i - 1].kind == TokenKind::identifier &&
                   !isKeywordBeforeExpression(before(i));
        };
        std::size_t begin = launch;
        while (true) {
            while (before(begin) == ")" || before(begin) == "]" || before(begin) == ">") {
                const auto close = before(begin);
                begin = openingOf(begin - 1, close == ")" ? "(" : close == "]" ? "[" : "<", close);
                if (begin == none)
                    return none;
                const bool suffix = name_before(begin) || before(begin) == "]" || before(begin) == ">";
                if (close == ")" && !suffix)
                    return begin;
            }
            if (!name_before(begin))
                return none;
            --begin;
            if (before(begin) == "template")
                --begin;
            const auto joint = before(begin);
            if (joint != "::" && joint != "." && joint != "->")
                return begin;
            --begin;
            if (joint == "::" && !name_before(begin) && before(begin) != ">")
                return begin;
        }
    }

    /// Index of the `>` that begins the `>>>` of the launch at `open`, or none.
    std::size_t launchEnd(std::size_t open) const
    {
        int depth = 0;
        for (std::size_t i = open + 1; i + 2 < tokens_.size() && sameContext(i, open); ++i) {
            const auto text = tokens_[i].text;
            if (text == "(" || text == "[" || text == "{")
                ++depth;
            else if (text == ")" || text == "]" || text == "}")
                --depth;
            if (depth < 0 || (depth == 0 && text == ";"))
                return none;
            if (depth == 0 && text == ">" && is(i + 1, ">") && is(i + 2, ">") &&
                tokens_[i + 2].begin == tokens_[i].begin + 2)
                return i;
        }
        return none;
    }

    std::size_t closingParenthesis(std::size_t open) const
    {
        int depth = 0;
        for (std::size_t i = open; i < tokens_.size() && sameContext(i, open); ++i) {
            if (is(i, "("))
                ++depth;
            else if (is(i, ")") && --depth == 0)
                return i;
        }
        return none;
    }

    std::expected<void, SourceFault> rewriteLaunch(std::size_t launch)
    {
        const auto fault = [&](std::string message) {
            return std::unexpected(SourceFault{tokens_[launch].line, std::move(message)});
        };
        const auto callee = calleeBegin(launch);
        if (callee == none)
            return fault("No kernel's name stands before this <<<.");
        const auto end = launchEnd(launch);
        if (end == none)
            return fault("This kernel launch has no closing >>>.");
        const auto arguments = end + 3;
        if (!is(arguments, "(") || !sameContext(arguments, launch))
            return fault("The arguments in parentheses are missing after this launch's >>>.");
        const auto close = closingParenthesis(arguments);
        if (close == none)
            return fault("The parenthesis of this launch's arguments is not closed.");

        edits_.insertBefore(tokens_[callee],
                            "::cuco_emu::launch(" + calleeName(callee, launch) + ", [=](auto&... cuco_emu_a) { ");
        edits_.replace(tokens_[launch], "(cuco_emu_a...); }, ::cuco_emu::LaunchConfig(");
        edits_.replace(tokens_[end], ")");
        edits_.replace(tokens_[end + 1], "");
        edits_.replace(tokens_[end + 2], "");
        edits_.replace(tokens_[arguments], arguments + 1 == close ? "" : ", ");
        replaceNullArguments(arguments, close);
        return {};
    }

    /// A macro's parameter as callee is named by what the macro is called with.
    std::string calleeName(std::size_t begin, std::size_t end) const
    {
        if (end - begin == 1 && tokens_[begin].directive != 0 && isMacroParameter(begin))
            return "#" + std::string(tokens_[begin].text);
        std::string name;
        for (std::size_t i = begin; i < end; ++i) {
            if (is(i, ",") ||
                (i > begin && tokens_[i].kind == TokenKind::identifier && tokens_[i - 1].kind == TokenKind::identifier))
                name += is(i, ",") ? "" : " ";
            name += tokens_[i].text;
            if (is(i, ","))
                name += ' ';
        }
        return cString(name);
    }

    bool isMacroParameter(std::size_t token) const
    {
        std::size_t first = token;
        while (first > 0 && sameContext(first - 1, token))
            --first;
        const bool function_like = is(first + 1, "(") && sameContext(first + 1, token) &&
                                   tokens_[first + 1].begin == tokens_[first].begin + tokens_[first].text.size();
        for (std::size_t i = first + 2; function_like && i < token && !is(i, ")"); ++i)
            if (tokens_[i].text == tokens_[token].text)
                return true;
        return false;
    }

    /// A copied 0 or NULL is an integer and no null pointer any more.
    void replaceNullArguments(std::size_t open, std::size_t close)
    {
        int depth = 0;
        for (std::size_t i = open; i < close; ++i) {
            if (is(i, "(") || is(i, "[") || is(i, "{"))
                ++depth;
            else if (is(i, ")") || is(i, "]") || is(i, "}"))
                --depth;
            const bool starts = depth == 1 && (i == open || is(i, ","));
            const bool alone = starts && (i + 2 == close || is(i + 2, ","));
            if (alone && is(i + 1, "0"))
                edits_.replace(tokens_[i + 1], "::cuco_emu::Zero{}");
            else if (alone && is(i + 1, "NULL"))
                edits_.replace(tokens_[i + 1], "nullptr");
        }
    }

    /// Shared variables of a namespace become expressions wherever they are named.
    void rename(std::size_t i)
    {
        const auto found = renamed_.find(tokens_[i].text);
        if (found == renamed_.end())
            return;
        const bool member = i > 0 && (is(i - 1, ".") || is(i - 1, "->") || is(i - 1, "::"));
        if (!member)
            edits_.replace(tokens_[i], found->second);
    }

    /// A kernel's address cast to void* loses the types of its parameters, which the emulator needs.
    void dropKernelCast(std::size_t i)
    {
        static constexpr std::array first_argument = {"cudaLaunchKernel", "cudaLaunchCooperativeKernel",
                                                      "cudaFuncSetAttribute", "cudaFuncGetAttributes"};
        const bool second = is(i, "cudaOccupancyMaxActiveBlocksPerMultiprocessor");
        if ((!second && std::ranges::find(first_argument, tokens_[i].text) == first_argument.end()) || !is(i + 1, "("))
            return;
        std::size_t at = i + 2;
        if (second) {
            while (at < tokens_.size() && !is(at, ",") && !is(at, ";"))
                ++at;
            ++at;
        }
        const bool c_style = is(at, "(") && isVoidPointer(at + 1);
        const bool named = is(at, "reinterpret_cast") && is(at + 1, "<") && isVoidPointer(at + 2);
        if (!c_style && !named)
            return;
        const auto last = named ? ">" : ")";
        for (; !is(at, last); ++at)
            edits_.replace(tokens_[at], "");
        edits_.replace(tokens_[at], "");
    }

    /// `void *`, `const void *` or `void const *` up to a closing bracket.
    bool isVoidPointer(std::size_t i) const
    {
        bool named = false;
        for (; is(i, "const") || is(i, "void"); ++i)
            named = named || is(i, "void");
        return named && is(i, "*") && (is(i + 1, ")") || is(i + 1, ">"));
    }

    const std::vector<CudaToken>& tokens_;
    TokenEdits edits_;
    std::vector<std::size_t> open_braces_;
    std::size_t namespaces_ = 0;
    std::map<std::string_view, std::string> renamed_;
};

}  // namespace

std::expected<std::string, SourceFault> rewriteForEmulation(std::string_view cuda_source, std::string_view file_name)
{
    const auto tokenised = tokeniseCuda(cuda_source);
    if (!tokenised)
        return std::unexpected(tokenised.error());
    const auto rewritten = Rewriter(cuda_source, tokenised->tokens).run();
    if (!rewritten)
        return std::unexpected(rewritten.error());
    return "#line 1 " + cString(file_name) + "\n" + *rewritten;
}

}  // namespace cuco
