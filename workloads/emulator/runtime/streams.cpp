// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/streams.h"

#include "runtime/failure.h"
#include "runtime/host.h"
#include "runtime/trace.h"

#include "cuco_emu_host.h"

#include <algorithm>

namespace cuco_emu {
namespace {

/// Legacy default stream: its operations wait for all earlier ones of blocking streams, and theirs for its.
bool may_start(const Stream& stream, const Command& command)
{
    const Rank& rank = *stream.rank;
    const auto earlier_work = [&](const Stream& other) {
        return !other.queue.empty() && other.queue.front()->order < command.order;
    };
    if (stream.legacy) {
        const auto blocks = [&](const auto& other) {
            return (other->flags & cudaStreamNonBlocking) == 0 && earlier_work(*other);
        };
        return std::ranges::none_of(rank.streams, blocks) && !earlier_work(rank.thread_stream);
    }
    return (stream.flags & cudaStreamNonBlocking) != 0 || !earlier_work(rank.legacy_stream);
}

void advance(Stream& stream)
{
    if (stream.queue.empty())
        return;
    const CommandPtr head = stream.queue.front();
    if (head->started || head->scheduled || !may_start(stream, *head))
        return;
    const Time gap = head->kernel ? stream.next_kernel : head->copy ? stream.next_copy : 0;
    const Time when = std::max({head->earliest, stream.last_end, gap});
    if (when > now()) {
        head->scheduled = true;
        at(when, [head] {
            head->scheduled = false;
            advance(*head->stream);
        });
        return;
    }
    head->started = true;
    head->begin = now();
    if (race_checking)
        race_begin(*head);
    const auto start = std::move(head->start);
    start();
}

void advance_all(void* self)
{
    auto& rank = *static_cast<Rank*>(self);
    advance(rank.legacy_stream);
    advance(rank.thread_stream);
    for (std::size_t i = 0; i < rank.streams.size(); ++i)
        advance(*rank.streams[i]);
}

}  // namespace

CommandPtr enqueue(Stream& stream, const Operation& operation)
{
    const Model& model = machine().model;
    auto command = std::make_shared<Command>();
    command->name = operation.name;
    command->activity = operation.activity;
    command->bytes = operation.bytes;
    command->traced = operation.traced;
    command->kernel = operation.kernel;
    command->copy = operation.copy;
    command->stream = &stream;
    command->order = ++stream.rank->next_order;
    command->earliest = now() + from_us(operation.kernel ? model.kernel_start_us : model.stream_operation_us);
    if (operation.kernel || operation.copy)
        command->earliest += random_delay(*stream.rank);
    // The command owns `start` until it runs, and `start` must not own the command.
    command->start = [start = operation.start, weak = std::weak_ptr<Command>(command)] { start(weak.lock()); };
    command->race.site = operation.site;
    if (race_checking)
        race_enqueue(*command, stream);
    stream.queue.push_back(command);
    stream.last = command;
    ++machine().open_commands;
    at(now(), advance_all, stream.rank);
    return command;
}

CommandPtr submit(Stream& stream, Operation operation)
{
    Rank& rank = *stream.rank;
    const auto captured = rank.capture_streams.find(&stream);
    if (rank.capture && captured != rank.capture_streams.end()) {
        rank.capture->nodes.push_back({captured->second, std::move(operation)});
        return nullptr;
    }
    return enqueue(stream, operation);
}

void finish(const CommandPtr& command)
{
    Stream& stream = *command->stream;
    command->end = now();
    command->done = true;
    if (race_checking)
        race_end(*command);
    stream.last_end = now();
    if (command->kernel)
        stream.next_kernel = now() + from_us(machine().model.kernel_gap_us);
    if (command->copy)
        stream.next_copy = now() + from_us(machine().model.copy_gap_us);
    stream.queue.pop_front();
    --machine().open_commands;
    trace_command(*command);
    const auto after = std::move(command->after);
    for (const auto& action : after)
        action();
    at(now(), advance_all, stream.rank);
}

void when_done(const CommandPtr& command, std::function<void()> action)
{
    if (!command || command->done)
        action();
    else
        command->after.push_back(std::move(action));
}

void wait_for(const CommandPtr& command, const std::string& reason, const void* site)
{
    Rank& rank = *current_rank;
    if (command && !command->done) {
        when_done(command, [&rank] { wake_host(rank, now() + from_us(machine().model.host_wake_us)); });
        host_wait(reason, site);
    }
    if (race_checking)
        race_host_waits(rank, command.get());
}

void wait_for_device(Rank& rank, const void* site)
{
    const auto wait = [&](Stream& stream) {
        wait_for(stream.last, "in cudaDeviceSynchronize for " + stream.name, site);
        if (race_checking)
            race_host_waits(rank, stream);
    };
    wait(rank.legacy_stream);
    wait(rank.thread_stream);
    for (std::size_t i = 0; i < rank.streams.size(); ++i)
        wait(*rank.streams[i]);
}

namespace {

std::string unfinished_beside(const Stream& stream)
{
    const auto busy = [&](const Stream& other) -> std::string {
        const auto real = [](const CommandPtr& command) {
            return command->kernel || command->copy || command->activity == Activity::host;
        };
        const auto found = std::ranges::find_if(other.queue, real);
        return &other == &stream || found == other.queue.end() ? "" : (*found)->name + " on " + other.name;
    };
    Rank& rank = *stream.rank;
    for (const Stream* other : {&rank.legacy_stream, &rank.thread_stream})
        if (auto text = busy(*other); !text.empty())
            return text;
    for (const auto& other : rank.streams)
        if (auto text = busy(*other); !text.empty())
            return text;
    return {};
}

}  // namespace

void note_end(cudaStream_t handle)
{
    Rank& rank = *current_rank;
    rank.work_after_end.clear();
    if (Stream* stream = find_stream(rank, handle))
        when_done(stream->last, [stream] { stream->rank->work_after_end = unfinished_beside(*stream); });
}

std::string work_after_end()
{
    return current_rank->work_after_end;
}

Stream* find_stream(Rank& rank, cudaStream_t handle)
{
    if (handle == nullptr || handle == cudaStreamLegacy)
        return &rank.legacy_stream;
    if (handle == cudaStreamPerThread)
        return &rank.thread_stream;
    for (const auto& stream : rank.streams)
        if (reinterpret_cast<cudaStream_t>(stream.get()) == handle)
            return stream.get();
    return nullptr;
}

cudaError_t set_error(Rank& rank, cudaError_t error)
{
    if (error != cudaSuccess && error != cudaErrorNotReady)
        rank.last_error = error;
    return error;
}

}  // namespace cuco_emu
