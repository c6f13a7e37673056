// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/evaluation/data_paths.h"
#include "core/workload/workload.h"

#include <string>

namespace cuco::cli {

/// A name of one of the product's workloads, or a folder with a workload.json.
Result<Workload> findWorkload(const DataPaths& paths, const std::string& name);

}  // namespace cuco::cli
