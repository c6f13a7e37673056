// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/evaluation/evaluation.h"
#include "core/trace/timeline.h"

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cuco {

struct HarnessFailure {
    std::string kind;  ///< as in workloads/harness/README.md
    std::string shape, message, detail;
    int rank = -1;  ///< < 0: no one rank
    std::size_t line = 0;
};

/// An output of one rank and iteration that the verifier found right.
struct CheckedOutput {
    std::string shape;
    int iteration = 0, rank = 0;
    auto operator<=>(const CheckedOutput&) const = default;
};

/// What a node's links and memory were measured to do.
struct MeasuredRates {
    double link_bytes_per_s = 0;  ///< out of one GPU by its copy engines, all at once; between hosts by NCCL
    double hbm_bytes_per_s = 0;
    bool link_is_limit = true;  ///< nothing sends faster; not so between hosts, where NCCL may be beaten
};

/// What the harness said. In `run` mode the candidate lives in the same process: nothing here is trusted
/// further than it can be checked.
struct HarnessReport {
    bool started = false, done = false;
    std::map<std::string, std::vector<double>> samples_us;  ///< by shape
    std::map<std::string, std::vector<double>> event_us;    ///< by shape: the same seen by CUDA events, on GPUs
    std::map<std::string, int> bursts;                      ///< by shape: iterations a sample is the mean of
    std::map<std::string, std::map<std::string, std::vector<double>>> baseline_samples_us;  ///< by program and shape
    std::map<std::string, std::string> baseline_problems;          ///< by program: why it takes no part
    std::map<std::string, std::vector<GpuConditions>> conditions;  ///< by shape
    std::optional<MeasuredRates> rates;
    std::map<std::string, double> spent_ms;     ///< by phase, over all shapes; GPUs
    std::vector<std::string> hosts;             ///< that the ranks are on, when they are on several
    double start_uncertainty_us = 0;            ///< by which ranks on several hosts may have started apart
    std::string gpu_fault;                      ///< what is wrong with a GPU after the candidate
    std::vector<std::string> neighbours;        ///< "process 17 (2048 MiB) on GPU 0": other users
    std::map<std::string, Timeline> timelines;  ///< by shape
    std::string trace_problem;                  ///< why there is none
    std::vector<HarnessFailure> failures;
    std::vector<CheckedOutput> checked;
    std::string host_collectives;      ///< NCCL's that the candidate called, with blanks between; emulated node
    std::vector<Mismatch> mismatches;  ///< at most 256
    std::vector<RaceReport> races;     ///< at most 16; only where the job asked for them
    std::vector<std::string> remarks;  ///< lines that were left out, and why
    std::string text;                  ///< all of it, as the harness wrote it; emulated node
    std::string violation;             ///< the first breach of the protocol; empty when there is none
};

/// Reads JSON lines. Unknown events are remarks; a line that is no event of the protocol, one that comes twice,
/// and anything after "done" is a violation. A timeline that cannot be read is a remark: it only goes missing.
HarnessReport parseHarnessReport(std::string_view text);

}  // namespace cuco
