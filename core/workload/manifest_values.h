// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/workload/workload.h"

#include <string>

namespace cuco {

/// Evaluates every expression of a manifest for all its shapes, rank counts and ranks, so that nobody meets one
/// without a value later: buffers from 0 to 64 GiB, rooflines not negative. `where` names the manifest in the error.
Result<void> checkManifestValues(const Workload& workload, const std::string& where);

}  // namespace cuco
