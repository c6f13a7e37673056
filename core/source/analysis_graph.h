// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/source/analysis.h"

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <vector>

namespace cuco::analysis {

/// Plays the host's calls in order and finds which operation needs which: each stream, event and the host knows the
/// operations that are over before its next one begins.
class DependencyGraph {
public:
    explicit DependencyGraph(CudaAnalysis& analysis) : analysis_(analysis) {}

    /// One more execution of an operation; `key` tells operations apart. Host work has an empty stream.
    void run(const std::string& key, const Operation& operation, bool blocks);
    void record(const std::string& event, const std::string& stream);
    void wait(const std::string& stream, const std::string& event);
    void hostWaitsForStream(const std::string& stream);
    void hostWaitsForEvent(const std::string& event);
    void hostWaitsForAll();

    /// What two branches of an if begin from and come together to.
    struct State;
    State state() const { return state_; }
    void restore(State state) { state_ = std::move(state); }
    void join(const State& other);
    /// A new run of the program: what ran before is over.
    void beginEntry() { hostWaitsForAll(); }

    class Set {
    public:
        void add(std::size_t index);
        void add(const Set& other);
        bool has(std::size_t index) const;

    private:
        std::vector<std::uint64_t> words_;
    };
    struct Accesses {
        std::vector<std::size_t> writers, readers;
    };
    struct State {
        std::map<std::string, Set> streams, events;
        std::map<std::string, std::vector<std::pair<std::string, Set>>> waited;  ///< by a stream: event, what it covers
        Set host;
        std::map<std::string, Accesses> buffers;
    };

private:
    void depend(std::size_t from, std::size_t to, const std::string& buffer, const char* kind, const Set& before);
    std::string orderOf(std::size_t from, const std::string& stream, const Set& before) const;

    CudaAnalysis& analysis_;
    State state_;
    struct Instance {
        int operation;
        std::string stream;
    };
    std::vector<Instance> instances_;
    std::map<std::string, int> operations_;
    std::map<std::tuple<int, int, std::string, std::string>, std::size_t> edges_;
};

}  // namespace cuco::analysis
