// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/population/search_phase.h"

#include "core/base/json.h"
#include "core/population/setting_checks.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <array>

namespace cuco {

namespace {

Result<void> validateMix(const PhaseMix& mix, std::string_view name)
{
    const std::string prefix = fmt::format("search_phase.{}", name);
    for (auto checked :
         {realInRange(prefix + ".diff", mix.diff, 0, 1e6), realInRange(prefix + ".full", mix.full, 0, 1e6),
          realInRange(prefix + ".crossover", mix.crossover, 0, 1e6)})
        if (!checked)
            return checked;
    if (mix.diff + mix.full <= 0)
        return failure(fmt::format("The settings {}.diff and .full are both 0", prefix), {},
                       "Choose one above 0: a crossover is not always possible.");
    if (mix.temperatures.empty() || mix.temperatures.size() > 100)
        return failure(fmt::format("The setting {}.temperatures has {} numbers", prefix, mix.temperatures.size()), {},
                       "Give from 1 to 100 temperatures.");
    for (const double temperature : mix.temperatures)
        if (auto valid = realInRange(prefix + ".temperatures", temperature, 0, 2); !valid)
            return valid;
    return {};
}

nlohmann::json mixToJson(const PhaseMix& mix)
{
    return {{"diff", mix.diff}, {"full", mix.full}, {"crossover", mix.crossover}, {"temperatures", mix.temperatures}};
}

Result<void> readMix(const nlohmann::json& json, const std::string& where, std::string prefix, PhaseMix& mix)
{
    JsonReader reader(json, where, std::move(prefix));
    reader.optional("diff", mix.diff)
        .optional("full", mix.full)
        .optional("crossover", mix.crossover)
        .optional("temperatures", mix.temperatures);
    return reader.finish();
}

}  // namespace

std::string_view toString(SearchPhase phase)
{
    return phase == SearchPhase::explore ? "explore" : "exploit";
}

Result<void> validate(const SearchPhaseSettings& settings)
{
    if (auto valid = realInRange("search_phase.explore_share", settings.explore_share, 0, 1); !valid)
        return valid;
    if (auto valid = validateMix(settings.explore, "explore"); !valid)
        return valid;
    return validateMix(settings.exploit, "exploit");
}

nlohmann::json toJson(const SearchPhaseSettings& settings)
{
    return {{"explore_share", settings.explore_share},
            {"explore", mixToJson(settings.explore)},
            {"exploit", mixToJson(settings.exploit)}};
}

Result<SearchPhaseSettings> searchPhaseSettingsFromJson(const nlohmann::json& json, const std::string& where)
{
    SearchPhaseSettings settings;
    JsonReader reader(json, where, "search_phase");
    reader.optional("explore_share", settings.explore_share);
    for (auto [name, mix] : {std::pair{"explore", &settings.explore}, std::pair{"exploit", &settings.exploit}}) {
        if (!reader.present(name))
            continue;
        const nlohmann::json* object = reader.object(name);
        if (!object)
            break;
        if (auto done = readMix(*object, where, reader.path(name), *mix); !done)
            return std::unexpected(done.error());
    }
    if (auto done = reader.finish(); !done)
        return std::unexpected(done.error());
    return settings;
}

SearchPhase phaseAt(int done, int total, const SearchPhaseSettings& settings)
{
    return done < settings.explore_share * total ? SearchPhase::explore : SearchPhase::exploit;
}

ProposalMove drawMove(SearchPhase phase, bool crossover_possible, const SearchPhaseSettings& settings,
                      ProposalRandom& random)
{
    constexpr std::array kinds{PatchKind::diff, PatchKind::full, PatchKind::crossover};
    const PhaseMix& mix = settings.mix(phase);
    const std::array weights{mix.diff, mix.full, crossover_possible ? mix.crossover : 0};
    const std::size_t kind = random.weighted(weights);
    return {kinds.at(kind), mix.temperatures[random.index(mix.temperatures.size())]};
}

}  // namespace cuco
