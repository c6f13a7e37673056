// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/source/analysis_walk.h"

#include <fmt/format.h>

#include <algorithm>

namespace cuco::analysis {

namespace {

bool pointsToPeer(const Value& value)
{
    return std::ranges::any_of(value.roots, &Root::peer);
}

}  // namespace

bool Walk::callRuntime(const Node& node, const std::string& name, const std::vector<int>& arguments)
{
    const auto has = [&](std::size_t i) { return i < arguments.size(); };
    const auto named = [&](std::size_t i) { return nameOf(evaluate(arguments[i]), arguments[i]); };
    const auto object = [&](std::size_t i) { return nameOf(evaluate(arguments[i], Use::address), arguments[i]); };
    if (const auto roles = copyRoles(name)) {
        copy(node, name, *roles, arguments);
    } else if (const auto allocation = allocationRoles(name)) {
        allocate(node, name, *allocation, arguments);
    } else if (isFree(name) && has(0)) {
        for (const std::string& freed : namesOf(evaluate(arguments[0]))) {
            const auto known = std::ranges::find(analysis_.buffers, freed, &Buffer::name);
            if (known != analysis_.buffers.end() &&
                std::ranges::find(known->freed_lines, node.line) == known->freed_lines.end()) {
                known->freed_lines.push_back(node.line);
            }
        }
    } else if (name == "ncclGroupStart" || name == "pncclGroupStart") {
        ++groups_;
    } else if (name == "ncclGroupEnd" || name == "pncclGroupEnd") {
        groups_ = std::max(0, groups_ - 1);
    } else if ((name == "ncclCommWindowRegister" || name == "pncclCommWindowRegister") && has(3)) {
        const std::string buffer = named(1), window = object(3);
        windows_[window] = buffer;
        noteBuffer(buffer);
        auto known = std::ranges::find(analysis_.buffers, buffer, &Buffer::name);
        if (known == analysis_.buffers.end()) {
            Buffer added;
            added.name = buffer;
            analysis_.buffers.push_back(added);
            known = analysis_.buffers.end() - 1;
        }
        if (known->size.empty()) {
            known->size = program_.text(arguments[2]);
        }
        addName(known->windows, window);
    } else if (name.starts_with("cudaStreamCreate") && has(0)) {
        Stream& stream = noteStream(object(0));
        stream.created_line = stream.created_line == 0 ? node.line : stream.created_line;
        stream.flags = has(1) ? program_.text(arguments[1]) : "";
        stream.priority = has(2) ? program_.text(arguments[2]) : "";
    } else if (name.starts_with("cudaEventCreate") && has(0)) {
        Event& event = noteEvent(object(0));
        event.created_line = event.created_line == 0 ? node.line : event.created_line;
    } else if (name.starts_with("cudaEventRecord") && has(0)) {
        const std::string stream = has(1) ? streamOf(arguments[1]) : "default";
        const std::string event = named(0);
        auto& records = noteEvent(event).records;
        if (std::ranges::none_of(records,
                                 [&](const EventUse& use) { return use.line == node.line && use.stream == stream; })) {
            records.push_back({stream, node.line});
        }
        noteStream(stream);
        graph_.record(event, stream);
    } else if (name == "cudaStreamWaitEvent" && has(1)) {
        const std::string stream = streamOf(arguments[0]), event = named(1);
        auto& waits = noteEvent(event).waits;
        if (std::ranges::none_of(waits,
                                 [&](const EventUse& use) { return use.line == node.line && use.stream == stream; })) {
            waits.push_back({stream, node.line});
        }
        noteStream(stream);
        graph_.wait(stream, event);
    } else if (name == "cudaStreamSynchronize" && has(0)) {
        const std::string stream = streamOf(arguments[0]);
        graph_.hostWaitsForStream(stream);
        synchronise(node, {name, "host", stream, "", "", "", 0});
    } else if (name == "cudaEventSynchronize" && has(0)) {
        const std::string event = named(0);
        graph_.hostWaitsForEvent(event);
        synchronise(node, {name, "host", event, "", "", "", 0});
    } else if (name == "cudaDeviceSynchronize") {
        graph_.hostWaitsForAll();
        synchronise(node, {name, "host", "", "", "", "", 0});
    } else if (name.starts_with("cuStreamWaitValue") && has(1)) {
        synchronise(node, {name, "peer", named(1), "", "", "", 0});
    } else if (name.starts_with("MPI_Wait") || name.starts_with("PMPI_Wait")) {
        synchronise(node, {name, "peer", has(0) ? program_.text(arguments[0]) : "", "", "", "", 0});
    } else if ((name == "cublasSetStream" || name == "cublasSetStream_v2") && has(1)) {
        handles_[named(0)] = streamOf(arguments[1]);
    } else if (name == "cudaLaunchCooperativeKernel" || name == "cudaLaunchKernel" || name == "cudaLaunchKernelEx" ||
               name == "cudaLaunchKernelExC") {
        launchByCall(node, name, arguments);
    } else if (name == "memcpy" && has(1)) {
        const Value from = evaluate(arguments[1]);
        for (const std::string& to : namesOf(evaluate(arguments[0], Use::address))) {
            for (const std::string& source : namesOf(from)) {
                if (contents_.contains(source)) {
                    contents_[to].add(contents_[source]);
                }
            }
        }
    } else {
        return false;
    }
    return true;
}

void Walk::synchronise(const Node& node, Synchronisation synchronisation)
{
    synchronisation.file = fileOf(node);
    synchronisation.line = node.line;
    synchronisation.kernel = kernel_ == nullptr ? "" : kernel_->name;
    const bool known = std::ranges::any_of(analysis_.synchronisations, [&](const Synchronisation& other) {
        return other.line == synchronisation.line && other.file == synchronisation.file &&
               other.operation == synchronisation.operation && other.object == synchronisation.object &&
               other.kernel == synchronisation.kernel;
    });
    if (!known && analysis_.synchronisations.size() < most_listed) {
        analysis_.synchronisations.push_back(std::move(synchronisation));
    }
}

void Walk::copy(const Node& node, const std::string& name, const CopyRoles& roles, const std::vector<int>& arguments)
{
    const auto at = [&](int i) {
        return i >= 0 && static_cast<std::size_t>(i) < arguments.size() ? arguments[static_cast<std::size_t>(i)] : -1;
    };
    if (at(roles.to) < 0) {
        return;
    }
    Value to = evaluate(at(roles.to)), from = at(roles.from) < 0 ? Value() : evaluate(at(roles.from));
    if (roles.stream == -2) {
        // Lists of pointers.
        for (Value* const list : {&to, &from}) {
            Value all;
            for (const Root& root : list->roots) {
                const auto held = contents_.find(root.name);
                if (held == contents_.end()) {
                    all.add(root);
                } else {
                    all.add(held->second);
                }
            }
            *list = std::move(all);
        }
    }
    // What pointers lie there lie here now.
    for (const Root& target : evaluate(at(roles.to), Use::address).roots) {
        for (const Root& source : from.roots) {
            if (const auto held = contents_.find(source.name); held != contents_.end() && target.name != source.name) {
                const Value copied = held->second;
                contents_[target.name].add(copied);
            }
        }
    }
    const int stream_at = roles.stream == -2 ? static_cast<int>(arguments.size()) - 1 : roles.stream;
    Operation operation;
    operation.kind = roles.from < 0 ? "fill" : "copy";
    operation.label = name;
    operation.stream = roles.blocks ? "default" : at(stream_at) < 0 ? "default" : streamOf(at(stream_at));
    operation.entry = entry_;
    operation.file = fileOf(node);
    operation.line = node.line;
    operation.reads = namesOf(from);
    operation.writes = namesOf(to);
    const bool to_peer = pointsToPeer(to) || roles.peer, from_peer = pointsToPeer(from);
    for (const auto* names : {&operation.reads, &operation.writes}) {
        std::ranges::for_each(*names, [&](const std::string& buffer) { noteBuffer(buffer); });
    }
    noteStream(operation.stream);
    if (to_peer || from_peer) {
        operation.kind = "communication";
        CommunicationCall call;
        call.operation = name;
        call.family = CommunicationFamily::peer_copy;
        call.file = operation.file;
        call.line = node.line;
        call.function = frame().function >= 0 ? program_.declared(frame().function).name : "";
        call.entry = entry_;
        call.through = chain_;
        call.reads = operation.reads;
        call.writes = operation.writes;
        call.count = at(roles.bytes) < 0 ? "" : program_.text(at(roles.bytes));
        call.type = "bytes";
        call.peer = roles.peer ? program_.text(at(1)) : program_.text(to_peer ? at(roles.to) : at(roles.from));
        call.stream = operation.stream;
        call.in_loop = loops_ > 0;
        if (seen_.insert("p" + chainKey(node)).second && analysis_.communication.size() < most_listed) {
            analysis_.communication.push_back(std::move(call));
        }
        if (to_peer) {
            operation.writes.clear();  // the peer's, not this rank's
        }
    }
    graph_.run(chainKey(node), operation, roles.blocks);
}

void Walk::allocate(const Node& node, const std::string& name, const AllocationRoles& roles,
                    const std::vector<int>& arguments)
{
    if (static_cast<std::size_t>(std::max(roles.pointer, roles.bytes)) >= arguments.size()) {
        return;
    }
    const int pointer = arguments[static_cast<std::size_t>(roles.pointer)];
    const Value value = evaluate(pointer, Use::address);
    Buffer buffer;
    buffer.name = nameOf(value, pointer);
    buffer.allocation = roles.allocation;
    buffer.call = name;
    buffer.size = program_.text(arguments[static_cast<std::size_t>(roles.bytes)]);
    buffer.file = fileOf(node);
    buffer.line = node.line;
    // A helper's own name for it says little; adopt() gives it its keeper's.
    if (frames_.size() > 2) {
        Helped helped{buffer, frame().function, false};
        helped.buffer.call = fmt::format("{} by {}", name, program_.declared(frame().function).name);
        helped.buffer.line = frame().called_line;
        helped.buffer.file.clear();
        const Node* target = &program_.at(pointer);
        while ((target->kind == NodeKind::address || target->kind == NodeKind::other) && target->children.size() == 1) {
            target = &program_.at(target->children.front());
        }
        helped.local =
            target->declaration >= 0 && target->kind == NodeKind::name && program_.declared(target->declaration).local;
        allocated_in_[buffer.name] = std::move(helped);
    }
    if (std::ranges::find(analysis_.buffers, buffer.name, &Buffer::name) != analysis_.buffers.end()) {
        return;
    }
    if (analysis_.buffers.size() == most_listed) {
        analysis_.truncated = true;
        return;
    }
    analysis_.buffers.push_back(std::move(buffer));
}

}  // namespace cuco::analysis
