// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/source/analysis_walk.h"

#include <algorithm>

namespace cuco::analysis {

namespace {

constexpr std::size_t most_frames = 24;
constexpr int most_doubled = 2;

}  // namespace

Walk::Walk(const Program& program, CudaAnalysis& analysis)
    : program_(program),
      analysis_(analysis),
      graph_(analysis),
      acts_(program.nodes.size(), -1),
      function_acts_(program.declarations.size(), -1)
{
}

void Walk::run()
{
    std::set<int> called;
    for (const Node& node : program_.nodes) {
        if (node.declaration >= 0 && node.kind != NodeKind::variable) {
            called.insert(node.declaration);
        }
    }
    std::vector<int> hosts, kernels;
    for (int i = 0; i < static_cast<int>(program_.declarations.size()); ++i) {
        const Declaration& function = program_.declared(i);
        if (function.kind == DeclarationKind::function && function.body >= 0) {
            (function.kernel ? kernels : hosts).push_back(i);
        }
    }
    // Setting up comes before running, and tearing down last.
    const auto rank = [&](int function) {
        const std::string& name = program_.declared(function).name;
        return name == "cuco_setup" ? 0 : name == "cuco_teardown" ? 2 : 1;
    };
    std::ranges::stable_sort(hosts, {}, rank);
    for (const int host : hosts) {
        if (!called.contains(host) && !program_.declared(host).device &&
            (program_.declared(host).file == 0 || program_.declared(host).name == "main")) {
            runEntry(host);
        }
    }
    // Recursive ones, and those whose callers were not understood.
    for (const int host : hosts) {
        if (!entered_.contains(host) && !program_.declared(host).device && program_.declared(host).file == 0) {
            runEntry(host);
        }
    }
    for (const int kernel : kernels) {
        if (!entered_.contains(kernel) && program_.declared(kernel).file == 0) {
            entry_ = program_.declared(kernel).name;
            frames_.emplace_back();
            std::vector<Value> arguments;
            for (const int parameter : program_.declared(kernel).parameters) {
                Value value;
                value.add(Root{.name = program_.declared(parameter).name});
                arguments.push_back(std::move(value));
            }
            runKernel(kernel, arguments, program_.at(program_.declared(kernel).body));
            frames_.pop_back();
        }
    }
    std::erase_if(analysis_.buffers, [&](const Buffer& buffer) { return helpers_.contains(buffer.name); });
}

void Walk::runEntry(int function)
{
    const Declaration& declaration = program_.declared(function);
    if (!mayAct(declaration.body)) {
        entered_.insert(function);
        return;
    }
    graph_.beginEntry();
    entry_ = declaration.name;
    frames_.emplace_back();
    std::vector<Value> arguments;
    for (const int parameter : declaration.parameters) {
        const Declaration& given = program_.declared(parameter);
        Value value;
        Root root{.name = given.name};
        root.bare = given.record_pointer || given.type.find("void *") != std::string::npos ||
                    given.type.find("cuco_") != std::string::npos;
        value.add(root);
        arguments.push_back(std::move(value));
    }
    enter(function, arguments, {}, program_.at(declaration.body));
    frames_.pop_back();
}

/// Whether the part of the tree calls anything that the analysis reports.
bool Walk::mayAct(int node)
{
    signed char& known = acts_[static_cast<std::size_t>(node)];
    if (known >= 0) {
        return known != 0;
    }
    known = 0;  // what calls itself does so again
    const Node& here = program_.at(node);
    bool acts = here.kind == NodeKind::launch;
    if (!acts && here.kind == NodeKind::call) {
        const std::string& name = here.name;
        acts = name.starts_with("cuda") || name.starts_with("cu") || name.starts_with("nccl") ||
               name.starts_with("pnccl") || name.starts_with("MPI_") || name.starts_with("PMPI_") ||
               here.declaration < 0 || program_.declared(here.declaration).kind != DeclarationKind::function;
        if (!acts && program_.declared(here.declaration).body >= 0) {
            acts = mayAct(program_.declared(here.declaration).body);
        }
    }
    if (!acts && here.kind == NodeKind::construct && here.declaration >= 0 &&
        program_.declared(here.declaration).body >= 0) {
        acts = mayAct(program_.declared(here.declaration).body);
    }
    for (std::size_t i = 0; !acts && i < here.children.size(); ++i) {
        acts = mayAct(here.children[i]);
    }
    acts_[static_cast<std::size_t>(node)] = acts ? 1 : 0;
    return acts;
}

/// return, break or continue at its end.
bool Walk::endsFlow(int node) const
{
    const Node& here = program_.at(node);
    return here.kind == NodeKind::returns ||
           (here.kind == NodeKind::other && !here.children.empty() && endsFlow(here.children.back()));
}

void Walk::runLoop(const Node& node)
{
    const bool once = node.parts == 1;
    const bool twice = !once && kernel_ == nullptr && doubled_ < most_doubled &&
                       std::ranges::any_of(node.children, [&](int child) { return mayAct(child); });
    loops_ += once ? 0 : 1;
    doubled_ += twice ? 1 : 0;
    Value range;
    for (int turn = 0; turn < (twice ? 2 : 1); ++turn) {
        for (std::size_t i = 0; i < node.children.size(); ++i) {
            // while (condition) body, for (…; condition; …) body: all but the body may spin.
            const bool was_waiting = waiting_;
            waiting_ = !once && i + 1 < node.children.size();
            const Node& child = program_.at(node.children[i]);
            if (node.name == "range" && i == 0) {
                range = evaluate(node.children[i], Use::address);
                std::ranges::for_each(range.roots, [](Root& root) { root.part = false; });
            } else if (node.name == "range" && i == 1 && child.kind == NodeKind::variable) {
                frame().values[child.declaration] = range;
            } else {
                evaluate(node.children[i]);
            }
            waiting_ = was_waiting;
        }
    }
    doubled_ -= twice ? 1 : 0;
    loops_ -= once ? 0 : 1;
}

void Walk::runBranch(const Node& node)
{
    const std::size_t conditions = node.parts;
    bool one_thread = false;
    for (std::size_t i = 0; i < conditions && i < node.children.size(); ++i) {
        const Node& condition = program_.at(node.children[i]);
        const Value value = evaluate(node.children[i]);
        one_thread = one_thread ||
                     (condition.kind == NodeKind::binary && condition.name == "==" && (value.thread || value.lane));
    }
    thread_guards_ += one_thread ? 1 : 0;
    if (conditions < node.children.size()) {
        const int then = node.children[conditions];
        const bool acts = kernel_ == nullptr && mayAct(then);
        const auto before = acts ? std::optional(graph_.state()) : std::nullopt;
        evaluate(then);
        std::optional<DependencyGraph::State> after;
        if (acts) {
            after = graph_.state();
            graph_.restore(*before);
        }
        thread_guards_ -= one_thread ? 1 : 0;
        one_thread = false;
        if (conditions + 1 < node.children.size()) {
            evaluate(node.children[conditions + 1]);
        }
        if (acts && !endsFlow(then)) {
            graph_.join(*after);
        }
    }
    thread_guards_ -= one_thread ? 1 : 0;
}

Value Walk::enter(int function, const std::vector<Value>& arguments, const Value& object, const Node& call)
{
    const Declaration& declared = program_.declared(function);
    const bool runs_already =
        std::ranges::any_of(frames_, [&](const Frame& running) { return running.function == function; });
    if (runs_already || frames_.size() > most_frames) {
        return {};
    }
    entered_.insert(function);
    Frame inner;
    inner.function = function;
    inner.object = object;
    inner.called_line = call.line;
    for (std::size_t i = 0; i < declared.parameters.size(); ++i) {
        Value value = i < arguments.size() ? arguments[i] : Value();
        inner.values[declared.parameters[i]] = std::move(value);
    }
    // From the contract's functions on, a hop is not worth a word.
    const std::string from = frames_.back().function >= 0 ? program_.declared(frames_.back().function).name : "";
    const bool told = kernel_ == nullptr && !from.empty() && !from.starts_with("cuco_");
    if (told) {
        chain_.push_back({"wrapper", declared.name, call.line});
    }
    frames_.push_back(std::move(inner));
    evaluate(declared.body);
    Value result = std::move(frames_.back().result);
    frames_.pop_back();
    if (told) {
        chain_.pop_back();
    }
    return result;
}

}  // namespace cuco::analysis
