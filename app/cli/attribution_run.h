// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/run/attribution.h"

#include <stop_token>
#include <string>

namespace cuco::cli {

/// Prepares the run's evaluator, on `node` unless that is empty, and measures; a line on standard error for each
/// evaluation.
Result<Attribution> runAttribution(RunFile& file, const std::string& candidate_id, const std::string& against,
                                   const std::string& node, std::stop_token stop);

}  // namespace cuco::cli
