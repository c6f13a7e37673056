// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/run/decision.h"

#include <nlohmann/json_fwd.hpp>

#include <optional>
#include <vector>

namespace cuco {

/// Raw samples of all shapes, paired by the rounds in which candidate and baseline took turns, and the statistics made
/// of them. `evaluation` first, then what promotions measured.
nlohmann::json samplesDocument(const Evaluation& evaluation, std::optional<std::int64_t> settled_ms,
                               const std::vector<Remeasurement>& remeasurements);

/// Every verdict on the candidate by time: the search's, then those of promotions.
nlohmann::json verdictsDocument(const Evaluation& evaluation, std::optional<std::int64_t> settled_ms,
                                const std::vector<Remeasurement>& remeasurements);

}  // namespace cuco
