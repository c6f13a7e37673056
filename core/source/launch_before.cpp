// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/source/launch_before.h"

#include "core/source/cuda_tokens.h"

#include <algorithm>
#include <array>
#include <span>

namespace cuco {

namespace {

using Tokens = std::span<const CudaToken>;

/// The identifier before tokens[at], beyond template arguments if there are any.
std::string calleeBefore(Tokens tokens, std::size_t at)
{
    int open = 0;
    while (at-- > 0) {
        const CudaToken& token = tokens[at];
        if (token.text == ">")
            ++open;
        else if (token.text == "<")
            --open;
        else if (token.text == ";" || token.text == "{" || token.text == "}" || open < 0)
            break;
        else if (open == 0)
            return token.kind == TokenKind::identifier ? std::string(token.text) : std::string();
    }
    return {};
}

/// The kernel among the arguments of a call whose name is tokens[at]: the last identifier of the first that is no cast.
std::string kernelArgument(Tokens tokens, std::size_t at, bool second)
{
    std::string kernel;
    int open = 0, arguments = 0, templates = 0;
    for (std::size_t i = at + 1; i < tokens.size(); ++i) {
        const std::string_view text = tokens[i].text;
        if (text == "(")
            ++open;
        else if (text == ")" && --open == 0)
            break;
        else if (text == "<")
            ++templates;
        else if (text == ">")
            --templates;
        else if (text == "," && open == 1 && templates == 0 && ++arguments > (second ? 1 : 0))
            break;
        else if (tokens[i].kind == TokenKind::identifier && templates == 0 && arguments == (second ? 1 : 0))
            kernel = text;
    }
    return kernel;
}

std::string kernelAt(Tokens tokens, std::size_t at)
{
    static constexpr std::array first = {"cudaLaunchKernel", "cudaLaunchCooperativeKernel"};
    static constexpr std::array second = {"cudaLaunchKernelEx", "cudaLaunchKernelExC"};
    const CudaToken& token = tokens[at];
    if (token.text == "<<<")
        return calleeBefore(tokens, at);
    if (token.kind != TokenKind::identifier || at + 1 >= tokens.size() || tokens[at + 1].text != "(")
        return {};
    if (std::ranges::find(first, token.text) != first.end())
        return kernelArgument(tokens, at, false);
    return std::ranges::find(second, token.text) != second.end() ? kernelArgument(tokens, at, true) : std::string();
}

}  // namespace

std::optional<LaunchPlace> launchBefore(std::string_view source, std::size_t line)
{
    const auto read = tokeniseCuda(source);
    if (!read)
        return std::nullopt;
    std::optional<LaunchPlace> found;
    for (std::size_t i = 0; i < read->tokens.size() && read->tokens[i].line <= line; ++i)
        if (std::string kernel = kernelAt(read->tokens, i); !kernel.empty())
            found = {std::move(kernel), read->tokens[i].line};
    return found;
}

}  // namespace cuco
