// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "gpu/observer.h"
#include "report.h"

namespace cuco_harness {

/// Whether the GPUs still work, and who else uses them once our own processes are gone, as a line of the report. Waits
/// for these.
ReportLine lookForNeighbours(Observer& observer);

}  // namespace cuco_harness
