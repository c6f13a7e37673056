// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/workload/workload.h"

namespace cuco {

/// The workload of that name below `root`. Its folder is tried first, so that another that does not load is in nobody's
/// way.
Result<Workload> namedWorkload(const std::filesystem::path& root, const std::string& name);

}  // namespace cuco
