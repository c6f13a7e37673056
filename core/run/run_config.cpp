// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/run/run_config.h"

#include "core/base/json.h"
#include "core/population/setting_checks.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>

namespace cuco {

namespace {

constexpr int most_generations = 10'000;
constexpr int most_islands = 64;
constexpr int most_children = 64;
constexpr int most_ranks = 1024;
constexpr int most_workers = 256;

}  // namespace

nlohmann::json toJson(const RunConfig& config)
{
    nlohmann::json json = {
        {"workload", config.workload},
        {"workload_folder", config.workload_folder},
        {"node", config.node},
        {"proposer", config.proposer},
        {"seed_source", config.seed_source},
        {"ranks", config.ranks},
        {"generations", config.generations},
        {"islands", config.islands},
        {"children", config.children},
        {"seed", config.seed},
        {"compile_workers", config.compile_workers},
        {"proposals_in_flight", config.proposals_in_flight},
        {"budget_usd", config.budget_usd},
        {"check_races", config.check_races},
        {"parent_selection", toJson(config.parent_selection)},
    };
    if (!config.provider.provider.empty())
        json["provider"] = toJson(config.provider);
    if (config.proposer == "fastpath")
        json["fast_path"] = toJson(config.fast_path);
    if (config.proposer == "llm")
        json["slow_path"] = toJson(config.slow_path);
    return json;
}

Result<RunConfig> runConfigFromJson(const nlohmann::json& json)
{
    RunConfig config;
    JsonReader reader(json, "the run's configuration");
    reader.required("workload", config.workload)
        .optional("workload_folder", config.workload_folder)
        .optional("node", config.node)
        .optional("proposer", config.proposer)
        .optional("seed_source", config.seed_source)
        .optional("ranks", config.ranks)
        .optional("generations", config.generations)
        .optional("islands", config.islands)
        .optional("children", config.children)
        .optional("seed", config.seed)
        .optional("compile_workers", config.compile_workers)
        .optional("proposals_in_flight", config.proposals_in_flight)
        .optional("budget_usd", config.budget_usd)
        .optional("check_races", config.check_races);
    if (reader.present("parent_selection")) {
        if (const nlohmann::json* selection = reader.object("parent_selection")) {
            auto settings = parentSelectionSettingsFromJson(*selection, "the run's configuration, parent_selection");
            if (!settings)
                return std::unexpected(settings.error());
            config.parent_selection = std::move(*settings);
        }
    }
    if (reader.present("provider")) {
        if (const nlohmann::json* provider = reader.object("provider")) {
            auto settings = providerSettingsFromJson(*provider, "the run's configuration, provider");
            if (!settings)
                return std::unexpected(settings.error());
            config.provider = std::move(*settings);
        }
    }
    if (reader.present("fast_path")) {
        if (const nlohmann::json* fast_path = reader.object("fast_path")) {
            auto settings = fastPathSettingsFromJson(*fast_path, "the run's configuration, fast_path");
            if (!settings)
                return std::unexpected(settings.error());
            config.fast_path = std::move(*settings);
        }
    }
    if (reader.present("slow_path")) {
        if (const nlohmann::json* slow_path = reader.object("slow_path")) {
            auto settings = slowPathSettingsFromJson(*slow_path, "the run's configuration, slow_path");
            if (!settings)
                return std::unexpected(settings.error());
            config.slow_path = std::move(*settings);
        }
    }
    if (auto done = reader.finish(); !done)
        return std::unexpected(done.error());
    return config;
}

const std::vector<std::string>& proposerNames()
{
    static const std::vector<std::string> names{"tunable", "fastpath", "llm"};
    return names;
}

Result<void> validate(const RunConfig& config)
{
    if (config.workload.empty())
        return failure("No workload is named", {}, "Choose one of those that `cucoctl workloads` lists.");
    if (std::ranges::find(proposerNames(), config.proposer) == proposerNames().end())
        return failure(fmt::format("There is no proposer \"{}\"", config.proposer), {},
                       fmt::format("Choose one of: {}.", fmt::join(proposerNames(), ", ")));
    if (!config.provider.provider.empty())
        if (auto valid = validate(config.provider); !valid)
            return valid;
    if (config.proposer == "fastpath")
        if (auto valid = validate(config.fast_path); !valid)
            return valid;
    if (config.proposer == "llm") {
        if (config.provider.provider.empty())
            return failure("A search by models needs to know whom to ask", {},
                           "Choose a provider and a model, or the tunable proposer, which asks nobody.");
        if (auto valid = validate(config.slow_path, config.islands); !valid)
            return valid;
    }
    for (auto checked : {wholeInRange("generations", config.generations, 0, most_generations),
                         wholeInRange("islands", config.islands, 1, most_islands),
                         wholeInRange("children", config.children, 1, most_children),
                         wholeInRange("ranks", config.ranks, 0, most_ranks),
                         wholeInRange("compile_workers", config.compile_workers, 0, most_workers),
                         wholeInRange("proposals_in_flight", config.proposals_in_flight, 0, most_children)})
        if (!checked)
            return checked;
    if (!std::isfinite(config.budget_usd) || config.budget_usd < 0)
        return failure("The budget is no amount of money", {}, "Give a number of US dollars, 0 for no limit.");
    return validate(config.parent_selection);
}

}  // namespace cuco
