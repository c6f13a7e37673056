// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/fast_path/fast_path_outline.h"

#include <algorithm>
#include <regex>
#include <string>

namespace cuco::ui {

FastPathOutline outlineOf(const RunSnapshot& snapshot)
{
    const FastPathSettings& settings = snapshot.config.fast_path;
    FastPathOutline outline;
    outline.stages = {
        {{FastPathStage::infrastructure, settings.infrastructure_attempts, 0, {}, {}},
         {FastPathStage::replacement, settings.replacement_attempts, 0, {}, {}},
         {FastPathStage::annotation, settings.annotation_attempts, 0, {}, {}}},
    };
    std::vector<const Candidate*> last(outline.stages.size());
    for (const Candidate& candidate : snapshot.candidates) {
        const auto stage = std::ranges::find_if(
            outline.stages, [&](const StageOutline& known) { return toString(known.stage) == candidate.strategy; });
        if (stage == outline.stages.end()) {
            outline.others.push_back(candidate.id);
            continue;
        }
        stage->attempts.push_back(candidate.id);
        if (candidate.decision != DecisionKind::rejected) {
            ++stage->made;
            last[static_cast<std::size_t>(stage - outline.stages.begin())] = &candidate;
        }
    }
    for (std::size_t i = 0; i + 1 < outline.stages.size(); ++i) {
        if (last[i] && last[i + 1]) {
            outline.stages[i].accepted = last[i]->id;
        }
    }
    const Candidate* annotated = last.back();
    if (annotated && annotated->evaluation && annotated->evaluation->verified()) {
        outline.stages.back().accepted = annotated->id;
    }
    return outline;
}

std::vector<std::string> attemptsAfter(const RunSnapshot& snapshot, const std::string& id)
{
    std::vector<std::string> later;
    const auto from = std::ranges::find(snapshot.candidates, id, &Candidate::id);
    if (from != snapshot.candidates.end()) {
        for (auto candidate = from + 1; candidate != snapshot.candidates.end(); ++candidate) {
            if (candidate->decision != DecisionKind::rejected) {
                later.push_back(candidate->id);
            }
        }
    }
    return later;
}

std::string continuingReason(const std::string& id, std::size_t rejected)
{
    return "continued from " + id + ", without the " + std::to_string(rejected) + " after it";
}

LastAct lastActOf(const std::vector<Decision>& decisions)
{
    static const std::regex continuing("continued from (c[0-9]+), without the ([0-9]{1,6}) after it");
    LastAct act;
    std::size_t size = 1;
    for (auto decision = decisions.rbegin(); decision != decisions.rend() && act.decisions.size() < size; ++decision) {
        if (decision->undone) {
            continue;
        }
        if (!act.decisions.empty() && decision->reason != act.decisions.front().reason) {
            break;
        }
        act.decisions.push_back(*decision);
        std::smatch parts;
        if (decision->kind == DecisionKind::rejected && std::regex_match(decision->reason, parts, continuing)) {
            act.continued_from = parts[1];
            size = std::stoul(parts[2]);
        }
    }
    return act;
}

}  // namespace cuco::ui
