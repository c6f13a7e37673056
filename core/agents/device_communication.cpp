// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/agents/device_communication.h"

#include "core/evaluation/gaming_guard.h"
#include "core/source/cuda_tokens.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

namespace cuco {

namespace {

constexpr std::size_t most_lines_named = 12;

bool isLsa(std::string_view name)
{
    constexpr std::array names{std::string_view("ncclLsaBarrierSession"), std::string_view("ncclGetLsaPointer"),
                               std::string_view("ncclGetPeerPointer")};
    return std::ranges::find(names, name) != names.end();
}

bool isGin(std::string_view name)
{
    return name == "ncclGin" || name.starts_with("ncclGin_") || name.starts_with("ncclGinBarrier");
}

bool isWindow(std::string_view name)
{
    return name == "ncclCommWindowRegister" || name == "ncclDevCommCreate";
}

void add(std::vector<CommunicationUse>& uses, std::string_view name, std::size_t line)
{
    auto found = std::ranges::find(uses, name, &CommunicationUse::name);
    if (found == uses.end())
        found = uses.insert(uses.end(), {std::string(name), {}});
    if (found->lines.empty() || found->lines.back() != line)
        found->lines.push_back(line);
}

std::string describe(const char* kind, const std::vector<CommunicationUse>& uses)
{
    std::vector<std::string> parts;
    for (const auto& use : uses) {
        const auto shown = std::span(use.lines).first(std::min(use.lines.size(), most_lines_named));
        parts.push_back(fmt::format("{} ({} {}{})", use.name, use.lines.size() == 1 ? "line" : "lines",
                                    fmt::join(shown, ", "), shown.size() < use.lines.size() ? ", …" : ""));
    }
    return fmt::format("{}: {}\n", kind, parts.empty() ? "none" : fmt::format("{}", fmt::join(parts, ", ")));
}

}  // namespace

CommunicationUses communicationUses(const KernelSource& source)
{
    CommunicationUses uses;
    for (std::size_t block = 0; block < source.blocks().size(); ++block) {
        const auto tokens = tokeniseCuda(source.blockText(block));
        if (!tokens)
            continue;
        for (const auto& token : tokens->tokens) {
            if (token.kind != TokenKind::identifier)
                continue;
            const std::size_t line = source.blocks()[block].first_line + token.line - 1;
            if (isHostCollective(token.text))
                add(uses.host, token.text, line);
            else if (isLsa(token.text))
                add(uses.lsa, token.text, line);
            else if (isGin(token.text))
                add(uses.gin, token.text, line);
            else if (isWindow(token.text))
                add(uses.windows, token.text, line);
        }
    }
    return uses;
}

std::string describe(const CommunicationUses& uses)
{
    return describe("host", uses.host) + describe("lsa", uses.lsa) + describe("gin", uses.gin) +
           describe("set-up", uses.windows);
}

}  // namespace cuco
