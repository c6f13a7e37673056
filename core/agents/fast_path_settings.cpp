// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/agents/fast_path_settings.h"

#include "core/base/json.h"
#include "core/population/setting_checks.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace cuco {

Result<void> validate(const FastPathSettings& settings)
{
    if (settings.backend != "lsa" && settings.backend != "gin")
        return failure(fmt::format("The fast path makes no programs with backend \"{}\"", settings.backend), {},
                       "Choose lsa or gin.");
    for (auto checked : {wholeInRange("fast_path.infrastructure_attempts", settings.infrastructure_attempts, 1, 100),
                         wholeInRange("fast_path.replacement_attempts", settings.replacement_attempts, 1, 100),
                         wholeInRange("fast_path.annotation_attempts", settings.annotation_attempts, 1, 100),
                         wholeInRange("fast_path.answers_an_attempt", settings.answers_an_attempt, 1, 20),
                         wholeInRange("fast_path.rewriter_tokens", settings.rewriter_tokens, 256, 1 << 20),
                         wholeInRange("fast_path.judge_tokens", settings.judge_tokens, 64, 1 << 20)})
        if (!checked)
            return checked;
    return realInRange("fast_path.temperature", settings.temperature, 0, 2);
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
