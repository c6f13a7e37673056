// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "element_type.h"

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace cuco_harness {

constexpr int max_shape_parameters = 16;  ///< CUCO_MAX_SHAPE_PARAMETERS, without CUDA's headers

struct BufferJob {
    std::string name;
    ElementType type = ElementType::f32;
    std::vector<int64_t> elements;  ///< on each rank

    size_t bytes(int rank) const { return size_t(elements[size_t(rank)]) * bytesOf(type); }
    size_t largestBytes() const;
};

/// Of an environment: names and values.
using Variables = std::vector<std::pair<std::string, std::string>>;

/// A program that takes part in a job on GPUs.
struct Program {
    std::string name, path;
    bool candidate = false;
    bool checked = true;  ///< false: computes without communicating, so that its outputs are not looked at
    Variables variables;  ///< of its ranks' environment alone
};

/// A host that has some of a job's ranks.
struct JobHost {
    int ranks = 0;
    std::string name;  ///< as the person knows it: it may be an address or an alias
};

struct ShapeJob {
    std::string name;
    std::vector<int64_t> parameters;
    std::vector<BufferJob> inputs, outputs;
    uint64_t seed = 1;
    double flop_factor = 1, byte_factor = 1;
    int iterations = 1, warmup = 0;
    bool dump = false, time = false, trace = false;
    std::optional<uint64_t> skew_seed;
    int consecutive = 0;               ///< GPUs: further verified iterations, in a row
    int rounds = 0;                    ///< GPUs: rounds of timing at most, in each of which every program has two turns
    int least_rounds = 0;              ///< GPUs: fewer than these are no measurement
    std::vector<std::string> against;  ///< GPUs: the baselines that take turns; empty: all
};

struct Job {
    std::string folder;  ///< the job file's; candidate and dumps are relative to it
    std::string candidate, reference, model;
    int ranks = 0;
    double relative_l2 = 0, max_error = 0;
    int limit_s = 60;
    std::vector<Program> baselines;   ///< GPUs
    Program traced;                   ///< GPUs: the candidate as it is built for the profiler; no path: none
    bool rates = false;               ///< GPUs: measure links and memory first
    bool race = false;                ///< emulated node only: look for races
    std::vector<JobHost> hosts;       ///< GPUs: in the ranks' order; empty: all ranks are on this one
    std::vector<std::string> launch;  ///< GPUs: what starts a program once on each of these hosts
    std::vector<ShapeJob> shapes;
    std::string text;  ///< all of it, for other hosts

    std::string pathOf(const std::string& name) const;
    std::string dumpPath(const ShapeJob& shape, int iteration, int rank, const BufferJob& buffer) const;
};

/// Reads and checks a job file (README.md). On failure `error` is a sentence that names the line.
std::optional<Job> readJob(const std::string& path, std::string& error);
/// Reads the job and removes its file: it holds the seeds. When it is wrong, the report says so and is ended.
std::optional<Job> takeJob(const std::string& path, int report_descriptor);
/// The same from text; `folder` is the job's.
std::optional<Job> parseJob(const std::string& text, const std::string& folder, std::string& error);

}  // namespace cuco_harness
