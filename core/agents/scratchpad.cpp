// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/agents/scratchpad.h"

#include <fmt/format.h>

#include <charconv>

namespace cuco {

namespace {

constexpr std::string_view summarised = "Scratchpad after ", edited = "Scratchpad edited after ";
constexpr const char* person = "person";

}  // namespace

AgentStep toStep(const Scratchpad& scratchpad)
{
    AgentStep step;
    step.agent = scratchpad.by_person ? person : summarizer_agent;
    step.title = fmt::format("{}{} candidates", scratchpad.by_person ? edited : summarised, scratchpad.candidates);
    step.body = scratchpad.text;
    return step;
}

std::optional<Scratchpad> scratchpadOf(const AgentStep& step)
{
    Scratchpad scratchpad;
    scratchpad.by_person = step.agent == person;
    if (!scratchpad.by_person && step.agent != summarizer_agent)
        return std::nullopt;
    const std::string_view prefix = scratchpad.by_person ? edited : summarised;
    if (!step.title.starts_with(prefix))
        return std::nullopt;
    const std::string_view count = std::string_view(step.title).substr(prefix.size());
    if (std::from_chars(count.data(), count.data() + count.size(), scratchpad.candidates).ec != std::errc())
        return std::nullopt;
    scratchpad.text = step.body;
    return scratchpad;
}

std::vector<ScratchpadVersion> scratchpadVersions(std::span<const AgentStep> steps)
{
    std::vector<ScratchpadVersion> versions;
    for (const AgentStep& step : steps)
        if (auto notes = scratchpadOf(step))
            versions.push_back({static_cast<int>(versions.size()) + 1, step.time_ms, std::move(*notes)});
    return versions;
}

const char* writerOf(const Scratchpad& scratchpad)
{
    return scratchpad.by_person ? "a person" : "a model";
}

}  // namespace cuco
