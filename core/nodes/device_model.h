// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/workload/workload.h"

#include <filesystem>

namespace cuco {

/// The rates of a file like workloads/emulator/h200.model. Errors name the figure that is missing.
Result<DeviceRates> readDeviceModel(const std::filesystem::path& model_file);

}  // namespace cuco
