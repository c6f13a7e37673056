// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/source/kernel_source.h"
#include "core/workload/workload.h"

namespace cuco {

/// The source that holds the frozen code of a workload's candidates: its seed, else its first strategy. Errors: it has
/// neither; one that cannot be read or whose markers are broken.
Result<KernelSource> frozenTemplate(const Workload& workload);

}  // namespace cuco
