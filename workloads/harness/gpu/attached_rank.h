// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "device_memory.h"
#include "gpu/shared_memory.h"
#include "layout.h"

#include <cstdint>
#include <vector>

namespace cuco_harness {

/// One rank's part of a team's memory.
struct AttachedRank {
    MappedMemory outputs, inputs, snapshot;
    BufferLayout layout;
    int shape = -1;
};

// With the rank's GPU current.

/// The memory of its layout, from descriptors and sizes in the order of the regions; fills its guard zones.
Outcome mapRegions(AttachedRank& attached, const int64_t* bytes, const int* descriptors, int device,
                   cudaStream_t stream);
/// Iteration i works in set (first_set + i) % sets with inputs from seeds[i]. Fills these, poisons the outputs.
Outcome prepareBuffers(const AttachedRank& attached, const ShapeJob& shape, int rank, int first_set,
                       const std::vector<uint64_t>& seeds, cudaStream_t stream);
/// `scratch` is of a ChangedBytes.
Outcome checkGuardZones(const AttachedRank& attached, int rank, const DeviceMemory& scratch, cudaStream_t stream);

}  // namespace cuco_harness
