// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/trace/import.h"

namespace cuco {

/// Chrome trace events, PyTorch's among them. `where` names the file in errors.
Result<Timeline> importChromeEvents(std::string_view json, const std::string& where, const ImportWatch& watch);

}  // namespace cuco
