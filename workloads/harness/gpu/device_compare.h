// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "compare.h"

#include <cuda_runtime.h>

#include <array>

namespace cuco_harness {

constexpr int mismatch_bins = 64;  ///< parts of equal length that an output is divided into for its map of mismatches

/// What the comparison kernels leave in device memory.
struct DeviceDifference {
    double squared_reference, squared_difference;
    unsigned long long not_numbers;
    unsigned long long wrong_elements, first_wrong;
    double largest_error;  ///< as Comparison::max_error
    unsigned long long largest_error_at;
    unsigned int wrong_in_bin[mismatch_bins];
};

/// As compare() does on the host, on the current device, in the stream's order: an output of `elements` of `type`
/// against its reference. `result` is device memory.
cudaError_t compareOnDevice(const void* output, const float* reference, ElementType type, int64_t elements,
                            double max_error, DeviceDifference* result, cudaStream_t stream);

/// From the result, copied to the host. Expected and got are left for the caller to read at `element`.
Comparison readDifference(const DeviceDifference& difference, int64_t elements, double l2_bound);

/// The number of bytes in [begin, begin + bytes) that are not `value`, and the first of them.
struct ChangedBytes {
    unsigned long long count, first;
};
cudaError_t findChangedBytes(const void* begin, size_t bytes, unsigned char value, ChangedBytes* result,
                             cudaStream_t stream);

}  // namespace cuco_harness
