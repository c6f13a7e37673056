// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/agents/fast_path_settings.h"

#include "core/base/json.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <cmath>

namespace cuco {

namespace {

Result<void> inRange(const char* setting, std::int64_t value, std::int64_t least, std::int64_t most)
{
    if (value >= least && value <= most)
        return {};
    return failure(fmt::format("The setting fast_path.{} is {}", setting, value), {},
                   fmt::format("Choose a number from {} to {}.", least, most));
}

}  // namespace

Result<void> validate(const FastPathSettings& settings)
{
    if (settings.backend != "lsa" && settings.backend != "gin")
        return failure(fmt::format("The fast path makes no programs with backend \"{}\"", settings.backend), {},
                       "Choose lsa or gin.");
    for (auto checked : {inRange("infrastructure_attempts", settings.infrastructure_attempts, 1, 100),
                         inRange("replacement_attempts", settings.replacement_attempts, 1, 100),
                         inRange("annotation_attempts", settings.annotation_attempts, 1, 100),
                         inRange("answers_an_attempt", settings.answers_an_attempt, 1, 20),
                         inRange("rewriter_tokens", settings.rewriter_tokens, 256, 1 << 20),
                         inRange("judge_tokens", settings.judge_tokens, 64, 1 << 20)})
        if (!checked)
            return checked;
    if (!std::isfinite(settings.temperature) || settings.temperature < 0 || settings.temperature > 2)
        return failure("The setting fast_path.temperature is not between 0 and 2", {}, "Choose 0 for repeatable runs.");
    return {};
}

nlohmann::json toJson(const FastPathSettings& settings)
{
    return {{"backend", settings.backend},
            {"infrastructure_attempts", settings.infrastructure_attempts},
            {"replacement_attempts", settings.replacement_attempts},
            {"annotation_attempts", settings.annotation_attempts},
            {"answers_an_attempt", settings.answers_an_attempt},
            {"rewriter_tokens", settings.rewriter_tokens},
            {"judge_tokens", settings.judge_tokens},
            {"temperature", settings.temperature}};
}

Result<FastPathSettings> fastPathSettingsFromJson(const nlohmann::json& json, const std::string& where)
{
    FastPathSettings settings;
    JsonReader reader(json, where);
    reader.optional("backend", settings.backend)
        .optional("infrastructure_attempts", settings.infrastructure_attempts)
        .optional("replacement_attempts", settings.replacement_attempts)
        .optional("annotation_attempts", settings.annotation_attempts)
        .optional("answers_an_attempt", settings.answers_an_attempt)
        .optional("rewriter_tokens", settings.rewriter_tokens)
        .optional("judge_tokens", settings.judge_tokens)
        .optional("temperature", settings.temperature);
    if (auto done = reader.finish(); !done)
        return std::unexpected(done.error());
    return settings;
}

}  // namespace cuco
