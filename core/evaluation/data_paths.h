// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/error.h"

#include <filesystem>

namespace cuco {

/// Where the installed or built product keeps its data: resources/ and workloads/.
struct DataPaths {
    std::filesystem::path resources, workloads;
    /// $CUCO_DATA_DIR; else the first folder above the program that has the data; else the installation prefix's
    /// share/cuco; else the source tree the program was built from.
    static Result<DataPaths> find();
};

}  // namespace cuco
