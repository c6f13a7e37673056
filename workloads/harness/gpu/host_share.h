// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace cuco_harness {

/// Which of a job's ranks are on a host, and which of its GPUs they have.
struct HostShare {
    int first_rank = 0;
    int ranks = 0;         ///< here; one a GPU
    int all_ranks = 0;     ///< on all hosts
    int first_device = 0;  ///< CUDA's number of the first rank's GPU
    int devices = 0;       ///< of this host that the job uses, also for ranks of another share of it

    int deviceOf(int rank) const { return first_device + rank - first_rank; }
    bool has(int rank) const { return rank >= first_rank && rank < first_rank + ranks; }
};

/// All ranks on this host.
inline HostShare onOneHost(int ranks)
{
    return {0, ranks, ranks, 0, ranks};
}

}  // namespace cuco_harness
