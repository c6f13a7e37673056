// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "gpu/observer.h"
#include "job.h"
#include "report.h"

#include <functional>

namespace cuco_harness {

/// One shape while its programs are set up.
struct Scene {
    const Job& job;
    const ShapeJob& shape;
    const int sets;
    Observer& observer;
    const std::function<void(const ReportLine&)> report;
};

}  // namespace cuco_harness
