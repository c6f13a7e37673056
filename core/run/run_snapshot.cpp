// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/run/run_snapshot.h"

#include "core/run/import_shinka.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <utility>

namespace cuco {

namespace {

constexpr std::array run_state_names{
    std::pair{RunState::created, std::string_view("created")},
    std::pair{RunState::running, std::string_view("running")},
    std::pair{RunState::paused, std::string_view("paused")},
    std::pair{RunState::stopped, std::string_view("stopped")},
    std::pair{RunState::finished, std::string_view("finished")},
    std::pair{RunState::failed, std::string_view("failed")},
};

nlohmann::json toJson(const Baseline& baseline)
{
    const auto orNull = [](const std::optional<double>& value) {
        return value ? nlohmann::json(*value) : nlohmann::json(nullptr);
    };
    return {{"name", baseline.name},
            {"verdict", toString(baseline.evaluation.verdict)},
            {"message", baseline.evaluation.message},
            {"time_us", orNull(baseline.evaluation.timeUs())},
            {"bound_us", orNull(baseline.evaluation.boundUs())}};
}

}  // namespace

std::string_view toString(RunState state)
{
    for (const auto& [known, name] : run_state_names)
        if (known == state)
            return name;
    return {};
}

std::optional<RunState> runStateFromString(std::string_view text)
{
    for (const auto& [state, name] : run_state_names)
        if (name == text)
            return state;
    return std::nullopt;
}

const Candidate* bestOf(const RunSnapshot& snapshot)
{
    const Candidate* best = nullptr;
    std::optional<double> best_fitness;
    for (const Candidate& candidate : snapshot.candidates) {
        const auto score = fitness(candidate);
        if (score && candidate.decision != DecisionKind::rejected && (!best_fitness || *score > *best_fitness)) {
            best = &candidate;
            best_fitness = score;
        }
    }
    return best;
}

bool selfReported(const RunSnapshot& snapshot)
{
    // No candidate has times before the baselines have.
    return isImported(snapshot.config) ||
           (!snapshot.baselines.empty() && snapshot.baselines.front().evaluation.self_reported);
}

const char* timesNote(bool modelled, bool self_reported)
{
    return modelled ? " (modelled)" : self_reported ? " (self-reported)" : "";
}

nlohmann::json toJson(const Decision& decision)
{
    nlohmann::json json{
        {"id", decision.id},         {"candidate", decision.candidate_id}, {"kind", toString(decision.kind)},
        {"reason", decision.reason}, {"time_ms", decision.time_ms},        {"undone", decision.undone},
        {"standing", nullptr},       {"finding", decision.finding}};
    if (decision.kind == DecisionKind::promoted)
        json["standing"] = toString(decision.standing);
    return json;
}

nlohmann::json toJson(const RunSnapshot& snapshot)
{
    nlohmann::json json{
        {"workload", snapshot.config.workload},
        {"node", snapshot.config.node},
        {"modelled", snapshot.modelled},
        {"self_reported", selfReported(snapshot)},
        {"imported", isImported(snapshot.config)},
        {"state", toString(snapshot.state)},
        {"message", snapshot.message},
        {"seed", snapshot.config.seed},
        {"proposals", snapshot.config.proposals()},
        {"baselines", nlohmann::json::array()},
        {"candidates", nlohmann::json::array()},
        {"decisions", nlohmann::json::array()},
    };
    const Candidate* best = bestOf(snapshot);
    json["best"] = best ? nlohmann::json(best->id) : nlohmann::json(nullptr);
    for (const Baseline& baseline : snapshot.baselines)
        json["baselines"].push_back(toJson(baseline));
    for (const Candidate& candidate : snapshot.candidates)
        json["candidates"].push_back(toJson(candidate));
    for (const Decision& decision : snapshot.decisions)
        json["decisions"].push_back(toJson(decision));
    return json;
}

}  // namespace cuco
