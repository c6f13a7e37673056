// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "device_outcome.h"
#include "gpu/host_share.h"

#include <functional>

namespace cuco_harness {

/// `body(rank)` on a thread for each rank of this host, whose GPU is current there. The failure of the lowest rank that
/// failed.
Outcome onEachGpu(const HostShare& share, const std::function<Outcome(int rank)>& body);

}  // namespace cuco_harness
