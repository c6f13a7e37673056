// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "outcome.h"

#include <vector>

namespace cuco_harness {

struct NodeRates {
    double link_bytes_per_s = 0, hbm_bytes_per_s = 0;
};

/// Copies by the copy engines, all GPUs at once: out of each to the next, and within each one's memory. Rates are the
/// slowest GPU's, each the fastest of a few repeats. streams[i] is GPU i's; there are as many ranks.
Outcome measureNodeRates(const std::vector<cudaStream_t>& streams, NodeRates& rates);

}  // namespace cuco_harness
