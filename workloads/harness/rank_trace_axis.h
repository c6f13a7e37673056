// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once
#ifndef CUCO_EMULATED

#include <cstdint>
#include <string>
#include <vector>

struct ncclComm;

namespace cuco_harness {

/// Names of the kernels below, as CUPTI gives them.
constexpr const char* axis_anchor_kernel = "cucoAxisAnchor";
constexpr const char* axis_barrier_kernel = "cucoAxisBarrier";

/// A kernel's first and last reading of the GPU's %globaltimer, and readings between, in ns.
struct AxisStamps {
    uint64_t first = 0, last = 0;
    std::vector<uint64_t> moments;
};

/// Runs a kernel that does nothing but read the timer, and waits for it. False: CUDA failed.
bool stampAnchor(AxisStamps& stamps);

/// Collective over `comm`: a kernel on each rank that takes `moments` readings, each right after a device barrier of
/// all ranks. False, with a sentence.
bool stampBarriers(ncclComm* comm, int moments, AxisStamps& stamps, std::string& why);

}  // namespace cuco_harness
#endif
