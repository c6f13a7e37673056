// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/trace/import.h"

namespace cuco {

/// A report of Nsight Systems as `nsys export --type sqlite` writes it. Tables that are missing are named in the
/// timeline's notes; without any of kernels, copies and fills it is an error.
Result<Timeline> importNsys(const std::filesystem::path& path, const ImportWatch& watch);

}  // namespace cuco
