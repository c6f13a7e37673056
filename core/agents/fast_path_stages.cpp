// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/agents/fast_path_stages.h"

#include <algorithm>
#include <optional>

namespace cuco {

namespace {

constexpr std::string_view judging = "Judge ";

std::optional<FastPathStage> stageOf(std::string_view strategy)
{
    for (const auto stage : {FastPathStage::infrastructure, FastPathStage::replacement, FastPathStage::annotation})
        if (strategy == toString(stage))
            return stage;
    return std::nullopt;
}

}  // namespace

std::string_view toString(FastPathStage stage)
{
    switch (stage) {
        case FastPathStage::infrastructure:
            return "infrastructure";
        case FastPathStage::replacement:
            return "replacement";
        case FastPathStage::annotation:
            break;
    }
    return "annotation";
}

std::string_view stageTitle(FastPathStage stage)
{
    switch (stage) {
        case FastPathStage::infrastructure:
            return "Stage A, infrastructure";
        case FastPathStage::replacement:
            return "Stage B, replacement";
        case FastPathStage::annotation:
            break;
    }
    return "Annotation";
}

std::string judgingTitle(const std::string& attempt)
{
    return std::string(judging) + attempt;
}

std::string judgedAttempt(const AgentStep& step)
{
    return step.agent == judge_agent && step.title.starts_with(judging) ? step.title.substr(judging.size())
                                                                        : std::string();
}

FastPathPosition fastPathPosition(const std::vector<std::shared_ptr<const Candidate>>& candidates)
{
    FastPathPosition at;
    for (const auto& candidate : candidates) {
        const auto stage = stageOf(candidate->strategy);
        if (!stage || candidate->decision == DecisionKind::rejected)
            continue;
        if (*stage != at.stage) {
            at.base = at.last ? at.last->id : "";
            at.stage = *stage;
            at.attempts = 0;
        }
        ++at.attempts;
        at.last = candidate;
    }
    return at;
}

const Candidate* fastPathResult(const std::vector<const Candidate*>& candidates)
{
    const Candidate* first_annotated =
        nullptr;  // its attempts descend from each other, the first from what was annotated
    for (const Candidate* candidate : candidates) {
        if (candidate->strategy == own_seed_strategy && candidate->evaluation && candidate->evaluation->verified())
            return candidate;
        if (candidate->decision == DecisionKind::rejected || candidate->strategy != toString(FastPathStage::annotation))
            continue;
        if (!first_annotated)
            first_annotated = candidate;
        if (candidate->evaluation && candidate->evaluation->verified())
            return candidate;
    }
    if (!first_annotated || first_annotated->parents.empty())
        return nullptr;
    const auto found = std::ranges::find(candidates, first_annotated->parents.front(), &Candidate::id);
    return found == candidates.end() ? nullptr : *found;
}

}  // namespace cuco
