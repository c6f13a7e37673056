// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/agents/slow_path_settings.h"

#include "core/base/json.h"
#include "core/population/setting_checks.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <utility>

namespace cuco {

namespace {

constexpr std::array<std::string_view, 4> backends{"host", "lsa", "gin", "lsa+gin"};
constexpr std::size_t most_models = 32;
constexpr std::size_t most_prompt_bytes = 16u << 10;

Result<void> validate(const IslandPlan& island, std::size_t number)
{
    const std::string name = fmt::format("slow_path.islands[{}]", number);
    if (!island.backend.empty() && std::ranges::find(backends, island.backend) == backends.end())
        return failure(fmt::format("The setting {}.backend is \"{}\"", name, island.backend), {},
                       "Choose host, lsa, gin or lsa+gin, or leave it out.");
    if (island.prompt.size() > most_prompt_bytes)
        return failure(fmt::format("The setting {}.prompt has {} bytes", name, island.prompt.size()), {},
                       fmt::format("Give at most {}.", most_prompt_bytes));
    return {};
}

/// Reads one of the settings' own objects, which has a reader of its own.
template <class Settings, class Read>
Result<void> readPart(JsonReader& reader, const std::string& where, std::string_view name, Settings& settings,
                      Read read)
{
    if (!reader.present(name))
        return {};
    const nlohmann::json* object = reader.object(name);
    if (!object)
        return reader.finish();
    auto made = read(*object, where);
    if (!made)
        return std::unexpected(made.error());
    settings = std::move(*made);
    return {};
}

Result<std::vector<IslandPlan>> readIslands(const nlohmann::json& array, const std::string& where)
{
    std::vector<IslandPlan> islands;
    for (const auto& element : array) {
        IslandPlan island;
        JsonReader reader(element, where, fmt::format("islands[{}]", islands.size()));
        reader.optional("backend", island.backend)
            .optional("strategy", island.strategy)
            .optional("prompt", island.prompt);
        if (auto done = reader.finish(); !done)
            return std::unexpected(done.error());
        islands.push_back(std::move(island));
    }
    return islands;
}

}  // namespace

Result<void> validate(const SlowPathSettings& settings, int islands)
{
    for (auto checked : {validate(settings.phases), validate(settings.archive), validate(settings.novelty),
                         validate(settings.migration), validate(settings.bandit),
                         wholeInRange("slow_path.archive_inspirations", settings.archive_inspirations, 0, 20),
                         wholeInRange("slow_path.top_inspirations", settings.top_inspirations, 0, 20),
                         wholeInRange("slow_path.crossover_parents", settings.crossover_parents, 2, 5),
                         wholeInRange("slow_path.told_failures", settings.told_failures, 0, 20),
                         wholeInRange("slow_path.told_rejections", settings.told_rejections, 0, 50),
                         wholeInRange("slow_path.raced_choices", settings.raced_choices, 0, 256),
                         wholeInRange("slow_path.summary_interval", settings.summary_interval, 0, 10'000),
                         wholeInRange("slow_path.answers_a_proposal", settings.answers_a_proposal, 1, 20),
                         wholeInRange("slow_path.substitutes_in_a_row", settings.substitutes_in_a_row, 1, 1000),
                         wholeInRange("slow_path.proposal_tokens", settings.proposal_tokens, 256, 1 << 20),
                         wholeInRange("slow_path.summary_tokens", settings.summary_tokens, 256, 1 << 20)})
        if (!checked)
            return checked;
    if (settings.archive_inspirations > settings.archive.capacity)
        return failure(fmt::format("{} inspirations are to come from an archive of {}", settings.archive_inspirations,
                                   settings.archive.capacity),
                       {}, "Make slow_path.archive.capacity larger or slow_path.archive_inspirations smaller.");
    if (settings.further_models.size() > most_models)
        return failure(fmt::format("{} models are named", settings.further_models.size()), {},
                       fmt::format("Name at most {}.", most_models));
    if (std::ranges::any_of(settings.further_models, &std::string::empty))
        return failure("One of slow_path.further_models has no name", {}, "Name it, or leave it out.");
    if (std::cmp_greater(settings.islands.size(), islands))
        return failure(fmt::format("{} islands are described, but the run has {}", settings.islands.size(), islands),
                       {}, "Give the run as many islands, or describe fewer.");
    for (std::size_t i = 0; i < settings.islands.size(); ++i)
        if (auto valid = validate(settings.islands[i], i); !valid)
            return valid;
    return {};
}

nlohmann::json toJson(const SlowPathSettings& settings)
{
    nlohmann::json islands = nlohmann::json::array();
    for (const IslandPlan& island : settings.islands)
        islands.push_back({{"backend", island.backend}, {"strategy", island.strategy}, {"prompt", island.prompt}});
    return {{"phases", toJson(settings.phases)},
            {"archive", toJson(settings.archive)},
            {"novelty", toJson(settings.novelty)},
            {"migration", toJson(settings.migration)},
            {"bandit", toJson(settings.bandit)},
            {"archive_inspirations", settings.archive_inspirations},
            {"top_inspirations", settings.top_inspirations},
            {"crossover_parents", settings.crossover_parents},
            {"told_failures", settings.told_failures},
            {"told_rejections", settings.told_rejections},
            {"raced_choices", settings.raced_choices},
            {"summary_interval", settings.summary_interval},
            {"answers_a_proposal", settings.answers_a_proposal},
            {"substitutes_in_a_row", settings.substitutes_in_a_row},
            {"proposal_tokens", settings.proposal_tokens},
            {"summary_tokens", settings.summary_tokens},
            {"further_models", settings.further_models},
            {"summary_model", settings.summary_model},
            {"islands", std::move(islands)}};
}

Result<SlowPathSettings> slowPathSettingsFromJson(const nlohmann::json& json, const std::string& where)
{
    SlowPathSettings settings;
    JsonReader reader(json, where);
    for (auto part : {readPart(reader, where, "phases", settings.phases, searchPhaseSettingsFromJson),
                      readPart(reader, where, "archive", settings.archive, archiveSettingsFromJson),
                      readPart(reader, where, "novelty", settings.novelty, noveltySettingsFromJson),
                      readPart(reader, where, "migration", settings.migration, migrationSettingsFromJson),
                      readPart(reader, where, "bandit", settings.bandit, modelBanditSettingsFromJson)})
        if (!part)
            return std::unexpected(part.error());
    reader.optional("archive_inspirations", settings.archive_inspirations)
        .optional("top_inspirations", settings.top_inspirations)
        .optional("crossover_parents", settings.crossover_parents)
        .optional("told_failures", settings.told_failures)
        .optional("told_rejections", settings.told_rejections)
        .optional("raced_choices", settings.raced_choices)
        .optional("summary_interval", settings.summary_interval)
        .optional("answers_a_proposal", settings.answers_a_proposal)
        .optional("substitutes_in_a_row", settings.substitutes_in_a_row)
        .optional("proposal_tokens", settings.proposal_tokens)
        .optional("summary_tokens", settings.summary_tokens)
        .optional("further_models", settings.further_models)
        .optional("summary_model", settings.summary_model);
    if (reader.present("islands")) {
        if (const nlohmann::json* array = reader.array("islands")) {
            auto islands = readIslands(*array, where);
            if (!islands)
                return std::unexpected(islands.error());
            settings.islands = std::move(*islands);
        }
    }
    if (auto done = reader.finish(); !done)
        return std::unexpected(done.error());
    return settings;
}

}  // namespace cuco
