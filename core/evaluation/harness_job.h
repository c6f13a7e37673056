// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/error.h"
#include "core/nodes/toolchain.h"
#include "core/workload/workload.h"

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace cuco {

/// One shape for the harness to run.
struct JobShape {
    Shape shape;
    std::uint64_t seed = 1;  ///< iteration i has inputs from seed + i
    int iterations = 1, warmup = 0;
    bool dump = false, time = false, trace = false;
    std::uint64_t skew = 0;  ///< 0: ranks start together
};

struct HarnessJob {
    HarnessFiles files;
    int ranks = 1;
    std::chrono::seconds limit{60};  ///< a watchdog of the harness's own, which can name what hangs
    bool race = false;               ///< look for races; emulated node only
    std::vector<JobShape> shapes;
};

/// Shape parameters and `ranks`, as the expressions of a manifest see them on one rank.
SizeValues valuesOnRank(const SizeValues& parameters, int ranks, int rank);

/// The text of job.txt (workloads/harness/README.md). Errors: a size that cannot be computed, is negative or
/// more than 2^40; a name that does not fit into a line of words.
Result<std::string> writeHarnessJob(const Workload& workload, const HarnessJob& job);

/// The largest file that the harness dumps, in bytes.
Result<std::uint64_t> largestDumpBytes(const Workload& workload, const HarnessJob& job);

}  // namespace cuco
