// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/agents/search_answer.h"

#include "core/agents/tunable_moves.h"

#include <fmt/format.h>

namespace cuco {

namespace {

/// The directive as the code has it, unless something is wrong with it.
std::expected<Directive, std::string> directiveOf(const KernelSource& source, const Patch& patch,
                                                  const SearchAnswerRules& rules)
{
    const auto directive = parseDirective(source);
    if (!directive)
        return std::unexpected(directive.error().message);
    if (patch.directive.empty())
        return std::unexpected("it does not state its directive before the code, on a line that begins with cuco:.");
    const auto announced =
        KernelSource::parse("// EVOLVE-BLOCK-START\n// cuco: " + patch.directive + "\n// EVOLVE-BLOCK-END\n");
    const auto stated = announced ? parseDirective(*announced) : std::unexpected(announced.error());
    if (!stated)
        return std::unexpected("the directive before the code cannot be read: " + stated.error().message);
    if (!(*stated == *directive))
        return std::unexpected(
            fmt::format("it announces {}, but its code says {}.", toString(*stated), toString(*directive)));
    if (!rules.backend.empty() && directive->backend != rules.backend)
        return std::unexpected(
            fmt::format("its directive has backend={}, asked was {}.", directive->backend, rules.backend));
    if (rules.design_space && rules.capabilities)
        if (std::string violation = rules.design_space->violation(*directive, *rules.capabilities); !violation.empty())
            return std::unexpected(std::move(violation));
    return *directive;
}

}  // namespace

std::expected<SearchAnswer, std::string> readSearchAnswer(const ChatResponse& answer, const KernelSource& parent,
                                                          const SearchAnswerRules& rules)
{
    if (answer.stop_reason == StopReason::refusal)
        return std::unexpected("it declines the task.");
    if (answer.text.find_first_not_of(" \t\r\n") == std::string::npos)
        return std::unexpected("it is empty.");
    const bool cut = answer.stop_reason == StopReason::token_limit || answer.stop_reason == StopReason::context_limit;
    const std::string prefix = cut ? "it was cut off at the limit of its length. " : "";
    const auto patch = readPatch(answer.text, rules.asked);
    if (!patch)
        return std::unexpected(prefix + describe(patch.error()));
    auto patched = applyPatch(parent, *patch);
    if (!patched)
        return std::unexpected(prefix + describe(patched.error()));
    auto directive = directiveOf(patched->source, *patch, rules);
    if (!directive)
        return std::unexpected(prefix + directive.error());
    const auto tunables = findTunables(patched->source);
    if (!tunables)
        return std::unexpected(prefix + fmt::format("line {}: {}", tunables.error().line, tunables.error().message));
    SearchAnswer read{std::move(patched->source), std::move(*directive), valuesOf(*tunables), patch->name,
                      patch->description,         patch->edits.empty()};
    if (read.summary.empty())
        read.summary = read.name.empty() ? std::string(toString(patch->kind)) : read.name;
    return read;
}

}  // namespace cuco
