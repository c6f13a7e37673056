// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/agents/proposer.h"

#include <span>

namespace cuco {

/// What a search has learned, as text for the prompts of its next proposals. Each version is a step of the trace, so
/// that a run file keeps all of them.
struct Scratchpad {
    int candidates = 0;  ///< it is of the first so many; of a person's version, how many there were
    bool by_person = false;
    std::string text;  ///< Markdown
};

inline constexpr const char* summarizer_agent = "meta-summarizer";

/// What a person may write, and what prompts show of it.
inline constexpr std::size_t most_scratchpad_bytes = 32u << 10;

AgentStep toStep(const Scratchpad& scratchpad);
/// Nothing for steps that are something else.
std::optional<Scratchpad> scratchpadOf(const AgentStep& step);

struct ScratchpadVersion {
    int number = 0;            ///< from 1
    std::int64_t time_ms = 0;  ///< Unix time
    Scratchpad notes;
};

/// In the order in which they were written; steps that are something else are passed over.
std::vector<ScratchpadVersion> scratchpadVersions(std::span<const AgentStep> steps);
/// "a person", "a model".
const char* writerOf(const Scratchpad& scratchpad);

}  // namespace cuco
