// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "compare.h"
#include "gpu/host_share.h"
#include "job.h"
#include "outcome.h"
#include "wire.h"

#include <sys/types.h>
#include <string>
#include <vector>

namespace cuco_harness {

/// How one output of one rank and iteration compares.
struct Observation {
    int iteration = 0, rank = 0, output = 0;
    bool right = false;
    bool late = false;  ///< changed after the end: something was still writing
    Comparison comparison;
    std::vector<int64_t> wrong_in_bin;
};

struct ObservedGpu {
    std::string pci_bus_id;
    int sm_mhz = -1, memory_mhz = -1, temperature_c = -1;
    double power_w = -1;
    std::vector<std::string> throttling;
    std::string processes_json;
    int64_t observer = -1;  ///< its process among them
};

/// A process that shares the ranks' buffers and in which no candidate ever is. It alone knows the seeds: it makes the
/// inputs, poisons the outputs, runs the reference, and compares. One thread a GPU.
class Observer {
public:
    /// On this host. Forks: call it before this process has threads.
    Outcome start(const Job& job, const HostShare& share);
    /// Processes on other hosts, of which each looks after its own ranks.
    void adopt(std::vector<Channel> hosts) { hosts_ = std::move(hosts); }
    ~Observer();

    /// Makes contexts and loads the reference. `post` returns at once, so that ranks can start meanwhile.
    void postOpen();
    Outcome finishOpen();

    /// A rank's memory for a shape: outputs, inputs, snapshot, as descriptors (which stay the caller's) and sizes. All
    /// ranks of a team are attached at once. Of ranks on other hosts the descriptors never leave these.
    struct SharedRegions {
        std::vector<int> descriptors;
        std::vector<int64_t> bytes;
    };
    Outcome attach(int team, int shape, int sets, const std::vector<SharedRegions>& of_ranks);
    Outcome detach(int team);

    /// Iteration i works in set (first_set + i) % sets with inputs from seeds[i]. Fills these, poisons the outputs.
    Outcome prepare(int team, int first_set, const std::vector<uint64_t>& seeds);
    /// Copies strips of the outputs of `length` iterations, by the copy engines and as fast as can be: the next check
    /// compares them with what is there then. A rank that says too early that it is done shows by that, as `late`.
    Outcome glance(int team, int first_set, int length);
    /// Compares what is there now; with `snapshot` the copy of one iteration's outputs instead of the outputs.
    Outcome check(int team, int first_set, const std::vector<uint64_t>& seeds, bool snapshot,
                  std::vector<Observation>& observations);
    /// A failure of kind out_of_bounds when a byte between the buffers has changed.
    Outcome checkGuards(int team);

    /// Out of one GPU to the next of its host by copy engines, all at once, and within one GPU's memory; of the slowest
    /// GPU.
    Outcome measureRates(double& link_bytes_per_s, double& hbm_bytes_per_s);
    /// Gives a rank's GPU work for so long, in turns with which everything else there goes on: a rank whose device is
    /// late. Does not wait for it.
    Outcome occupy(int rank, int64_t duration_ns);
    /// Also tells whether every GPU still works.
    Outcome look(std::vector<ObservedGpu>& gpus);

    /// The way to this host's, for who hands messages on.
    Channel takeChannel() { return std::move(hosts_.at(0)); }

private:
    Outcome ask(char kind, const std::string& bytes, const std::vector<int>& descriptors = {});
    Outcome answers();

    std::vector<Channel> hosts_;
    std::vector<std::string> replies_;  ///< one a host
    pid_t process_ = -1;
};

}  // namespace cuco_harness
