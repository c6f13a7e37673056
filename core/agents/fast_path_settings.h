// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/error.h"

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <string>

namespace cuco {

/// Limits and parameters of the fast path (CUCo, arXiv 2603.02376, section 5).
struct FastPathSettings {
    std::string backend = "lsa";  ///< of what it makes: "lsa" or "gin"
    int infrastructure_attempts = 5, replacement_attempts = 10, annotation_attempts = 2;
    int answers_an_attempt = 3;  ///< until one can be used
    std::int64_t rewriter_tokens = 32768, judge_tokens = 2048;
    double temperature = 0;

    /// The most candidates it can need.
    int attempts() const { return infrastructure_attempts + replacement_attempts + annotation_attempts; }
};

/// What is wrong with them.
Result<void> validate(const FastPathSettings& settings);

nlohmann::json toJson(const FastPathSettings& settings);
Result<FastPathSettings> fastPathSettingsFromJson(const nlohmann::json& json, const std::string& where);

}  // namespace cuco
