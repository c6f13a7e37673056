// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/error.h"

#include <nlohmann/json_fwd.hpp>

#include <vector>

namespace cuco {

class RunFile;

/// What the search of a run did, an object an event: first what belongs to no candidate, then by the candidates'
/// numbers, of each its agents' steps in the order in which they were made, each followed by the calls made in it, and
/// at last the candidate with what became of it. What happened to several candidates at once has no order of its own.
///
/// No event has a time of day, a duration or an id that depends on them. So two runs with the same settings, seed,
/// answers and measured times have the same log. A run that was interrupted has the steps of what was cut off, too.
Result<std::vector<nlohmann::json>> eventLog(RunFile& file);

}  // namespace cuco
