// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once
#ifndef CUCO_EMULATED

#include "profile/profile.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

// A rank's records as lanes of a timeline. No CUDA in here.

namespace cuco_harness {

/// As in a timeline of README.md.
enum class TraceActivity { compute = 0, communication = 1, copy = 2, wait = 3, host = 4 };

struct TraceInterval {
    uint64_t begin_ns = 0, end_ns = 0, bytes = 0;
    TraceActivity activity = TraceActivity::host;
    std::string name;
};

struct TraceLane {
    std::string name;
    std::vector<TraceInterval> intervals;
};

struct RankLanes {
    int rank = 0;
    bool has_cupti = false;
    uint64_t dropped = 0;
    std::vector<std::string> notes;
    uint64_t start_ns = 0;             ///< of the traced stretch, which all ranks start together
    std::vector<uint64_t> moments_ns;  ///< at which all ranks left a device barrier; empty when not measured
    std::vector<TraceLane> lanes;
};

/// A phase of one group of threads inside a kernel, on the records' clock.
struct PhaseRecord {
    uint64_t begin_ns = 0, end_ns = 0;
    uint32_t phase = 0, sm = 0;  ///< phase: of device_trace_layout.h
    uint64_t grid = 0;           ///< the launch
};

/// Lanes of streams, copy engines, phases inside kernels, and the host's waits and NVTX ranges. What is communication:
/// NCCL's kernels (`ncclDevKernel…`, `ncclKernel…`, `ncclSym…`); kernels launched inside an NVTX range
/// "cuco:communication"; kernels that recorded phases but none of computing; copies between two GPUs. Copies within a
/// GPU, and between it and the host, are copy, as are fills; all else is compute.
std::vector<TraceLane> lanesOf(const std::vector<cuco_profile_record>& records, const std::vector<PhaseRecord>& phases);

/// "void ns::kernel<128>(Args…)", mangled or not, as "ns::kernel<128>".
std::string kernelName(const char* name);

std::string toText(const RankLanes& lanes);
/// Nothing when it is not toText()'s, or beyond bounds.
std::optional<RankLanes> fromText(const std::string& text);

}  // namespace cuco_harness
#endif
