// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/agents/proposer.h"

namespace cuco {

/// What a search has learned, as text for the prompts of its next proposals. Each version is a step of the trace, so
/// that a run file keeps all of them.
struct Scratchpad {
    int candidates = 0;  ///< it is of the first so many; of a person's version, how many there were
    bool by_person = false;
    std::string text;  ///< Markdown
};

inline constexpr const char* summarizer_agent = "meta-summarizer";

AgentStep toStep(const Scratchpad& scratchpad);
/// Nothing for steps that are something else.
std::optional<Scratchpad> scratchpadOf(const AgentStep& step);

}  // namespace cuco
