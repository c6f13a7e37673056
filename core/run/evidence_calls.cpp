// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/run/evidence_calls.h"

#include "core/agents/prompt.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <unordered_map>

namespace cuco {

namespace {

constexpr std::size_t most_quoted_bytes = 64u << 20;

/// A line of ours with a word of somebody else's in it.
std::string asCode(const std::string& text)
{
    std::string out = validUtf8(text);
    std::erase_if(out, [](char c) { return c == '`' || (c >= 0 && c < 0x20); });
    return out.empty() ? "–" : "`" + out + "`";
}

std::string callText(int id, const LlmCall& call)
{
    const ChatResponse& answer = answerOf(call.result);
    std::string text =
        fmt::format("# Call {} of agent {} for candidate {}\n\n", id, asCode(call.agent), asCode(call.candidate_id));
    text += fmt::format("Provider {}, model {}, answered by {}. ", asCode(call.provider), asCode(call.request.model),
                        asCode(answer.model));
    text += fmt::format("{} tokens in, {} out; cost {}; ended: {}.\n", answer.usage.input, answer.usage.output,
                        call.cost_usd ? fmt::format("${:.4f} ({})", *call.cost_usd, call.cost_source) : "not known",
                        toString(answer.stop_reason));
    if (!call.result)
        text += "\nIt failed: " + asCode(call.result.error().error.what) + "\n";
    if (!call.request.system.empty())
        text += "\n## System\n\n" + fenced(call.request.system, "text", most_quoted_bytes) + "\n";
    for (const ChatMessage& message : call.request.messages)
        text += fmt::format("\n## {}\n\n{}\n", message.role == ChatRole::user ? "Prompt" : "Earlier answer",
                            fenced(message.text, "text", most_quoted_bytes));
    text += "\n## Answer\n\n" + fenced(answer.text, "text", most_quoted_bytes) + "\n";
    return text;
}

}  // namespace

std::set<std::string> withAncestors(const RunSnapshot& snapshot, const std::string& candidate_id)
{
    std::unordered_map<std::string_view, const Candidate*> by_id;
    for (const Candidate& candidate : snapshot.candidates)
        by_id[candidate.id] = &candidate;
    std::set<std::string> found;
    std::vector<std::string> to_visit{candidate_id};
    while (!to_visit.empty()) {
        const std::string id = std::move(to_visit.back());
        to_visit.pop_back();
        const auto known = by_id.find(id);
        if (known == by_id.end() || !found.insert(id).second)
            continue;
        to_visit.insert(to_visit.end(), known->second->parents.begin(), known->second->parents.end());
    }
    return found;
}

Result<std::vector<FolderFile>> traceFiles(RunFile& file, const std::set<std::string>& candidates)
{
    std::vector<FolderFile> files;
    const auto steps = file.steps();
    if (!steps)
        return std::unexpected(steps.error());
    std::string text;
    for (const AgentStep& step : *steps)
        if (candidates.contains(step.candidate_id))
            text += fmt::format("\n## {}, {}: {}\n\n{}\n", asCode(step.candidate_id), asCode(step.agent),
                                asCode(step.title), fenced(step.body, "text", most_quoted_bytes));
    if (!text.empty())
        files.push_back({"steps.md", "# What the agents decided, and why\n" + text});
    const auto calls = file.llmCalls();
    if (!calls)
        return std::unexpected(calls.error());
    for (const LlmCallSummary& summary : *calls) {
        if (!candidates.contains(summary.candidate_id))
            continue;
        const auto call = file.llmCall(summary.id);
        if (!call)
            return std::unexpected(call.error());
        files.push_back({fmt::format("llm/{}.md", summary.id), callText(summary.id, *call)});
        files.push_back({fmt::format("llm/{}.json", summary.id),
                         toJson(*call).dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n"});
    }
    return files;
}

}  // namespace cuco
