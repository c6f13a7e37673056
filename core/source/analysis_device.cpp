// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/source/analysis_walk.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace cuco::analysis {

namespace {

constexpr std::array<std::string_view, 8> peer_pointers{
    "ncclGetLsaPointer", "ncclGetPeerPointer", "ncclGetMultimemPointer", "ncclGetLsaMultimemPointer", "lsaPtr",
    "peerPtr",           "multimemPtr",        "lsaMultimemPtr"};
constexpr std::array<std::string_view, 4> resource_pointers{
    "ncclGetResourceBufferLsaPointer", "ncclGetResourceBufferPeerPointer", "ncclGetResourceBufferLocalPointer",
    "ncclGetResourceBuffer"};
constexpr std::array<std::string_view, 8> gin_waits{
    "waitSignal", "waitSignalMeetShadow", "waitSignalFollowShadow", "waitCounter", "flush", "readSignal", "readCounter",
    "waitShadow"};

bool isOneOf(std::string_view name, const auto& names)
{
    return std::ranges::find(names, name) != names.end();
}

std::string cooperationOf(const std::string& type)
{
    return type.find("CoopThread") != std::string::npos || type.find("CoopTile<1>") != std::string::npos ? "thread"
           : type.find("CoopWarp") != std::string::npos || type.find("CoopTile<32>") != std::string::npos ||
                   type.find("CoopLanes") != std::string::npos
               ? "warp"
           : type.find("CoopCta") != std::string::npos ? "cta"
                                                       : "";
}

std::string issuerOf(const Value& index, bool one_thread)
{
    return one_thread ? "thread" : index.lane && !index.block ? "warp" : index.thread && !index.lane ? "cta" : "";
}

}  // namespace

/// Memory that a kernel reads or writes.
void Walk::touch(const Value& value, Use use, const Node& node, const Value& index)
{
    if (kernel_ == nullptr || use == Use::address) {
        return;
    }
    for (const Root& root : value.roots) {
        if (root.name.empty() || root.function >= 0) {
            continue;
        }
        const bool writes = use != Use::load, reads = use != Use::store;
        if (root.peer) {
            communicateOnDevice(node, writes ? "store_to_peer" : "load_from_peer", CommunicationFamily::nccl_lsa,
                                writes ? std::vector<std::string>() : std::vector{root.name},
                                writes ? std::vector{root.name} : std::vector<std::string>(), index);
            continue;
        }
        const auto note = [&](std::vector<std::string>& names) {
            if (std::ranges::find(names, root.name) == names.end()) {
                names.push_back(root.name);
            }
        };
        if (writes) {
            note(kernel_->writes);
        }
        if (reads) {
            note(kernel_->reads);
        }
    }
}

void Walk::communicateOnDevice(const Node& node, const std::string& operation, CommunicationFamily family,
                               std::vector<std::string> reads, std::vector<std::string> writes, const Value& index,
                               const std::string& peer)
{
    analysis_.uses_device_communication = true;
    kernel_->communicates = true;
    const std::string key = fmt::format("d{}:{}:{}:{}:{}", kernel_->name, operation, node.file, node.line,
                                        reads.empty() ? writes.empty() ? "" : writes.front() : reads.front());
    if (!seen_.insert(key).second) {
        return;
    }
    CommunicationCall call;
    call.operation = operation;
    call.family = family;
    call.file = fileOf(node);
    call.line = node.line;
    call.function = frame().function >= 0 ? program_.declared(frame().function).name : "";
    call.kernel = kernel_->name;
    call.entry = entry_;
    call.reads = std::move(reads);
    call.writes = std::move(writes);
    call.peer = peer;
    call.issuer = issuerOf(index, thread_guards_ > 0);
    call.in_loop = loops_ > 0;
    analysis_.communication.push_back(std::move(call));
}

std::optional<Value> Walk::callDevice(const Node& node, const std::string& name, const std::vector<int>& arguments,
                                      const Value& object)
{
    const auto windowOf = [&](const Value& given, bool peer) {
        Value value;
        for (const Root& root : given.roots) {
            const auto registered = windows_.find(root.name);
            value.add(Root{
                .name = registered == windows_.end() ? root.name : registered->second, .peer = peer, .window = true});
        }
        for (const int argument : arguments) {
            const Value number = evaluate(argument);
            value.thread = value.thread || number.thread;
            value.lane = value.lane || number.lane;
            value.block = value.block || number.block;
        }
        return value;
    };
    if (name == "ncclGetLocalPointer" && !arguments.empty()) {
        return windowOf(evaluate(arguments[0]), false);
    }
    if (name == "localPtr") {
        return windowOf(object, false);
    }
    if (isOneOf(name, peer_pointers) && (name.starts_with("nccl") ? !arguments.empty() : !object.roots.empty())) {
        Value value = windowOf(name.starts_with("nccl") ? evaluate(arguments[0]) : object, true);
        // The own rank's number gives the own memory.
        const std::string peer = arguments.empty() ? "" : evaluate(arguments.back()).text;
        if (peer == "rank" || peer == "lsaRank") {
            std::ranges::for_each(value.roots, [](Root& root) { root.peer = false; });
        }
        if (kernel_ != nullptr) {
            analysis_.uses_device_communication = true;
        }
        return value;
    }
    if (isOneOf(name, resource_pointers)) {
        Value value;
        value.add(Root{.name = "resource buffer", .peer = name.find("Local") == std::string::npos, .window = true});
        return value;
    }
    if (kernel_ == nullptr) {
        return std::nullopt;
    }
    const Node& callee = program_.at(node.children.front());
    const std::string type = callee.kind == NodeKind::member && !callee.children.empty() &&
                                     program_.at(callee.children.front()).declaration >= 0
                                 ? program_.declared(program_.at(callee.children.front()).declaration).type
                                 : "";
    bool gin = type.find("ncclGin") != std::string::npos && type.find("Session") == std::string::npos;
    const auto text = [&](std::size_t i) { return i < arguments.size() ? program_.text(arguments[i]) : std::string(); };
    const std::string scope = node.declaration >= 0 ? program_.declared(node.declaration).scope : "";
    if (scope == "ncclGin") {
        gin = true;
    }
    if (gin && (name == "put" || name == "putValue" || name == "signal")) {
        std::vector<std::string> reads, writes;
        if (name != "signal" && arguments.size() > 2) {
            for (const std::string& window : namesOf(windowOf(evaluate(arguments[2]), true))) {
                writes.push_back(window);
            }
        }
        if (name == "put" && arguments.size() > 4) {
            // Windows and offsets, or two pointers into windows.
            const bool by_window = arguments.size() > 6 && program_.at(arguments[3]).kind != NodeKind::construct;
            for (const std::string& window : namesOf(windowOf(evaluate(arguments[by_window ? 4 : 3]), false))) {
                reads.push_back(window);
            }
        }
        Value index;
        for (std::size_t i = 5; i < arguments.size(); ++i) {
            const std::string cooperation = cooperationOf(program_.text(arguments[i]));
            index.lane = index.lane || cooperation == "warp";
            index.thread = index.thread || cooperation == "cta";
        }
        communicateOnDevice(node, "gin_" + name, CommunicationFamily::nccl_gin, std::move(reads), std::move(writes),
                            index, text(1));
        if (!index.lane && !index.thread) {
            analysis_.communication.back().issuer = "thread";  // NCCL's default cooperation
        }
        return Value();
    }
    if (gin && isOneOf(name, gin_waits)) {
        analysis_.uses_device_communication = true;
        synchronise(node, {"gin_" + name, name == "flush" ? "" : "peer", text(1), cooperationOf(text(0)), "", "", 0});
        return Value();
    }
    if (type.find("BarrierSession") != std::string::npos || scope.find("BarrierSession") != std::string::npos) {
        return Value();  // told where it is made
    }
    if (scope == "cuco_atomic_operations" || type.find("atomic_ref<") != std::string::npos ||
        type.find("atomic<") != std::string::npos || name.starts_with("atomic") || name.starts_with("__ld") ||
        name.starts_with("__st")) {
        const bool member = callee.kind == NodeKind::member;
        Value target = member ? object : arguments.empty() ? Value() : evaluate(arguments[0]);
        for (std::size_t i = member ? 0 : 1; i < arguments.size(); ++i) {
            evaluate(arguments[i]);
        }
        const bool loads = name == "load" || name == "wait" || name.starts_with("__ld") || name == "operator";
        const bool stores = name == "store" || name.starts_with("__st");
        const bool shared_with_peers = std::ranges::any_of(target.roots, &Root::window);
        // Nobody flags anything to a peer by a kernel's plain loads and stores of data.
        const bool flag = member || name.ends_with("_system") || name == "__ldcv";
        if (flag && shared_with_peers) {
            const bool peers = std::ranges::any_of(target.roots, &Root::peer);
            const std::string object_name = target.roots.empty() ? "" : target.roots.front().name;
            analysis_.uses_device_communication = true;
            if (loads ? waiting_ || loops_ > 0 : peers) {
                synchronise(node, {loads ? "flag_wait" : "flag_store", "", object_name,
                                   issuerOf(target, thread_guards_ > 0), "", "", 0});
                kernel_->communicates = kernel_->communicates || !loads;
            }
            return Value();
        }
        touch(target, loads ? Use::load : stores ? Use::store : Use::update, node, target);
        return Value();
    }
    if (name == "mma_sync") {
        kernel_->computes = true;
        return Value();
    }
    if (name == "fmaf" || name == "__fmaf_rn" || name == "__hfma" || name == "__hfma2") {
        kernel_->computes = true;
        return std::nullopt;
    }
    if ((name == "load_matrix_sync" || name == "store_matrix_sync") && arguments.size() > 1) {
        const bool loads = name[0] == 'l';
        const Value memory = evaluate(arguments[loads ? 1 : 0]);
        touch(memory, loads ? Use::load : Use::store, node, memory);
        return Value();
    }
    if ((name == "memcpy" || name == "__builtin_memcpy") && arguments.size() > 1) {
        const Value to = evaluate(arguments[0]), from = evaluate(arguments[1]);
        touch(to, Use::store, node, to);
        touch(from, Use::load, node, from);
        return Value();
    }
    return std::nullopt;
}

Value Walk::construct(const Node& node)
{
    const Declaration* const declared = node.declaration >= 0 ? &program_.declared(node.declaration) : nullptr;
    const bool session = node.name.find("BarrierSession") != std::string::npos;
    Value value;
    std::string all;
    for (const int argument : node.children) {
        all += program_.text(argument) + " ";
    }
    if (session && kernel_ != nullptr) {
        analysis_.uses_device_communication = true;
        const bool inner = all.find("InnerFactor") != std::string::npos ||
                           all.find("OuterFactor") != std::string::npos || all.find("Rail") != std::string::npos;
        const bool whole = all.find("TagLsa") != std::string::npos || all.find("TagWorld") != std::string::npos ||
                           all.find("TeamLsa") != std::string::npos || all.find("TeamWorld") != std::string::npos;
        synchronise(node,
                    {node.name.substr(0, node.name.find('<')), whole && !inner ? "world" : "team",
                     node.children.size() > 2 ? program_.text(node.children[2]) : "", cooperationOf(all), "", "", 0});
        return value;
    }
    if (node.name.starts_with("ncclGin") && kernel_ != nullptr) {
        analysis_.uses_device_communication = true;
        return value;
    }
    if (declared != nullptr && declared->body >= 0) {
        std::vector<Value> arguments;
        for (const int argument : node.children) {
            arguments.push_back(evaluate(argument, Use::address));
        }
        for (const Value& argument : arguments) {
            for (Root root : argument.roots) {
                root.part = true;
                value.add(root);
            }
        }
        enter(node.declaration, arguments, {}, node);
        return node.children.size() == 1 || !value.roots.empty() ? value : Value();
    }
    const bool reference = node.name.starts_with("atomic");
    for (const int argument : node.children) {
        Value given = evaluate(argument, reference || node.children.size() == 1 ? Use::address : Use::load);
        value.add(given);
    }
    return value;
}

Walk::KernelUse Walk::runKernel(int function, const std::vector<Value>& arguments, const Node& at)
{
    KernelUse use;
    use.name = program_.declared(function).name;
    std::string key = fmt::format("{}", function);
    for (const Value& argument : arguments) {
        key += '(';
        for (const Root& root : argument.roots) {
            key += root.name + (root.peer ? "^," : ",");
        }
    }
    if (const auto known = kernels_.find(key); known != kernels_.end()) {
        return known->second;
    }
    if (program_.declared(function).body >= 0) {
        const int loops = std::exchange(loops_, 0), guards = std::exchange(thread_guards_, 0);
        KernelUse* const outer = std::exchange(kernel_, &use);
        enter(function, arguments, {}, at);
        kernel_ = outer;
        loops_ = loops;
        thread_guards_ = guards;
    }
    kernels_.emplace(key, use);
    return use;
}

void Walk::addLaunch(KernelLaunch launch, const KernelUse& use, const Node& node)
{
    launch.file = fileOf(node);
    launch.line = node.line;
    launch.in_loop = loops_ > 0;
    launch.communicates = use.communicates;
    launch.computes = use.computes;
    launch.reads = use.reads;
    launch.writes = use.writes;
    Operation operation;
    operation.kind = "kernel";
    operation.label = launch.kernel;
    operation.stream = launch.stream;
    operation.entry = entry_;
    operation.file = launch.file;
    operation.line = launch.line;
    operation.reads = use.reads;
    operation.writes = use.writes;
    // What a kernel does to peers' copies is seen from the other side: by the peers' kernels here.
    for (const CommunicationCall& call : analysis_.communication) {
        if (call.kernel == launch.kernel && !call.writes.empty() && call.family == CommunicationFamily::nccl_lsa) {
            for (const std::string& name : call.writes) {
                if (std::ranges::find(operation.writes, name) == operation.writes.end()) {
                    operation.writes.push_back(name);
                }
            }
        }
    }
    for (const auto* names : {&operation.reads, &operation.writes}) {
        std::ranges::for_each(*names, [&](const std::string& buffer) { noteBuffer(buffer); });
    }
    noteStream(launch.stream);
    const std::string key = chainKey(node) + launch.kernel;
    graph_.run(key, operation, false);
    if (seen_.insert("l" + key).second) {
        if (analysis_.launches.size() == 2000) {
            analysis_.truncated = true;
            return;
        }
        analysis_.launches.push_back(std::move(launch));
    }
}

void Walk::launch(int index)
{
    const Node& node = program_.at(index);
    KernelLaunch launch;
    const Node& configuration = program_.at(node.children[1]);
    std::vector<std::string*> parts{&launch.grid, &launch.block, &launch.shared};
    launch.stream = "default";
    for (std::size_t i = 1; i < configuration.children.size() && i < 5; ++i) {
        const int part = configuration.children[i];
        const Node& here = program_.at(part);
        if (i < 4) {
            *parts[i - 1] = here.end > here.begin ? program_.text(part) : "";
        } else if (here.end > here.begin) {
            launch.stream = streamOf(part);
        }
    }
    std::vector<Value> arguments;
    for (std::size_t i = 2; i < node.children.size(); ++i) {
        launch.arguments.push_back(program_.text(node.children[i]));
        arguments.push_back(evaluate(node.children[i], Use::load));
    }
    const Value pointer = node.declaration >= 0 && program_.declared(node.declaration).kind == DeclarationKind::function
                              ? Value()
                              : evaluate(node.children.front());
    const int kernel =
        pointer.roots.empty() || pointer.roots.front().function < 0 ? node.declaration : pointer.roots.front().function;
    launch.kernel = kernel >= 0 ? program_.declared(kernel).name : node.name;
    const KernelUse use = kernel >= 0 && program_.declared(kernel).kind == DeclarationKind::function
                              ? runKernel(kernel, arguments, node)
                              : KernelUse();
    addLaunch(std::move(launch), use, node);
}

/// cudaLaunchKernel, cudaLaunchCooperativeKernel, cudaLaunchKernelEx.
void Walk::launchByCall(const Node& node, const std::string& name, const std::vector<int>& arguments)
{
    const bool extended = name.starts_with("cudaLaunchKernelEx");
    const std::size_t function_at = extended ? 1 : 0;
    if (arguments.size() <= function_at) {
        return;
    }
    KernelLaunch launch;
    launch.stream = "default";
    launch.cooperative = name == "cudaLaunchCooperativeKernel";
    const Value function = evaluate(arguments[function_at], Use::address);
    std::vector<Value> given;
    if (extended) {
        for (std::size_t i = 2; i < arguments.size(); ++i) {
            launch.arguments.push_back(program_.text(arguments[i]));
            given.push_back(evaluate(arguments[i]));
        }
        launch.grid = program_.text(arguments[0]);
    } else {
        launch.grid = arguments.size() > 1 ? program_.text(arguments[1]) : "";
        launch.block = arguments.size() > 2 ? program_.text(arguments[2]) : "";
        launch.shared = arguments.size() > 4 ? program_.text(arguments[4]) : "";
        if (arguments.size() > 3) {
            given = evaluate(arguments[3]).items;
            const Node& list = program_.at(arguments[3]);
            if (list.kind == NodeKind::name && list.declaration >= 0) {
                given = valueOf(list.declaration).items;
                if (program_.declared(list.declaration).body >= 0) {
                    for (const int item : program_.at(program_.declared(list.declaration).body).children) {
                        launch.arguments.push_back(program_.text(item));
                    }
                }
            }
        }
        if (arguments.size() > 5 && program_.at(arguments[5]).end > program_.at(arguments[5]).begin) {
            launch.stream = streamOf(arguments[5]);
        }
    }
    const int kernel = function.roots.empty() ? -1 : function.roots.front().function;
    launch.kernel = kernel >= 0 ? program_.declared(kernel).name : program_.text(arguments[function_at]);
    addLaunch(std::move(launch), kernel >= 0 ? runKernel(kernel, given, node) : KernelUse(), node);
}

}  // namespace cuco::analysis
