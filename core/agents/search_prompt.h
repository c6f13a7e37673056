// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/agents/prompt.h"
#include "core/agents/search_plan.h"
#include "core/agents/source_cache.h"
#include "core/nodes/node.h"
#include "core/workload/workload.h"

namespace cuco {

/// What a proposal's prompt is made of.
struct SearchPromptParts {
    const Workload* workload = nullptr;
    std::string facts;                ///< workloadFacts()
    const NodeProbe* node = nullptr;  ///< may be null
    const IslandPlan* island = nullptr;
    std::string scratchpad, archive;
    const SearchPlan* plan = nullptr;
    std::string parent_source;
    std::function<Result<SourceCache::Pointer>(const std::string& id)> source_of;
};
Result<std::string> searchPrompt(const PromptLibrary& prompts, const SearchPromptParts& parts);

/// "c12 verified, 1.234× (modelled)", "c12: wrong_result: …".
std::string outcomeLine(const Candidate& candidate);

}  // namespace cuco
