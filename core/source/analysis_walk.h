// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/source/analysis_api.h"
#include "core/source/analysis_graph.h"
#include "core/source/analysis_program.h"

#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

namespace cuco::analysis {

inline constexpr std::size_t most_listed = 2000;  ///< of each kind of finding

/// Once each, and none without a name.
void addName(std::vector<std::string>& names, const std::string& name);

/// What an expression may point to.
struct Root {
    std::string name;
    bool peer = false;     ///< another rank's copy of it
    bool bare = false;     ///< a state object: its members go by their own names
    bool part = false;     ///< one of the pointers that an aggregate was made of
    bool window = false;   ///< memory that peers can write to
    int function = -1;     ///< a function's declaration
    std::string symbol{};  ///< a function looked up by this name
    bool operator==(const Root&) const = default;
};

struct Value {
    std::vector<Root> roots;
    std::vector<Value> items;  ///< of a list
    std::string text;          ///< a string literal
    // What a number is made of.
    bool thread = false, lane = false, block = false;

    void add(const Root& root);
    void add(const Value& other);
};

/// Plays a program from its entry points: host code in order, calls of its own functions with their arguments, kernels
/// where they are launched. Loops run twice, so that what one turn leaves for the next is seen.
class Walk {
public:
    Walk(const Program& program, CudaAnalysis& analysis);
    void run();

private:
    enum class Use { load, store, update, address };
    struct Frame {
        int function = -1;
        std::size_t called_line = 0;
        std::unordered_map<int, Value> values;
        std::vector<Value> arguments;
        Value object;  ///< *this
        Value result;
    };
    /// Memory that a called function allocated, under that function's name for it.
    struct Helped {
        Buffer buffer;
        int function = -1;
        bool local = false;  ///< the name is a variable of the function
    };
    struct KernelUse {
        std::string name;
        std::vector<std::string> reads, writes;
        bool communicates = false, computes = false;
    };

    // analysis_walk.cpp: the walk itself
    void runEntry(int function);
    bool mayAct(int node);
    bool endsFlow(int node) const;
    void runLoop(const Node& node);
    void runBranch(const Node& node);
    Value enter(int function, const std::vector<Value>& arguments, const Value& object, const Node& call);

    // analysis_values.cpp: what expressions point to
    Value evaluate(int node, Use use = Use::load);
    Value evaluateAny(int node, Use use);
    Value evaluateName(const Node& node, Use use);
    Value evaluateMember(const Node& node, Use use);
    Value evaluateMemory(int node, Use use);
    Value evaluateVariable(const Node& node);
    Value evaluateBinary(const Node& node);
    Value assign(const Node& node);
    Value valueOf(int declaration);
    void keep(int target, const Value& value);
    Value adopt(const std::string& name, Value value, bool through_pointer);

    // analysis_calls.cpp: what is called, and what of it communicates
    Value call(int node);
    Value callApi(const Node& node, const std::string& name, const std::vector<int>& arguments,
                  const std::vector<ReachedThrough>& how);
    void communicate(const Node& node, const std::string& name, const CommunicationRoles& roles,
                     const std::vector<int>& arguments, const std::vector<ReachedThrough>& how);

    // analysis_runtime.cpp: what calls of the CUDA runtime do
    bool callRuntime(const Node& node, const std::string& name, const std::vector<int>& arguments);
    void copy(const Node& node, const std::string& name, const CopyRoles& roles, const std::vector<int>& arguments);
    void allocate(const Node& node, const std::string& name, const AllocationRoles& roles,
                  const std::vector<int>& arguments);
    void synchronise(const Node& node, Synchronisation synchronisation);

    // analysis_device.cpp: what kernels do, and how they are launched
    void touch(const Value& value, Use use, const Node& node, const Value& index);
    Value construct(const Node& node);
    std::optional<Value> callDevice(const Node& node, const std::string& name, const std::vector<int>& arguments,
                                    const Value& object);
    void launch(int node);
    void launchByCall(const Node& node, const std::string& name, const std::vector<int>& arguments);
    KernelUse runKernel(int function, const std::vector<Value>& arguments, const Node& at);
    void addLaunch(KernelLaunch launch, const KernelUse& use, const Node& node);
    void communicateOnDevice(const Node& node, const std::string& operation, CommunicationFamily family,
                             std::vector<std::string> reads, std::vector<std::string> writes, const Value& index,
                             const std::string& peer = {});

    // analysis_names.cpp: what buffers, streams and events are called
    std::string nameOf(const Value& value, int node) const;
    std::string streamOf(int node);
    std::vector<std::string> namesOf(const Value& value) const;
    std::string chainKey(const Node& node) const;
    void noteBuffer(const std::string& name);
    Stream& noteStream(const std::string& name);
    Event& noteEvent(const std::string& name);

    std::string fileOf(const Node& node) const { return program_.files[static_cast<std::size_t>(node.file)].name; }
    Frame& frame() { return frames_.back(); }

    const Program& program_;
    CudaAnalysis& analysis_;
    DependencyGraph graph_;
    std::deque<Frame> frames_;  ///< which stay where they are while others come and go
    std::vector<ReachedThrough> chain_;
    std::string entry_;
    std::map<std::string, Value> contents_;       ///< what members and arrays of pointers hold
    std::map<std::string, std::string> windows_;  ///< window → buffer
    std::map<std::string, std::string> handles_;  ///< a library's handle → stream
    std::map<std::string, Helped> allocated_in_;  ///< by helpers, as they call it; its last allocation
    std::set<std::string> helpers_;
    std::map<int, Value> globals_;
    std::map<std::string, KernelUse> kernels_;
    std::set<std::string> seen_;
    std::set<int> entered_;
    std::vector<signed char> acts_;
    std::vector<signed char> function_acts_;
    KernelUse* kernel_ = nullptr;
    int loops_ = 0, groups_ = 0, doubled_ = 0, thread_guards_ = 0;
    bool waiting_ = false;  ///< in a loop's condition
    std::size_t steps_ = 0;
};

}  // namespace cuco::analysis
