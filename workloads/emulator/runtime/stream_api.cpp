// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/failure.h"
#include "runtime/host.h"
#include "runtime/streams.h"
#include "runtime/system_calls.h"

#include <algorithm>
#include <string>

using namespace cuco_emu;

namespace {

cudaStream_t handle_of(Stream& stream)
{
    return reinterpret_cast<cudaStream_t>(&stream);
}

Rank& entered(const char* function, const void* site, double us)
{
    Rank& rank = calling_rank(function, site);
    host_costs(us);
    return rank;
}

std::function<void(const CommandPtr&)> waiting_for(const CommandPtr& target)
{
    return [target](const CommandPtr& command) {
        when_done(target, [command, target] {
            if (race_checking)
                race_after(*command, target.get());
            finish(command);
        });
    };
}

double stream_us()
{
    return machine().model.stream_operation_us;
}
double call_us()
{
    return machine().model.host_call_us;
}

}  // namespace

cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned flags, int priority)
{
    Rank& rank = entered("cudaStreamCreateWithPriority", CUCO_EMU_CALL_SITE(), call_us());
    if (!stream || (flags & ~static_cast<unsigned>(cudaStreamNonBlocking)) != 0)
        return set_error(rank, cudaErrorInvalidValue);
    auto created = std::make_unique<Stream>();
    created->rank = &rank;
    created->number = rank.next_stream++;
    created->flags = flags;
    created->priority = std::clamp(priority, -5, 0);
    created->name = "stream " + std::to_string(created->number);
    *stream = handle_of(*created);
    rank.streams.push_back(std::move(created));
    return cudaSuccess;
}

cudaError_t cudaStreamCreate(cudaStream_t* stream)
{
    return cudaStreamCreateWithPriority(stream, 0, 0);
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned flags)
{
    return cudaStreamCreateWithPriority(stream, flags, 0);
}

cudaError_t cudaStreamDestroy(cudaStream_t handle)
{
    Rank& rank = entered("cudaStreamDestroy", CUCO_EMU_CALL_SITE(), call_us());
    Stream* stream = find_stream(rank, handle);
    if (!stream || stream->legacy || stream == &rank.thread_stream)
        return set_error(rank, cudaErrorInvalidResourceHandle);
    wait_for(stream->last, "for " + stream->name + " before it is destroyed", CUCO_EMU_CALL_SITE());
    std::erase_if(rank.streams, [&](const auto& other) { return other.get() == stream; });
    return cudaSuccess;
}

cudaError_t cudaStreamSynchronize(cudaStream_t handle)
{
    Rank& rank = entered("cudaStreamSynchronize", CUCO_EMU_CALL_SITE(), call_us());
    Stream* stream = find_stream(rank, handle);
    if (!stream)
        return set_error(rank, cudaErrorInvalidResourceHandle);
    if (rank.capture && rank.capture_streams.contains(stream))
        return set_error(rank, cudaErrorStreamCaptureUnsupported);
    wait_for(stream->last, "in cudaStreamSynchronize for " + stream->name, CUCO_EMU_CALL_SITE());
    if (race_checking)
        race_host_waits(rank, *stream);
    return cudaSuccess;
}

cudaError_t cudaStreamQuery(cudaStream_t handle)
{
    Rank& rank = entered("cudaStreamQuery", CUCO_EMU_CALL_SITE(), call_us());
    Stream* stream = find_stream(rank, handle);
    if (!stream)
        return set_error(rank, cudaErrorInvalidResourceHandle);
    if (stream->last && !stream->last->done)
        return cudaErrorNotReady;
    if (race_checking)
        race_host_waits(rank, *stream);
    return cudaSuccess;
}

cudaError_t cudaStreamGetPriority(cudaStream_t handle, int* priority)
{
    Rank& rank = entered("cudaStreamGetPriority", CUCO_EMU_CALL_SITE(), call_us());
    const Stream* stream = find_stream(rank, handle);
    if (!stream || !priority)
        return set_error(rank, cudaErrorInvalidResourceHandle);
    *priority = stream->priority;
    return cudaSuccess;
}

cudaError_t cudaStreamGetFlags(cudaStream_t handle, unsigned* flags)
{
    Rank& rank = entered("cudaStreamGetFlags", CUCO_EMU_CALL_SITE(), call_us());
    const Stream* stream = find_stream(rank, handle);
    if (!stream || !flags)
        return set_error(rank, cudaErrorInvalidResourceHandle);
    *flags = stream->flags;
    return cudaSuccess;
}

cudaError_t cudaDeviceGetStreamPriorityRange(int* least, int* greatest)
{
    if (least)
        *least = 0;
    if (greatest)
        *greatest = -5;
    return cudaSuccess;
}

cudaError_t cudaStreamWaitEvent(cudaStream_t handle, cudaEvent_t event, unsigned)
{
    Rank& rank = entered("cudaStreamWaitEvent", CUCO_EMU_CALL_SITE(), stream_us());
    Stream* stream = find_stream(rank, handle);
    if (!stream || !event)
        return set_error(rank, cudaErrorInvalidResourceHandle);
    const auto state = event->event;
    const bool captured = rank.capture && rank.capture->recorded.contains(state.get());
    if (captured)  // the stream joins the capture
        rank.capture_streams.emplace(stream, static_cast<int>(rank.capture_streams.size()));
    else if (!state->last || state->last->done) {
        if (race_checking)
            race_stream_waits(*stream, state->last.get());
        return cudaSuccess;
    }
    Operation wait;
    wait.name = "wait for event";
    wait.activity = Activity::wait;
    wait.waits = captured ? state.get() : nullptr;
    wait.start = waiting_for(state->last);
    submit(*stream, std::move(wait));
    return cudaSuccess;
}

cudaError_t cudaLaunchHostFunc(cudaStream_t handle, cudaHostFn_t function, void* data)
{
    Rank& rank = entered("cudaLaunchHostFunc", CUCO_EMU_CALL_SITE(), machine().model.kernel_host_us);
    Stream* stream = find_stream(rank, handle);
    if (!stream || !function)
        return set_error(rank, cudaErrorInvalidValue);
    Operation call;
    call.name = "host function";
    call.activity = Activity::host;
    call.start = [function, data](const CommandPtr& command) {
        at(now() + from_us(machine().model.host_wake_us), [function, data, command] {
            watched_system_calls = 1;
            function(data);
            watched_system_calls = 0;
            finish(command);
        });
    };
    submit(*stream, std::move(call));
    return cudaSuccess;
}

cudaError_t cudaStreamAddCallback(cudaStream_t handle, cudaStreamCallback_t function, void* data, unsigned)
{
    Rank& rank = entered("cudaStreamAddCallback", CUCO_EMU_CALL_SITE(), machine().model.kernel_host_us);
    Stream* stream = find_stream(rank, handle);
    if (!stream || !function)
        return set_error(rank, cudaErrorInvalidValue);
    Operation call;
    call.name = "host function";
    call.activity = Activity::host;
    call.start = [=](const CommandPtr& command) {
        watched_system_calls = 1;
        function(handle, cudaSuccess, data);
        watched_system_calls = 0;
        finish(command);
    };
    submit(*stream, std::move(call));
    return cudaSuccess;
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned flags)
{
    Rank& rank = entered("cudaEventCreate", CUCO_EMU_CALL_SITE(), call_us());
    if (!event)
        return set_error(rank, cudaErrorInvalidValue);
    *event = new CUevent_st;
    (*event)->timing = (flags & cudaEventDisableTiming) == 0;
    return cudaSuccess;
}

cudaError_t cudaEventCreate(cudaEvent_t* event)
{
    return cudaEventCreateWithFlags(event, 0);
}

cudaError_t cudaEventDestroy(cudaEvent_t event)
{
    Rank& rank = entered("cudaEventDestroy", CUCO_EMU_CALL_SITE(), call_us());
    if (!event)
        return set_error(rank, cudaErrorInvalidResourceHandle);
    delete event;
    return cudaSuccess;
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t handle)
{
    Rank& rank = entered("cudaEventRecord", CUCO_EMU_CALL_SITE(), stream_us());
    Stream* stream = find_stream(rank, handle);
    if (!event || !stream)
        return set_error(rank, cudaErrorInvalidResourceHandle);
    const auto state = event->event;
    const bool captured = rank.capture && rank.capture_streams.contains(stream);
    Operation record;
    record.name = "record event";
    record.traced = false;
    record.start = [](const CommandPtr& command) { finish(command); };
    record.records = captured ? state.get() : nullptr;
    if (captured)
        rank.capture->recorded[state.get()] = state;
    const auto command = submit(*stream, std::move(record));
    if (command)
        state->last = command;
    return cudaSuccess;
}

cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream, unsigned)
{
    return cudaEventRecord(event, stream);
}

cudaError_t cudaEventQuery(cudaEvent_t event)
{
    Rank& rank = entered("cudaEventQuery", CUCO_EMU_CALL_SITE(), call_us());
    if (!event)
        return set_error(rank, cudaErrorInvalidResourceHandle);
    const auto& last = event->event->last;
    if (last && !last->done)
        return cudaErrorNotReady;
    if (race_checking)
        race_host_waits(rank, last.get());
    return cudaSuccess;
}

cudaError_t cudaEventSynchronize(cudaEvent_t event)
{
    Rank& rank = entered("cudaEventSynchronize", CUCO_EMU_CALL_SITE(), call_us());
    if (!event)
        return set_error(rank, cudaErrorInvalidResourceHandle);
    const auto last = event->event->last;
    const std::string stream = last ? " of " + last->stream->name : "";
    wait_for(last, "in cudaEventSynchronize for an event" + stream, CUCO_EMU_CALL_SITE());
    return cudaSuccess;
}

cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t start, cudaEvent_t stop)
{
    Rank& rank = entered("cudaEventElapsedTime", CUCO_EMU_CALL_SITE(), call_us());
    if (!milliseconds || !start || !stop || !start->timing || !stop->timing || !start->event->last ||
        !stop->event->last)
        return set_error(rank, cudaErrorInvalidResourceHandle);
    const auto& from = *start->event->last;
    const auto& to = *stop->event->last;
    if (!from.done || !to.done)
        return cudaErrorNotReady;
    *milliseconds = static_cast<float>(static_cast<double>(to.end - from.end) / 1e9);
    return cudaSuccess;
}

cudaError_t cudaStreamBeginCapture(cudaStream_t handle, cudaStreamCaptureMode)
{
    Rank& rank = entered("cudaStreamBeginCapture", CUCO_EMU_CALL_SITE(), call_us());
    Stream* stream = find_stream(rank, handle);
    if (!stream || stream->legacy || rank.capture)
        return set_error(rank, cudaErrorStreamCaptureUnsupported);
    rank.capture = std::make_shared<Graph>();
    rank.capture_streams = {{stream, 0}};
    return cudaSuccess;
}

cudaError_t cudaStreamEndCapture(cudaStream_t handle, cudaGraph_t* graph)
{
    Rank& rank = entered("cudaStreamEndCapture", CUCO_EMU_CALL_SITE(), call_us());
    Stream* stream = find_stream(rank, handle);
    if (!graph || !rank.capture || !rank.capture_streams.contains(stream))
        return set_error(rank, cudaErrorStreamCaptureUnmatched);
    *graph = new CUgraph_st{rank.capture};
    rank.capture.reset();
    rank.capture_streams.clear();
    return cudaSuccess;
}

cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t* executable, cudaGraph_t graph, unsigned long long)
{
    Rank& rank = entered("cudaGraphInstantiate", CUCO_EMU_CALL_SITE(), machine().model.allocation_us);
    if (!executable || !graph)
        return set_error(rank, cudaErrorInvalidValue);
    *executable = new CUgraphExec_st{graph->graph, {}};
    for (const auto& node : graph->graph->nodes)
        if (node.stream != 0 && !(*executable)->streams.contains(node.stream))
            cudaStreamCreateWithFlags(&(*executable)->streams[node.stream], cudaStreamNonBlocking);
    return cudaSuccess;
}

cudaError_t cudaGraphLaunch(cudaGraphExec_t executable, cudaStream_t handle)
{
    Rank& rank = entered("cudaGraphLaunch", CUCO_EMU_CALL_SITE(), machine().model.kernel_host_us);
    Stream* stream = find_stream(rank, handle);
    if (!executable || !stream)
        return set_error(rank, cudaErrorInvalidValue);
    std::map<const Event*, CommandPtr> records;
    for (const auto& node : executable->graph->nodes) {
        Operation operation = node.operation;
        if (operation.waits)
            operation.start = waiting_for(records[operation.waits]);
        Stream* target = node.stream == 0 ? stream : find_stream(rank, executable->streams.at(node.stream));
        const auto command = enqueue(*target, operation);
        if (operation.records)
            records[operation.records] = command;
    }
    return cudaSuccess;
}

cudaError_t cudaGraphDestroy(cudaGraph_t graph)
{
    delete graph;
    return cudaSuccess;
}

cudaError_t cudaGraphExecDestroy(cudaGraphExec_t executable)
{
    Rank& rank = entered("cudaGraphExecDestroy", CUCO_EMU_CALL_SITE(), call_us());
    if (!executable)
        return set_error(rank, cudaErrorInvalidValue);
    for (const auto& [number, stream] : executable->streams)
        cudaStreamDestroy(stream);
    delete executable;
    return cudaSuccess;
}
