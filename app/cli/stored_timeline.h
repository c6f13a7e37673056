// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/run/run_file.h"

#include <string>

namespace cuco::cli {

/// The timeline of a candidate or a baseline. Errors: neither is there, or it has no timeline.
Result<Timeline> storedTimeline(RunFile& file, const std::string& name);

}  // namespace cuco::cli
