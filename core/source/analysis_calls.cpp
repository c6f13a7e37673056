// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/source/analysis_walk.h"

#include <fmt/format.h>

#include <algorithm>

namespace cuco::analysis {

namespace {

constexpr std::size_t most_listed = 2000;

bool pointsToPeer(const Value& value)
{
    return std::ranges::any_of(value.roots, &Root::peer);
}

void addName(std::vector<std::string>& names, const std::string& name)
{
    if (!name.empty() && std::ranges::find(names, name) == names.end()) {
        names.push_back(name);
    }
}

}  // namespace

std::vector<std::string> Walk::namesOf(const Value& value) const
{
    std::vector<std::string> names;
    for (const Root& root : value.roots) {
        if (root.function < 0) {
            addName(names, root.name);
        }
    }
    return names;
}

std::string Walk::nameOf(const Value& value, int node) const
{
    return value.roots.empty() || value.roots.front().name.empty() ? program_.text(node) : value.roots.front().name;
}

std::string Walk::streamOf(int node)
{
    const std::string text = program_.text(node);
    if (text == "0" || text == "nullptr" || text == "NULL") {
        return "default";
    }
    const Value value = evaluate(node);
    if (value.roots.empty()) {
        // A null, or a parameter that the caller left to its default.
        const Node& here = program_.at(node);
        const bool parameter =
            here.declaration >= 0 && program_.declared(here.declaration).kind == DeclarationKind::parameter;
        return parameter || value.text == "nullptr" || value.text == "0" ? "default" : text;
    }
    return nameOf(value, node);
}

std::string Walk::chainKey(const Node& node) const
{
    std::string key = fmt::format("{}:{}:{}:{}", entry_, node.file, node.begin, node.line);
    for (const ReachedThrough& hop : chain_) {
        key += fmt::format("|{}:{}", hop.name, hop.line);
    }
    return key;
}

void Walk::noteBuffer(const std::string& name)
{
    const std::string allocation = name.starts_with("inputs")           ? "input"
                                   : name.starts_with("outputs")        ? "output"
                                   : name.starts_with("symmetric_base") ? "symmetric"
                                                                        : "";
    if (!allocation.empty() && std::ranges::find(analysis_.buffers, name, &Buffer::name) == analysis_.buffers.end()) {
        Buffer buffer;
        buffer.name = name;
        buffer.allocation = allocation;
        analysis_.buffers.push_back(std::move(buffer));
    }
}

Stream& Walk::noteStream(const std::string& name)
{
    const auto known = std::ranges::find(analysis_.streams, name, &Stream::name);
    if (known != analysis_.streams.end()) {
        return *known;
    }
    analysis_.streams.push_back({name, "", "", 0});
    return analysis_.streams.back();
}

Event& Walk::noteEvent(const std::string& name)
{
    const auto known = std::ranges::find(analysis_.events, name, &Event::name);
    if (known != analysis_.events.end()) {
        return *known;
    }
    analysis_.events.push_back({name, 0, {}, {}});
    return analysis_.events.back();
}

Value Walk::call(int index)
{
    const Node& node = program_.at(index);
    const std::vector<int> arguments(node.children.begin() + 1, node.children.end());
    const Node& callee = program_.at(node.children.front());
    std::vector<ReachedThrough> how;
    if (!node.macro.empty() && node.macro != node.name) {
        how.push_back({"macro", node.macro, node.line});
    }
    const Declaration* declared = node.declaration >= 0 ? &program_.declared(node.declaration) : nullptr;
    if (node.name == "dlsym" && arguments.size() == 2 && callee.kind != NodeKind::call) {
        Value found;
        Root root;
        root.symbol = evaluate(arguments[1]).text;
        std::erase(root.symbol, '"');
        found.add(root);
        return found;
    }
    // Through a pointer: all functions that it is known to hold.
    if (declared == nullptr || declared->kind != DeclarationKind::function || callee.kind == NodeKind::call) {
        const Value pointers = evaluate(node.children.front());
        Value result;
        bool known = false;
        for (const Root& root : pointers.roots) {
            const std::string name = root.function >= 0 ? program_.declared(root.function).name : root.symbol;
            if (name.empty()) {
                continue;
            }
            known = true;
            auto through = how;
            const std::string pointer = callee.kind == NodeKind::call ? callee.name : node.name;
            through.push_back(
                {"function_pointer", pointer.empty() ? program_.text(node.children.front()) : pointer, node.line});
            if (root.function >= 0 && program_.declared(root.function).body >= 0) {
                std::vector<Value> values;
                for (const int argument : arguments) {
                    values.push_back(evaluate(argument, Use::address));
                }
                result.add(enter(root.function, values, {}, node));
            } else {
                result.add(callApi(node, name, arguments, through));
            }
        }
        if (known) {
            return result;
        }
        return callApi(node, node.name, arguments, how);
    }
    if (declared->body >= 0) {
        std::vector<Value> values;
        for (std::size_t i = 0; i < arguments.size(); ++i) {
            const bool by_reference =
                i < declared->parameters.size() && program_.declared(declared->parameters[i]).reference;
            values.push_back(evaluate(arguments[i], by_reference ? Use::address : Use::load));
        }
        Value object;
        if (callee.kind == NodeKind::member) {
            object = callee.children.empty() ? frame().object : evaluate(callee.children.front(), Use::address);
        }
        if (kernel_ == nullptr && !how.empty()) {
            chain_.insert(chain_.end(), how.begin(), how.end());
        }
        Value result = enter(node.declaration, values, object, node);
        if (kernel_ == nullptr && !how.empty()) {
            chain_.resize(chain_.size() - how.size());
        }
        return result;
    }
    return callApi(node, node.name, arguments, how);
}

Value Walk::callApi(const Node& node, const std::string& name, const std::vector<int>& arguments,
                    const std::vector<ReachedThrough>& how)
{
    const Node& callee = program_.at(node.children.front());
    Value object;
    if (callee.kind == NodeKind::member) {
        object = callee.children.empty() ? frame().object : evaluate(callee.children.front(), Use::address);
    }
    if (const auto value = callDevice(node, name, arguments, object)) {
        return *value;
    }
    if (const auto roles = communicationRoles(name)) {
        communicate(node, name, *roles, arguments, how);
        return {};
    }
    if (kernel_ == nullptr && callRuntime(node, name, arguments)) {
        return {};
    }
    if (const auto roles = kernel_ == nullptr ? libraryRoles(name) : std::nullopt) {
        Operation operation;
        operation.kind = "library";
        operation.label = name;
        operation.file = fileOf(node);
        operation.line = node.line;
        operation.entry = entry_;
        const auto at = [&](int i) {
            return static_cast<std::size_t>(i) < arguments.size() ? arguments[static_cast<std::size_t>(i)] : -1;
        };
        if (roles->stream >= 0 && at(roles->stream) >= 0) {
            operation.stream = streamOf(at(roles->stream));
        } else if (at(roles->handle) >= 0) {
            const auto found = handles_.find(nameOf(evaluate(at(roles->handle)), at(roles->handle)));
            operation.stream = found == handles_.end() ? "default" : found->second;
        }
        for (const auto& [list, names] :
             {std::pair{&roles->reads, &operation.reads}, {&roles->writes, &operation.writes}}) {
            for (const int i : *list) {
                if (at(i) >= 0) {
                    for (const std::string& buffer : namesOf(evaluate(at(i)))) {
                        addName(*names, buffer);
                        noteBuffer(buffer);
                    }
                }
            }
        }
        graph_.run(chainKey(node), operation, false);
        return {};
    }
    const Declaration* const declared = node.declaration >= 0 ? &program_.declared(node.declaration) : nullptr;
    // Not in the declarations, yet by its name one of theirs: an operation newer than they are.
    const auto unknown = unknownCommunication(name);
    if (unknown && (declared == nullptr || declared->kind != DeclarationKind::function) && kernel_ == nullptr) {
        CommunicationRoles roles;
        roles.family = *unknown;
        communicate(node, name, roles, arguments, how);
        return {};
    }
    Value value;
    for (const int argument : arguments) {
        const Value given = evaluate(argument);
        if (program_.at(argument).pointer || node.pointer) {
            value.add(given);
        }
        value.thread = value.thread || given.thread;
        value.lane = value.lane || given.lane;
        value.block = value.block || given.block;
        if (kernel_ != nullptr && (declared == nullptr || declared->body < 0)) {
            // A template's parameter's function, or none that is known: it may read all, and write by a list.
            const bool list = program_.at(argument).kind == NodeKind::initializers;
            touch(given, list ? Use::update : Use::load, node, given);
        }
    }
    if (!node.pointer) {
        value.roots.clear();
    }
    if (value.roots.empty() && node.pointer) {
        value.add(object);
    }
    return value;
}

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

void Walk::communicate(const Node& node, const std::string& name, const CommunicationRoles& given,
                       const std::vector<int>& arguments, const std::vector<ReachedThrough>& how)
{
    CommunicationRoles roles = given;
    const bool known = given.send >= 0 || given.receive >= 0 || given.comm >= 0;
    if (std::max({given.send, given.receive, given.comm, given.stream}) >= static_cast<int>(arguments.size()) &&
        given.stream != static_cast<int>(arguments.size())) {
        // Arguments that were not understood are not there: which of them are is not known.
        roles = CommunicationRoles{given.family};
    }
    CommunicationCall call;
    const auto at = [&](int i) {
        return i >= 0 && static_cast<std::size_t>(i) < arguments.size() ? arguments[static_cast<std::size_t>(i)] : -1;
    };
    const auto text = [&](int i) { return at(i) < 0 ? std::string() : program_.text(at(i)); };
    call.operation = name;
    call.family = roles.family;
    call.file = fileOf(node);
    call.line = node.line;
    call.function = frame().function >= 0 ? program_.declared(frame().function).name : "";
    call.entry = entry_;
    call.through = chain_;
    call.through.insert(call.through.end(), how.begin(), how.end());
    call.reads = at(roles.send) < 0 ? std::vector<std::string>() : namesOf(evaluate(at(roles.send)));
    call.writes = at(roles.receive) < 0 ? std::vector<std::string>() : namesOf(evaluate(at(roles.receive)));
    call.count = text(roles.count);
    call.type = text(roles.type);
    call.peer = text(roles.peer);
    call.comm = at(roles.comm) < 0 ? "" : nameOf(evaluate(at(roles.comm)), at(roles.comm));
    const bool on_stream = roles.stream >= 0;
    call.stream = at(roles.stream) < 0 ? "" : streamOf(at(roles.stream));
    if (at(roles.comm) >= 0 && call.comm.empty()) {
        call.comm = text(roles.comm);
    }
    call.in_group = groups_ > 0;
    call.in_loop = loops_ > 0;
    call.resolved = known;
    if (roles.send < 0 && roles.receive < 0) {
        for (const int argument : arguments) {
            if (program_.at(argument).pointer) {
                for (const std::string& buffer : namesOf(evaluate(argument))) {
                    addName(call.reads, buffer);
                }
            }
        }
    }
    for (const auto* names : {&call.reads, &call.writes}) {
        std::ranges::for_each(*names, [&](const std::string& buffer) { noteBuffer(buffer); });
    }
    if (!call.stream.empty()) {
        noteStream(call.stream);
    }
    Operation operation;
    operation.kind = "communication";
    operation.label = name;
    operation.stream = on_stream ? call.stream : "";
    operation.entry = entry_;
    operation.file = call.file;
    operation.line = call.line;
    operation.reads = call.reads;
    operation.writes = call.writes;
    const std::string key = chainKey(node) + name;
    if (call.resolved) {
        graph_.run(key, operation, !on_stream);
    }
    if (roles.family == CommunicationFamily::mpi && name.ends_with("arrier")) {
        synchronise(node, {name, "world", call.comm, "", "", "", 0});
    }
    if (seen_.insert("c" + key).second) {
        if (analysis_.communication.size() == most_listed) {
            analysis_.truncated = true;
        } else {
            analysis_.communication.push_back(std::move(call));
        }
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
