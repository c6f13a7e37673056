// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "gpu/observer.h"
#include "gpu/shape_memory.h"
#include "gpu/spent.h"
#include "job.h"
#include "report.h"

#include <functional>
#include <vector>

namespace cuco_harness {

/// One shape while its programs are set up.
struct Scene {
    const Job& job;
    const ShapeJob& shape;
    int sets;  ///< of buffers that each program has
    const GpuMemory gpus;
    Observer& observer;
    Spent& spent;
    const std::function<void(const ReportLine&)> report;
    /// Takes these teams' set-ups down and sets them up again: other memory, windows and states.
    const std::function<Outcome(const std::vector<size_t>& teams, int sets)> renew;
};

}  // namespace cuco_harness
