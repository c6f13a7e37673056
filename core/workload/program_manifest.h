// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/workload/workload.h"

namespace cuco {

/// Reads a manifest whose kind is "program". The error names the field that is missing, unknown, or contradicts
/// another; `where` is the manifest's file.
Result<Workload> readProgramManifest(const nlohmann::json& document, const std::filesystem::path& folder,
                                     const std::string& where);

}  // namespace cuco
