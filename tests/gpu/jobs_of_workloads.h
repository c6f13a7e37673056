// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/workload/workload.h"

#include <map>

namespace cuco {

/// What tests/gpu/jobs should hold, by file name: run.sh has no manifest reader of its own. For each of the workload's
/// rank counts up to 4 there is `NAME.RANKS.verify.job`, the shapes that are only verified, and `NAME.RANKS.time.job`,
/// the search shapes with a line "# roofline SHAPE FLOP HBM_BYTES LINK_BYTES" each, of the rank that has most. Paths
/// are
/// @candidate@ and @reference@.
Result<std::map<std::string, std::string>> jobsOf(const Workload& workload);

}  // namespace cuco
