// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "device_outcome.h"
#include "gpu/host_share.h"

#include <vector>

namespace cuco_harness {

struct NodeRates {
    double link_bytes_per_s = 0, hbm_bytes_per_s = 0;
};

/// Copies by the copy engines, all of this host's GPUs at once: out of each to the next, and within each one's memory.
/// Rates are the slowest GPU's, each the fastest of a few repeats. streams[i] is rank i's.
Outcome measureNodeRates(const HostShare& share, const std::vector<cudaStream_t>& streams, NodeRates& rates);

/// By NCCL, every rank sending to the next: what this one sends, in the fastest of a few repeats. Between hosts no copy
/// engine reaches a peer.
Outcome measureLinkRate(ncclComm_t comm, int rank, int ranks, cudaStream_t stream, double& bytes_per_s);

}  // namespace cuco_harness
