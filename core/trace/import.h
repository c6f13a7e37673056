// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/trace/timeline.h"

#include <filesystem>
#include <functional>
#include <stop_token>

namespace cuco {

struct ImportWatch {
    std::stop_token stop;
    std::function<void(double)> progress;  ///< from 0 to 1, on the caller's thread
};

/// Reads a trace of any of these, told by its content: a timeline of CUCo's own (JSON with "lanes"); Chrome trace
/// events as Perfetto, Chrome and others write them (JSON with "traceEvents", or a list of events); those of PyTorch's
/// profiler (Kineto), which are the same with kernels; each also compressed by gzip; and an nsys report exported to
/// SQLite. At most 2 GiB unpacked, 5,000,000 intervals and 1,000 lanes; beyond that records are left out and counted
/// in `dropped`.
///
/// Ranks: Kineto's `distributedInfo.rank`, else its device; of other events a process called "rank N", else processes
/// by number; of nsys a process and device. What is communication, of GPU records: NCCL's and NVSHMEM's kernels, and
/// copies between two GPUs. Events of the CPU are host activity. Only lengths are read: counters, instants and
/// asynchronous events are not.
///
/// Errors: no such file, another format, a broken or empty trace, cancelled; each says what is missing.
Result<Timeline> importTrace(const std::filesystem::path& path, const ImportWatch& watch = {});

}  // namespace cuco
