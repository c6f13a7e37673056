// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "runtime/machine.h"

#include <functional>
#include <memory>
#include <string>

namespace cuco_emu {

struct Event;

/// What a stream operation shall be; `start` gets the command, which it or something later gives to finish().
struct Operation {
    std::string name;
    Activity activity = Activity::compute;
    std::uint64_t bytes = 0;
    bool traced = true;
    bool kernel = false, copy = false;
    const Event* records = nullptr;  ///< captured only: what the replay's waits refer to
    const Event* waits = nullptr;
    const void* site = nullptr;  ///< the call, in the candidate
    std::function<void(const CommandPtr&)> start;
};

/// Enqueues, or records into the graph that is being captured from this stream. The result is null then.
CommandPtr submit(Stream& stream, Operation operation);
CommandPtr enqueue(Stream& stream, const Operation& operation);
void finish(const CommandPtr& command);

/// Calls action when the command is done, at once if it is.
void when_done(const CommandPtr& command, std::function<void()> action);

/// Blocks the calling host until the command is done; null is done.
void wait_for(const CommandPtr& command, const std::string& reason, const void* site);
void wait_for_device(Rank& rank, const void* site);

/// The stream behind a handle; null when it is none of this rank's.
Stream* find_stream(Rank& rank, cudaStream_t handle);

cudaError_t set_error(Rank& rank, cudaError_t error);

struct Event {
    CommandPtr last;
};

/// Captured operations in order; streams other than the launch's are numbered as they appeared.
struct Graph {
    struct Node {
        int stream = 0;
        Operation operation;
    };
    std::vector<Node> nodes;
    std::map<const Event*, std::shared_ptr<Event>> recorded;  ///< kept alive for the nodes that name them
};

}  // namespace cuco_emu

struct CUevent_st {
    std::shared_ptr<cuco_emu::Event> event = std::make_shared<cuco_emu::Event>();
    bool timing = true;
};
struct CUgraph_st {
    std::shared_ptr<cuco_emu::Graph> graph;
};
struct CUgraphExec_st {
    std::shared_ptr<cuco_emu::Graph> graph;
    std::map<int, cudaStream_t> streams;
};
