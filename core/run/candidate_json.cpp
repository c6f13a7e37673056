// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/run/candidate_json.h"

#include "core/base/json.h"
#include "core/run/run_snapshot.h"

#include <nlohmann/json.hpp>

namespace cuco {

namespace {

nlohmann::json orNull(const std::optional<double>& value)
{
    return value ? nlohmann::json(*value) : nlohmann::json(nullptr);
}

}  // namespace

nlohmann::json toJson(const Directive& directive)
{
    return {{"backend", directive.backend},
            {"placement", directive.placement},
            {"sync", directive.sync},
            {"issuer", directive.issuer},
            {"chunk", directive.chunk_bytes}};
}

Result<Directive> directiveFromJson(const nlohmann::json& json)
{
    Directive directive;
    JsonReader reader(json, "directive");
    reader.required("backend", directive.backend)
        .required("placement", directive.placement)
        .required("sync", directive.sync)
        .required("issuer", directive.issuer)
        .required("chunk", directive.chunk_bytes);
    if (auto done = reader.finish(); !done)
        return std::unexpected(done.error());
    return directive;
}

Result<TunableValues> tunablesFromJson(const nlohmann::json& json)
{
    if (!json.is_object())
        return failure("The tunables are no JSON object");
    TunableValues values;
    for (const auto& [name, value] : json.items()) {
        if (!value.is_number_integer())
            return failure("The tunable \"" + name + "\" is no integer");
        values[name] = value.get<std::int64_t>();
    }
    return values;
}

Result<std::vector<std::string>> parentsFromJson(const nlohmann::json& json)
{
    if (!json.is_array())
        return failure("The parents are no JSON array");
    std::vector<std::string> parents;
    for (const nlohmann::json& parent : json) {
        if (!parent.is_string())
            return failure("A parent is no string");
        parents.push_back(parent.get<std::string>());
    }
    return parents;
}

nlohmann::json toJson(const Candidate& candidate)
{
    nlohmann::json json{
        {"id", candidate.id},
        {"parent", candidate.parents.empty() ? nlohmann::json(nullptr) : nlohmann::json(candidate.parents.front())},
        {"parents", candidate.parents},
        {"island", candidate.island},
        {"generation", candidate.generation},
        {"proposer", candidate.proposer},
        {"strategy", candidate.strategy},
        {"summary", candidate.summary},
        {"state", toString(candidate.state)},
        {"verdict", nullptr},
        {"stage", nullptr},
        {"message", nullptr},
        {"speedup", nullptr},
        {"ci_low", nullptr},
        {"ci_high", nullptr},
        {"time_us", nullptr},
        {"bound_us", nullptr},
        {"directive", toJson(candidate.directive)},
        {"tunables", candidate.tunables},
        {"source_sha256", candidate.source_sha256},
        {"proposed_sha256", candidate.proposed_sha256.empty() ? candidate.source_sha256 : candidate.proposed_sha256},
        {"decision", candidate.decision ? nlohmann::json(toString(*candidate.decision)) : nlohmann::json(nullptr)},
        {"decision_reason", candidate.decision_reason},
        {"cost_usd", candidate.cost_usd},
    };
    if (const auto& evaluation = candidate.evaluation) {
        json["verdict"] = toString(evaluation->verdict);
        json["stage"] = toString(evaluation->stage);
        json["message"] = evaluation->message;
        json["speedup"] = orNull(evaluation->speedup());
        json["ci_low"] = orNull(evaluation->ciLow());
        json["ci_high"] = orNull(evaluation->ciHigh());
        json["time_us"] = orNull(evaluation->timeUs());
        json["bound_us"] = orNull(evaluation->boundUs());
    }
    return json;
}

}  // namespace cuco
