// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "device_memory.h"
#include "device_outcome.h"
#include "job.h"
#include "reference.h"

#include <vector>

namespace cuco_harness {

/// The right outputs of one rank, computed on that rank's GPU from the inputs of all. The GPU must be current.
class Oracle {
public:
    /// Memory for one shape; what there was for another is freed.
    Outcome allocate(const ShapeJob& shape, int rank, int ranks);
    /// Makes all ranks' inputs from the seed and runs the reference, in the stream's order.
    Outcome run(ReferenceFunction reference, const ShapeJob& shape, uint64_t seed, cudaStream_t stream);
    /// Output `b` of the rank, in device memory.
    const float* output(size_t b) const { return outputs_[b]; }

private:
    int rank_ = 0, ranks_ = 0;
    std::vector<DeviceMemory> memory_;
    std::vector<void*> inputs_;  ///< of rank 0, of rank 1, …
    std::vector<float*> outputs_;
};

}  // namespace cuco_harness
