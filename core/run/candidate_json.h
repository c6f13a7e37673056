// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/population/candidate.h"

#include <nlohmann/json_fwd.hpp>

#include <string>
#include <vector>

namespace cuco {

/// The parts of a candidate that a run file's columns hold as JSON.
nlohmann::json toJson(const Directive& directive);
Result<Directive> directiveFromJson(const nlohmann::json& json);
Result<TunableValues> tunablesFromJson(const nlohmann::json& json);
Result<std::vector<std::string>> parentsFromJson(const nlohmann::json& json);

}  // namespace cuco
