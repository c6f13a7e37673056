// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/agents/model_session.h"
#include "core/agents/prompt.h"
#include "core/agents/scratchpad.h"
#include "core/agents/slow_path_settings.h"

#include <span>

namespace cuco {

inline constexpr int most_recommendations = 5;

/// An answer of the form that meta_summary_system.md asks for.
struct MetaSummary {
    std::string summaries;   ///< a line a candidate
    std::string scratchpad;  ///< findings and recommendations, of which there are at most most_recommendations
};
/// Nothing when it has no findings.
std::optional<MetaSummary> readMetaSummary(std::string_view answer);

/// What the scratchpad of the first so many candidates is to be made of.
struct SummaryTask {
    int candidates = 0;
    int notes_of = 0;  ///< the scratchpad of the first so many is brought up to date
    std::vector<std::shared_ptr<const Candidate>> records;  ///< those since
};

/// Asks for a new version and stores it in the trace. An answer that cannot be read leaves the notes as they were,
/// which is stored too, so that it is not asked for again. What a person wrote meanwhile is kept.
Result<std::expected<void, NoProposal>> updateScratchpad(const SummaryTask& task, const ScratchpadSource& scratchpads,
                                                         ModelSession& session, const AgentModels& models,
                                                         const PromptLibrary& prompts,
                                                         const SlowPathSettings& settings);

/// None where there is no source.
Scratchpads versionsOf(const ScratchpadSource& scratchpads);

/// The version for who reads summaries of at most so many candidates: a person's counts until the next summary is
/// stored. Summaries may be stored in another order than that of their candidates.
std::string scratchpadFor(std::span<const std::shared_ptr<const Scratchpad>> versions, int candidates);

}  // namespace cuco
