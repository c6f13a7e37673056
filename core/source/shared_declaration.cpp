// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/source/shared_declaration.h"

#include <fmt/format.h>

namespace cuco {
namespace {

class SharedDeclaration {
public:
    SharedDeclaration(const std::vector<CudaToken>& tokens, std::size_t token, TokenEdits& edits)
        : tokens_(tokens), shared_(token), edits_(edits)
    {
    }

    std::expected<std::size_t, SourceFault> rewrite(bool at_namespace_scope,
                                                    std::map<std::string_view, std::string>& renamed)
    {
        const auto fault = [&](std::string message) {
            return std::unexpected(SourceFault{tokens_[shared_].line, std::move(message)});
        };
        findBounds();
        if (end_ == tokens_.size())
            return fault("This __shared__ declaration has no semicolon.");
        dropStorageClasses();
        findNames();
        if (names_.empty() || names_.front() == begin_)
            return fault("This __shared__ declaration names no variable.");
        if (is_extern_)
            rewriteDynamic(at_namespace_scope, renamed);
        else
            rewriteStatic(at_namespace_scope, renamed);
        return end_;
    }

private:
    bool is(std::size_t i, std::string_view text) const { return i < tokens_.size() && tokens_[i].text == text; }
    bool here(std::size_t i) const { return i < tokens_.size() && tokens_[i].directive == tokens_[shared_].directive; }

    /// Qualifiers may stand before __shared__, such as in `extern __shared__` or `volatile __shared__`.
    void findBounds()
    {
        begin_ = shared_;
        while (begin_ > 0 && here(begin_ - 1) && isQualifier(begin_ - 1))
            --begin_;
        end_ = shared_;
        while (here(end_) && !is(end_, ";"))
            ++end_;
        if (!here(end_))
            end_ = tokens_.size();
    }

    bool isQualifier(std::size_t i) const
    {
        return is(i, "extern") || is(i, "static") || is(i, "volatile") || is(i, "const") || is(i, "__device__");
    }

    void dropStorageClasses()
    {
        for (std::size_t i = begin_; i <= shared_ + 2 && i < end_; ++i) {
            is_extern_ = is_extern_ || is(i, "extern");
            if (is(i, "extern") || is(i, "static") || is(i, "__device__") || is(i, "__shared__"))
                edits_.replace(tokens_[i], "");
        }
    }

    /// The declared names: the last identifier before a declarator's `[`, `,` or end, outside brackets; inside
    /// parentheses only for a pointer to array, `T (*name)[4]`.
    void findNames()
    {
        int depth = 0;
        std::size_t candidate = begin_;
        bool dimensions = false;
        const auto finish = [&] {
            if (candidate != begin_)
                names_.push_back(candidate);
            candidate = begin_;
            dimensions = false;
        };
        for (std::size_t i = shared_ + 1; i < end_; ++i) {
            const auto text = tokens_[i].text;
            const bool pointer = text == "(" && is(i + 1, "*") && is(i + 3, ")");
            if (pointer) {
                candidate = i + 2;
                i += 3;
                dimensions = true;
            } else if (text == "(" || text == "[" || text == "{" || (text == "<" && !dimensions)) {
                if (text == "[" && depth == 0)
                    dimensions = true;
                ++depth;
            } else if (text == ")" || text == "]" || text == "}" || (text == ">" && !dimensions)) {
                --depth;
            } else if (depth == 0 && text == ",") {
                finish();
            } else if (depth == 0 && !dimensions && tokens_[i].kind == TokenKind::identifier) {
                if (isAttribute(i) && is(i + 1, "("))
                    continue;
                candidate = i;
            }
        }
        finish();
    }

    bool isAttribute(std::size_t i) const { return is(i, "__align__") || is(i, "alignas") || is(i, "__attribute__"); }

    std::string structName() const
    {
        return fmt::format("cuco_emu_shared_{}_{}", tokens_[shared_].line, tokens_[shared_].begin);
    }

    void rewriteStatic(bool at_namespace_scope, std::map<std::string_view, std::string>& renamed)
    {
        edits_.insertBefore(tokens_[begin_], "struct " + structName() + " { ");
        std::string tail = " };";
        for (const auto name : names_) {
            const auto access = fmt::format("::cuco_emu::shared<{}>().{}", structName(), tokens_[name].text);
            if (at_namespace_scope)
                renamed.insert_or_assign(tokens_[name].text, "(" + access + ")");
            else
                tail += fmt::format(" auto& {} = {};", tokens_[name].text, access);
        }
        edits_.insertAfter(tokens_[end_], tail);
    }

    /// `extern __shared__ T name[][n];`: a pointer to the block's dynamic memory.
    void rewriteDynamic(bool at_namespace_scope, std::map<std::string_view, std::string>& renamed)
    {
        const auto name = names_.front();
        std::string type;
        for (std::size_t i = begin_; i < name; ++i) {
            if (isAttribute(i) && is(i + 1, "(")) {
                i = skipParentheses(i + 1);
                continue;
            }
            const bool dropped = is(i, "extern") || is(i, "static") || is(i, "__device__") || is(i, "__shared__");
            if (!dropped)
                type += fmt::format("{} ", tokens_[i].text);
        }
        std::size_t dimension = name + 1;
        while (dimension < end_ && !is(dimension, "]"))
            ++dimension;
        for (std::size_t i = dimension + 1; i < end_; ++i)
            type += tokens_[i].text;
        for (std::size_t i = begin_; i < end_; ++i)
            edits_.replace(tokens_[i], "");
        const auto access = fmt::format("::cuco_emu::dynamic_shared<{}>()", type);
        if (at_namespace_scope)
            renamed.insert_or_assign(tokens_[name].text, "(" + access + ")");
        else
            edits_.insertBefore(tokens_[end_], fmt::format("auto* {} = {}", tokens_[name].text, access));
    }

    std::size_t skipParentheses(std::size_t open) const
    {
        int depth = 0;
        for (std::size_t i = open; i < end_; ++i) {
            depth += is(i, "(") ? 1 : is(i, ")") ? -1 : 0;
            if (depth == 0)
                return i;
        }
        return end_;
    }

    const std::vector<CudaToken>& tokens_;
    std::size_t shared_;
    TokenEdits& edits_;
    std::size_t begin_ = 0, end_ = 0;
    bool is_extern_ = false;
    std::vector<std::size_t> names_;
};

}  // namespace

std::expected<std::size_t, SourceFault> rewriteShared(const std::vector<CudaToken>& tokens, std::size_t token,
                                                      bool at_namespace_scope, TokenEdits& edits,
                                                      std::map<std::string_view, std::string>& renamed)
{
    return SharedDeclaration(tokens, token, edits).rewrite(at_namespace_scope, renamed);
}

}  // namespace cuco
