// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "element_type.h"

#include <cuda_runtime.h>

namespace cuco_harness {

/// Fills device memory with the input `buffer` of `rank`: every element is a function of seed, rank, buffer and
/// its own index alone, so that a verifier makes the same data in another process. Floating point is uniform in
/// [-1, 1), integers are uniform in [0, 2³¹).
cudaError_t fillInput(void* data, ElementType type, int64_t elements, uint64_t seed, int rank, int buffer,
                      cudaStream_t stream);

/// Bytes of 1: not a number in every floating-point type, -1 in integers.
constexpr int poison_byte = 0xff;

}  // namespace cuco_harness
