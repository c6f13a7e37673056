// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/error.h"

#include <nlohmann/json_fwd.hpp>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <stop_token>
#include <string>
#include <vector>

namespace cuco {

/// What a CUDA source does between GPUs, read from its syntax tree (libclang 19) without a toolkit. All of it is what
/// the text says: values are source text, lines are 1-based, and a `file` is empty for the source itself, else the
/// name of a header. Buffers, streams and events are named as members without their object ("gathered.base"), as
/// variables, or by the contract ("inputs[0]", "outputs[…]", "symmetric_base").

enum class CommunicationFamily { nccl, pnccl, nccl_lsa, nccl_gin, mpi, peer_copy };
std::string_view toString(CommunicationFamily family);

/// One hop on the way from an entry point to a call.
struct ReachedThrough {
    std::string how;  ///< "macro", "wrapper" or "function_pointer"
    std::string name;
    std::size_t line = 0;  ///< where it is used
};

struct CommunicationCall {
    std::string operation;  ///< "ncclAllGather", "MPI_Bcast", "store_to_peer", "load_from_peer", "cudaMemcpyAsync", …
    CommunicationFamily family = CommunicationFamily::nccl;
    std::string file;
    std::size_t line = 0;
    std::string function;                 ///< that contains the call
    std::string kernel;                   ///< the kernel that runs it; empty on the host
    std::string entry;                    ///< the function no other calls from which it is reached
    std::vector<ReachedThrough> through;  ///< outermost first; empty: called directly
    std::vector<std::string> reads, writes;
    std::string count, type, peer, comm, stream;
    std::string issuer;  ///< on the device: "thread", "warp", "cta" where the index that it uses says so
    bool in_group = false, in_loop = false;
    bool resolved = true;  ///< false: an operation that the declarations do not have
};

struct Buffer {
    std::string name;
    std::string allocation;  ///< "device", "device_async", "managed", "pinned_host", "host", "nccl", "input", "output",
                             ///< "symmetric", "ipc"
    std::string call, size, file;
    std::size_t line = 0;  ///< of the allocation; 0 for the contract's
    std::vector<std::size_t> freed_lines;
    std::vector<std::string> windows;  ///< registered over it
};

struct KernelLaunch {
    std::string kernel, grid, block, shared, stream, file;
    std::vector<std::string> arguments;
    std::size_t line = 0;
    bool cooperative = false, in_loop = false, communicates = false, computes = false;
    std::vector<std::string> reads, writes;
};

struct Stream {
    std::string name, priority, flags;
    std::size_t created_line = 0;  ///< 0: given to the source
};

struct EventUse {
    std::string stream;
    std::size_t line = 0;
};
struct Event {
    std::string name;
    std::size_t created_line = 0;
    std::vector<EventUse> records, waits;
};

struct Synchronisation {
    std::string operation;    ///< "cudaStreamSynchronize", "ncclLsaBarrierSession", "flag_store", "flag_wait", …
    std::string scope;        ///< "host", "world", "team", "peer", "tile", or empty where the text does not say
    std::string object;       ///< the stream, event, team or flag's buffer
    std::string cooperation;  ///< "thread", "warp", "cta" of a device barrier
    std::string kernel, file;
    std::size_t line = 0;
};

/// What a stream or the host executes: a node of the producer/consumer graph.
struct Operation {
    int id = 0;
    std::string kind;  ///< "kernel", "library", "copy", "fill", "communication"
    std::string label, stream, entry, file;
    std::size_t line = 0;
    std::vector<std::string> reads, writes;
};

/// `to` needs what `from` wrote ("flow"), or writes what `from` still reads ("reuse") or wrote ("rewrite").
struct Dependency {
    int from = 0, to = 0;
    std::string buffer, kind;
    std::string order;  ///< "stream NAME", "event NAME", "host", or "none": nothing here orders them
    bool next_iteration = false;
};

/// Something the declarations or folders do not have.
struct Unresolved {
    std::string kind;  ///< "include", "name", "member", "syntax", "other"
    std::string name, message, file;
    std::size_t line = 0;
};

struct CudaAnalysis {
    std::string source;  ///< its name
    std::size_t lines = 0;
    std::vector<CommunicationCall> communication;
    std::vector<Buffer> buffers;
    std::vector<KernelLaunch> launches;
    std::vector<Stream> streams;
    std::vector<Event> events;
    std::vector<Synchronisation> synchronisations;
    std::vector<Operation> operations;
    std::vector<Dependency> dependencies;
    std::vector<Unresolved> unresolved;
    bool uses_device_communication = false;
    bool truncated = false;  ///< a limit was reached: there is more than what is listed
};

struct AnalysisRequest {
    std::string source;                                  ///< the text
    std::string name = "source.cu";                      ///< in messages
    std::filesystem::path declarations;                  ///< the product's resources/analysis
    std::vector<std::filesystem::path> include_folders;  ///< a workload's, the harness's; nothing else can be included
    std::chrono::milliseconds limit{20'000};
};

inline constexpr std::size_t max_analysed_bytes = 4u << 20;

/// Reads the source in a child process (`cucoctl analyze --worker`) with limits on time and memory, so that no source
/// takes this one down. Errors: no cucoctl, no libclang, a source that is too large or holds a NUL byte, a limit
/// exceeded.
Result<CudaAnalysis> analyzeCuda(const AnalysisRequest& request, std::stop_token stop = {});

/// The same in this process, without limits on time.
Result<CudaAnalysis> analyzeCudaHere(const AnalysisRequest& request);

/// The worker's side: reads a request from `input`, and gives what goes to standard output.
std::string analysisWorker(const std::string& input);

nlohmann::json toJson(const CudaAnalysis& analysis);
Result<CudaAnalysis> analysisFromJson(const nlohmann::json& document);

/// The same in few lines, for prompts and terminals; equal analyses give equal text.
std::string toText(const CudaAnalysis& analysis);

}  // namespace cuco
