// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "job.h"

#include <string>
#include <vector>

namespace cuco_harness {

constexpr unsigned char guard_byte = 0xa5;  ///< what lies around every buffer

/// Where a rank's buffers lie: all outputs in one region, all inputs in another, several sets of each, every buffer
/// between guard zones. The outputs' region looks the same on all ranks. The same everywhere it is computed, so that
/// processes that share the memory need not tell each other.
struct BufferLayout {
    struct Gap {
        bool in_outputs;
        size_t begin, bytes;
        std::string place;  ///< "behind output c"
    };

    size_t output_bytes = 0, input_bytes = 0;  ///< of the regions
    std::vector<std::vector<size_t>> outputs;  ///< [set][buffer], offsets into the region of outputs
    std::vector<std::vector<size_t>> inputs;   ///< [set][buffer], offsets into the region of inputs
    std::vector<size_t> snapshot;              ///< [output], offsets into a copy of one set's outputs
    size_t snapshot_bytes = 0;
    std::vector<Gap> gaps;
};

BufferLayout layOut(const ShapeJob& shape, int rank, int sets);

/// What one set takes in both regions, guard zones included.
size_t bytesOfSet(const ShapeJob& shape, int rank);

}  // namespace cuco_harness
