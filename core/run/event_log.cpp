// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/run/event_log.h"

#include "core/base/files.h"
#include "core/run/run_file.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <charconv>
#include <iterator>
#include <map>

namespace cuco {

namespace {

/// Candidates' ids are "c" and a number; what belongs to none comes first.
int numberIn(const std::string& candidate_id)
{
    int number = -1;
    if (candidate_id.starts_with('c'))
        std::from_chars(candidate_id.data() + 1, candidate_id.data() + candidate_id.size(), number);
    return number;
}

nlohmann::json eventOf(const AgentStep& step, const std::map<int, std::string>& titles)
{
    const auto parent = titles.find(step.parent);
    return {
        {"event", "step"},     {"candidate", step.candidate_id},
        {"agent", step.agent}, {"title", step.title},
        {"body", step.body},   {"under", parent == titles.end() ? nlohmann::json() : nlohmann::json(parent->second)}};
}

nlohmann::json eventOf(const StoredAnswer& stored)
{
    const LlmCallSummary& call = stored.call;
    return {{"event", "call"},
            {"candidate", call.candidate_id},
            {"agent", call.agent},
            {"model", call.model},
            {"request_sha256", stored.request_sha256},
            {"answer_sha256", sha256Hex(stored.answer)},
            {"stop_reason", toString(call.stop_reason)},
            {"input_tokens", call.usage.input},
            {"output_tokens", call.usage.output},
            {"error", call.error}};
}

nlohmann::json eventOf(const Candidate& candidate)
{
    nlohmann::json event = toJson(candidate);
    event["event"] = "candidate";
    event["candidate"] = candidate.id;
    return event;
}

}  // namespace

Result<std::vector<nlohmann::json>> eventLog(RunFile& file)
{
    const auto snapshot = file.snapshot();
    if (!snapshot)
        return std::unexpected(snapshot.error());
    const auto steps = file.steps();
    if (!steps)
        return std::unexpected(steps.error());
    std::map<int, std::string> titles;
    for (const AgentStep& step : *steps)
        titles.emplace(step.id, step.title);

    std::map<int, std::vector<nlohmann::json>> calls;   // by step
    std::map<int, std::vector<nlohmann::json>> events;  // by the candidates' numbers
    auto read = file.visitLlmAnswers([&](const StoredAnswer& stored) {
        if (titles.contains(stored.call.step))
            calls[stored.call.step].push_back(eventOf(stored));
        else
            events[numberIn(stored.call.candidate_id)].push_back(eventOf(stored));
    });
    if (!read)
        return std::unexpected(read.error());
    for (const AgentStep& step : *steps) {
        auto& of_candidate = events[numberIn(step.candidate_id)];
        of_candidate.push_back(eventOf(step, titles));
        if (const auto made = calls.extract(step.id))
            std::ranges::move(made.mapped(), std::back_inserter(of_candidate));
    }
    for (const Candidate& candidate : snapshot->candidates)
        events[candidate.number].push_back(eventOf(candidate));

    std::vector<nlohmann::json> log;
    for (auto& [number, of_candidate] : events)
        std::ranges::move(of_candidate, std::back_inserter(log));
    return log;
}

}  // namespace cuco
