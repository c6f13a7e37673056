// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/source/analysis_walk.h"

#include <algorithm>

namespace cuco::analysis {

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

}  // namespace cuco::analysis
