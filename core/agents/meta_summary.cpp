// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/agents/meta_summary.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace cuco {

namespace {

constexpr std::size_t most_written_bytes = 24u << 10;  ///< leaves a person room to add
constexpr std::size_t most_message_bytes = 400;

bool isHeading(std::string_view line, std::string_view name)
{
    while (line.starts_with('#'))
        line.remove_prefix(1);
    while (line.starts_with(' ') || line.starts_with('*'))
        line.remove_prefix(1);
    return line.starts_with(name);
}

std::string record(const Candidate& candidate)
{
    std::string text =
        fmt::format("{} (from {}, {}), {}: {}", candidate.id,
                    candidate.parents.empty() ? "nothing" : fmt::format("{}", fmt::join(candidate.parents, ", ")),
                    candidate.proposer, toString(candidate.directive), candidate.summary);
    for (const auto& [name, value] : candidate.tunables)
        text += fmt::format(" {}={}", name, value);
    const Evaluation& evaluation = *candidate.evaluation;
    text += fmt::format("\n  {} at the stage {}. {}", toString(evaluation.verdict), toString(evaluation.stage),
                        evaluation.message.substr(0, most_message_bytes));
    if (const auto speedup = evaluation.speedup())
        text += fmt::format("\n  speed-up {:.3f} ({:.3f}…{:.3f}) against the strongest baseline{}{}", *speedup,
                            evaluation.ciLow().value_or(*speedup), evaluation.ciHigh().value_or(*speedup),
                            evaluation.modelled ? ", modelled" : "", evaluation.withinNoise() ? ", within noise" : "");
    if (evaluation.overlap && evaluation.overlap->hidden_share)
        text += fmt::format("\n  {:.0f} % of its communication hidden, {:.1f} µs exposed",
                            100 * *evaluation.overlap->hidden_share, evaluation.overlap->exposed_us);
    if (candidate.decision)
        text += fmt::format("\n  {} by a person: {}", toString(*candidate.decision), candidate.decision_reason);
    return text + "\n";
}

}  // namespace

std::optional<MetaSummary> readMetaSummary(std::string_view answer)
{
    enum class Part { before, summaries, findings, recommendations } part = Part::before;
    MetaSummary summary;
    std::string findings, recommendations;
    int recommended = 0;
    while (!answer.empty()) {
        const std::string_view line = answer.substr(0, answer.find('\n'));
        answer.remove_prefix(std::min(answer.size(), line.size() + 1));
        if (isHeading(line, "Summaries"))
            part = Part::summaries;
        else if (isHeading(line, "Findings"))
            part = Part::findings;
        else if (isHeading(line, "Recommendations"))
            part = Part::recommendations;
        else if (part == Part::summaries)
            summary.summaries.append(line).append("\n");
        else if (part == Part::findings)
            findings.append(line).append("\n");
        else if (part == Part::recommendations) {
            recommended += !line.empty() && line[0] >= '0' && line[0] <= '9' ? 1 : 0;
            if (recommended <= most_recommendations)
                recommendations.append(line).append("\n");
        }
    }
    if (findings.find_first_not_of(" \t\r\n") == std::string::npos)
        return std::nullopt;
    summary.scratchpad = "## Findings\n" + findings;
    if (recommended > 0)
        summary.scratchpad += "## Recommendations\n" + recommendations;
    if (summary.scratchpad.size() > most_written_bytes)
        summary.scratchpad.resize(most_written_bytes);
    summary.scratchpad = validUtf8(summary.scratchpad);
    summary.summaries = validUtf8(summary.summaries);
    return summary;
}

Scratchpads versionsOf(const ScratchpadSource& scratchpads)
{
    return scratchpads ? scratchpads() : std::make_shared<ScratchpadVersions>();
}

std::string scratchpadFor(std::span<const std::shared_ptr<const Scratchpad>> versions, int candidates)
{
    const Scratchpad* read = nullptr;
    for (const auto& version : versions)
        if (version->by_person || (version->candidates <= candidates &&
                                   (!read || read->by_person || version->candidates >= read->candidates)))
            read = version.get();
    return read ? read->text : std::string();
}

Result<std::expected<void, NoProposal>> updateScratchpad(const SummaryTask& task, const ScratchpadSource& scratchpads,
                                                         ModelSession& session, const AgentModels& models,
                                                         const PromptLibrary& prompts, const SlowPathSettings& settings)
{
    using Updated = std::expected<void, NoProposal>;
    const auto before = versionsOf(scratchpads);
    const std::string notes = scratchpadFor(*before, task.notes_of);
    std::string records;
    for (const auto& candidate : task.records)
        records += record(*candidate);
    const auto system =
        prompts.render("meta_summary_system", {{"recommendations", std::to_string(most_recommendations)}});
    if (!system)
        return std::unexpected(system.error());
    auto user = prompts.render(
        "meta_summary",
        {{"scratchpad", notes.empty() ? "There are none yet." : fenced(notes, "markdown", most_scratchpad_bytes)},
         {"records", fenced(records, "text", std::size_t{256} << 10)}});
    if (!user)
        return std::unexpected(user.error());
    ChatRequest request;
    request.model = settings.summary_model.empty() ? models.model : settings.summary_model;
    request.system = *system;
    request.messages = {{ChatRole::user, std::move(*user)}};
    request.max_output_tokens = settings.summary_tokens;
    request.temperature = 0;
    const auto step =
        session.step(summarizer_agent, fmt::format("Sums up the first {} candidates", task.candidates), "");
    if (!step)
        return std::unexpected(step.error());
    const auto answer = session.ask(summarizer_agent, *step, request);
    if (!answer)
        return Updated(std::unexpected(answer.error()));
    const auto summary = readMetaSummary(answer->response.text);
    const auto read = summary ? session.step(summarizer_agent, "What each candidate tried", summary->summaries, *step)
                              : session.step(summarizer_agent, "The answer could not be read",
                                             "It has no findings, so the notes stay as they were.", *step);
    if (!read)
        return std::unexpected(read.error());
    std::string text = summary ? summary->scratchpad : notes;
    const auto now = versionsOf(scratchpads);
    for (std::size_t i = before->size(); i < now->size(); ++i)
        if (const Scratchpad& version = *(*now)[i]; version.by_person)
            text += "\n## Written by a person meanwhile\n" + version.text;
    const AgentStep version = toStep({task.candidates, false, text});
    if (const auto stored = session.step(version.agent, version.title, version.body, *step); !stored)
        return std::unexpected(stored.error());
    return Updated();
}

}  // namespace cuco
