// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/agents/search_prompt.h"

#include "core/agents/feedback.h"
#include "core/agents/scratchpad.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace cuco {

namespace {

constexpr std::size_t most_source_bytes = 256u << 10;
constexpr std::size_t most_inspiration_bytes = 24u << 10;
constexpr std::size_t most_note_bytes = 32u << 10;
constexpr std::size_t most_reason_bytes = 1000;

std::string nodeText(const NodeProbe* node)
{
    if (!node)
        return {};
    std::string text = node->modelled ? "It runs on a node that models GPUs on a CPU: times are modelled.\n"
                       : node->gpus.empty()
                           ? std::string()
                           : fmt::format("It runs on {} × {}.\n", node->gpus.size(), node->gpus.front().name);
    return text + fmt::format("The node can do: {}.", fmt::join(node->capabilities, ", "));
}

std::string islandText(const IslandPlan& island)
{
    std::string text;
    if (!island.backend.empty())
        text = fmt::format("Every program of this part of the search has `backend={}`.\n", island.backend);
    if (!island.prompt.empty())
        text += "\nThe person who runs the search says:\n\n" + fenced(island.prompt, "text", most_note_bytes);
    return text;
}

/// The evolve blocks alone: the rest is the same in all.
Result<std::string> evolveBlocks(const SearchPromptParts& parts, const std::string& id)
{
    const auto source = parts.source_of(id);
    if (!source)
        return std::unexpected(source.error());
    std::string blocks;
    for (std::size_t i = 0; i < (*source)->blocks().size(); ++i)
        blocks += (*source)->blockText(i);
    return blocks;
}

Result<std::string> programs(const SearchPromptParts& parts, const std::vector<SearchPlan::Pointer>& candidates,
                             std::size_t most_bytes)
{
    std::string text;
    for (const auto& candidate : candidates) {
        auto blocks = evolveBlocks(parts, candidate->id);
        if (!blocks)
            return blocks;
        text += fmt::format("\n## {}\n\n{}\n\n", outcomeLine(*candidate), fenced(candidate->summary, "text", 2000));
        text += fenced(*blocks, "cpp", most_bytes);
        text += '\n';
    }
    return text;
}

std::string rejections(const std::vector<SearchPlan::Pointer>& rejected)
{
    std::string text;
    for (const auto& candidate : rejected)
        text +=
            fmt::format("{} ({}): {}\n  what it did: {}\n", candidate->id, toString(candidate->directive),
                        candidate->decision_reason.empty() ? "no reason given"
                                                           : candidate->decision_reason.substr(0, most_reason_bytes),
                        candidate->summary);
    return text.empty()
               ? text
               : "# What a person rejected: do not go that way again\n\n" + fenced(text, "text", most_note_bytes);
}

std::string failures(const std::vector<SearchPlan::Pointer>& failed)
{
    std::string text;
    for (const auto& candidate : failed) {
        const Evaluation& evaluation = *candidate->evaluation;
        text += fmt::format("{} ({}), {}: {} at the stage {}. {}\n", candidate->id, toString(candidate->directive),
                            candidate->summary, toString(evaluation.verdict), toString(evaluation.stage),
                            evaluation.message.substr(0, most_reason_bytes));
    }
    return text.empty() ? text : "# What failed lately\n\n" + fenced(text, "text", most_note_bytes);
}

Result<std::string> task(const PromptLibrary& prompts, const SearchPlan& plan)
{
    if (plan.repair) {
        const Evaluation& evaluation = *plan.parent->evaluation;
        return prompts.render("slow_path_task_repair", {{"verdict", std::string(toString(evaluation.verdict))},
                                                        {"stage", std::string(toString(evaluation.stage))},
                                                        {"message", evaluation.message},
                                                        {"detail", failureDetail(evaluation)}});
    }
    const auto phase = prompts.render(fmt::format("slow_path_phase_{}", toString(plan.phase)), {});
    if (!phase)
        return phase;
    return prompts.render(fmt::format("slow_path_task_{}", toString(plan.move.kind)), {{"phase", *phase}});
}

}  // namespace

std::string outcomeLine(const Candidate& candidate)
{
    if (!candidate.evaluation)
        return fmt::format("{} is being evaluated", candidate.id);
    const Evaluation& evaluation = *candidate.evaluation;
    if (!evaluation.verified())
        return fmt::format("{}, `{}`: {}", candidate.id, toString(candidate.directive), toString(evaluation.verdict));
    const auto speedup = evaluation.speedup();
    return fmt::format("{}, `{}`: verified{}{}", candidate.id, toString(candidate.directive),
                       speedup ? fmt::format(", speed-up {:.3f}", *speedup) : "",
                       speedup && evaluation.modelled ? " (modelled)" : "");
}

Result<std::string> searchPrompt(const PromptLibrary& prompts, const SearchPromptParts& parts)
{
    const SearchPlan& plan = *parts.plan;
    const Candidate& parent = *plan.parent;
    auto inspirations = programs(parts, plan.inspirations, most_inspiration_bytes);
    if (!inspirations)
        return inspirations;
    auto partners = programs(parts, plan.partners, most_source_bytes);
    if (!partners)
        return partners;
    auto asked = task(prompts, plan);
    if (!asked)
        return asked;
    PromptValues values;
    values["workload"] = parts.workload->name;
    values["workload_summary"] = parts.workload->summary;
    values["workload_facts"] = parts.facts;
    values["node"] = nodeText(parts.node);
    values["island"] = islandText(*parts.island);
    values["scratchpad"] = parts.scratchpad.empty() ? ""
                                                    : "# Notes of the search so far\n\n" +
                                                          fenced(parts.scratchpad, "markdown", most_scratchpad_bytes);
    values["archive"] = "# The best of each kind of directive\n\n" + parts.archive;
    if (!inspirations->empty())
        inspirations->insert(0, "# Other programs of the search, to learn from\n");
    values["inspirations"] = std::move(*inspirations);
    values["rejections"] = rejections(plan.rejected);
    values["failures"] = failures(plan.failures);
    values["parent"] = parent.id;
    values["directive"] = toString(parent.directive);
    values["performance"] = parent.evaluation ? performanceDetail(*parent.evaluation) : "";
    values["source"] = fenced(parts.parent_source, "cpp", most_source_bytes);
    if (!partners->empty())
        partners->insert(0, "# The programs to cross it with\n");
    values["partners"] = std::move(*partners);
    values["task"] = *asked;
    return prompts.render("slow_path_proposal", values);
}

}  // namespace cuco
