// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/error.h"
#include "core/nodes/toolchain.h"
#include "core/workload/workload.h"

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace cuco {

/// One shape for the harness to run.
struct JobShape {
    Shape shape;
    std::uint64_t seed = 1;  ///< iteration i has inputs from seed + i
    int iterations = 1, warmup = 0;
    bool dump = false, time = false, trace = false;
    std::uint64_t skew = 0;                 ///< 0: ranks start together
    int consecutive = 0;                    ///< GPUs: further verified iterations, in a row
    int rounds = 0;                         ///< GPUs: of timing, at most; each program has two turns in a round
    int least_rounds = 0;                   ///< GPUs: before this many a clear result ends them
    std::vector<std::string> against = {};  ///< GPUs: the baselines that take turns; empty: all
};

/// On GPUs: a program that takes turns with the candidate.
struct JobBaseline {
    std::string name;
    std::filesystem::path program;  ///< a shared object that the ranks' sandbox shows
    bool checked = true;            ///< false: nothing is communicated, so that its outputs are not looked at
};

/// On GPUs: the candidate as it was built for the profiler. It runs when all else is done, in ranks of its own.
struct JobTraced {
    std::filesystem::path program;                 ///< in the job's folder; empty: nothing is traced
    std::map<std::string, std::string> variables;  ///< of the environment of its ranks alone
};

/// GPUs: where the ranks are, when they are on several hosts.
struct JobHosts {
    struct Host {
        int ranks = 0;
        std::string name;
    };
    std::vector<Host> hosts;          ///< in the ranks' order
    std::vector<std::string> launch;  ///< what starts a program once on each of them
};

struct HarnessJob {
    HarnessFiles files;
    int ranks = 1;
    JobHosts span;
    std::chrono::seconds limit{60};  ///< a watchdog of the harness's own, which can name what hangs
    std::vector<JobBaseline> baselines;
    JobTraced traced;
    bool rates = false;  ///< GPUs: measure the links and the memory first
    bool race = false;   ///< look for races; emulated node only
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
