// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "device_memory.h"
#include "gpu/observer.h"
#include "job.h"

#include <vector>

namespace cuco_harness {

/// Compares outputs with their references on the GPUs that hold both.
class OutputComparison {
public:
    explicit OutputComparison(const Job& job) : relative_l2_(job.relative_l2), max_error_(job.max_error) {}

    void resize(int ranks) { results_.resize(size_t(ranks)); }
    /// With the rank's GPU current.
    Outcome allocate(int rank);
    /// Sets all of `seen` but what was compared. With the rank's GPU current.
    Outcome compare(const char* output, const BufferJob& buffer, const float* reference, int rank, cudaStream_t stream,
                    Observation& seen) const;

private:
    double relative_l2_, max_error_;
    std::vector<DeviceMemory> results_;  ///< of each rank
};

}  // namespace cuco_harness
