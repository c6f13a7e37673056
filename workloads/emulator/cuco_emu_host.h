// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cuda_runtime.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

/// What the harness needs of the emulator besides the CUDA, NCCL and cuBLAS headers in include/.
///
/// Everything runs on one OS thread: each rank's host code and every CUDA thread is a fiber, and a
/// discrete-event scheduler decides who runs. Time is modelled and the same in every run of the same
/// program; nothing here measures the host's clock.
///
/// Order of use: load_model, configure, on_failure, then run(body) with load_candidate, barrier,
/// now_ns and the trace calls inside the body.
namespace cuco_emu {

/// A candidate's fault. The process cannot go on after one: the callback reports it, then the process ends.
struct Failure {
    std::string kind;     ///< "deadlock", "timeout", "crash", "out_of_bounds", "tampering" or "not_emulable"
    int rank = -1;        ///< -1 when it concerns no single rank
    std::string message;  ///< one sentence
    std::string detail;   ///< who waits for what, addresses, kernel and thread; several lines
    int line = 0;         ///< of the candidate's source, 0 when unknown
};

/// Called once, then the process ends with exit status `failure_exit_status` by _exit: nothing is flushed
/// that the callback does not flush. It may run on a signal stack of 256 KiB; it must not call CUDA.
void on_failure(std::function<void(const Failure&)> callback);
inline constexpr int failure_exit_status = 3;

/// One of two accesses to the same memory that nothing orders.
struct RaceSide {
    int rank = -1;
    std::string access;  ///< "read", "write", "atomic" or "copy"
    std::string where;   ///< "kernel pushToPeers", "ncclAllGather", "host code"
    bool in_kernel = false;
    int block[3] = {}, thread[3] = {};  ///< in a kernel
    int line = 0;                       ///< of the candidate's source, 0 when it is not the candidate's
};
struct Race {
    std::string memory;  ///< its name as set_access gave it, "shared memory", "an allocation of 64 bytes"
    int memory_rank = -1;
    std::int64_t byte = 0;   ///< of that memory
    RaceSide first, second;  ///< in the order in which they happened
};

/// Turns the race checker on, before run. The callback gets each pair of places once, at most four; the run goes on.
void check_races(std::function<void(const Race&)> callback);
/// The harness reads device memory on the calling rank's host: an access like any other.
void read_by_harness(const void* address, std::size_t bytes);

/// Reads the modelled GPU (h200.model). False with a sentence in `error` that names file and line.
/// Without it the built-in figures apply, which are those of h200.model.
bool load_model(const std::string& path, std::string* error);

/// Name of the modelled device for the report's start event, such as "NVIDIA H200 (modelled)".
std::string device_name();

/// Creates `ranks` devices (1 to 16). Once per process, before run. False when the address space
/// cannot be reserved (an RLIMIT_AS below about 110 GiB does that).
bool configure(int ranks, std::string* error);

/// For programs of which only the results count. What threads do takes no time, and of a kernel that is not launched as
/// cooperative one block runs after the other, which leaves the processor's caches to it. After configure, before run.
void forget_time();

/// FLOPs and bytes of the represented shape over those of the emulated one: rates are divided by them,
/// latencies stay, so modelled times are those of the represented shape. Takes effect for work that is
/// enqueued later; call it on one rank between two barriers.
void set_scale(double flop_scale, double byte_scale);

/// Runs body(0) … body(ranks - 1), each as the host thread of its rank: CUDA, NCCL and cuBLAS calls
/// inside act for that rank, whose device has ordinal `rank` and is current. Returns when all have
/// returned and all devices are idle. May be called again.
void run(const std::function<void(int rank)>& body);

/// Waits until the host code of every rank is here. Takes no modelled time beyond the slowest rank's.
void barrier();

/// Modelled time since configure, in nanoseconds and in picoseconds.
std::int64_t now_ns();
std::int64_t now_ps();

/// Lets modelled time pass for the calling rank's host, for injected skew.
void sleep_ns(std::int64_t nanoseconds);

/// Until disturb(0): kernels and copies start, and threads that waited for a peer go on, late by up to 300 us, from
/// this seed and more on some ranks than on others. What a candidate forgot to wait for then shows.
void disturb(std::uint64_t seed);

/// Notes what other streams of the calling rank have still to do at the moment when the work that is now on `stream`
/// ends; work_after_end says it once the device is idle, in words, and is empty when there was nothing.
void note_end(cudaStream_t stream);
std::string work_after_end();

/// Between the two the calling rank's host runs a candidate's code: its system calls are looked at (a `tampering`
/// failure when memory, threads, clocks and printing do not need them), and its NCCL collectives remembered. It must
/// not store to variables of this program, nor above `frame` on the stack, other than to the pointer `result`.
void enter_candidate(const void* frame, const void* result);
void leave_candidate();
/// Names of NCCL's host collectives and point-to-point operations that candidates called, with blanks between.
std::string host_collectives();

/// Modelled time that a single rank may take between two barriers before it is a `timeout` failure.
void set_time_limit_ns(std::int64_t nanoseconds);

/// Loads a private copy of the shared object for `rank`: its globals, host statics and __device__
/// variables are that rank's own. Also for reference.so. Null with a sentence in `error` otherwise.
void* load_candidate(const std::string& path, int rank, std::string* error);
void* symbol(void* candidate, const char* name);
/// Runs the object's destructors; no stream may hold its work.
void unload_candidate(void* candidate);

/// What a candidate may do with a part of an allocation. New allocations are read_write throughout and have
/// inaccessible zones around them. Bounds apply to kernels and copies of the candidate, not to the
/// harness's own code, which may use device addresses as they are.
enum class Access { none, read_only, read_write };
/// `begin` 8-byte aligned; `bytes` rounded up to 8 for `none`. `name` shows in messages ("guard after output c").
void set_access(const void* begin, std::size_t bytes, Access access, const std::string& name);

/// Timeline of all ranks from here, until trace_end returns it as the JSON object described in
/// workloads/harness/README.md (one line). Call both on one rank, between two barriers, with idle devices.
void trace_begin(const std::string& title);
std::string trace_end();

}  // namespace cuco_emu
