// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/source/analysis_graph.h"

#include <algorithm>

namespace cuco::analysis {

namespace {

constexpr std::size_t most_instances = 4096, most_edges = 4096;

void addAll(std::vector<std::string>& to, const std::vector<std::string>& from)
{
    for (const std::string& name : from) {
        if (std::ranges::find(to, name) == to.end()) {
            to.push_back(name);
        }
    }
}

/// The contract's outputs lie in the symmetric memory.
bool overlap(const std::string& a, const std::string& b)
{
    const auto isOutput = [](const std::string& name) { return name.starts_with("outputs["); };
    return a == b || (a == "symmetric_base" && isOutput(b)) || (b == "symmetric_base" && isOutput(a)) ||
           (isOutput(a) && isOutput(b) && (a.find('*') != std::string::npos || b.find('*') != std::string::npos));
}

}  // namespace

void DependencyGraph::Set::add(std::size_t index)
{
    words_.resize(std::max(words_.size(), index / 64 + 1), 0);
    words_[index / 64] |= std::uint64_t(1) << (index % 64);
}

void DependencyGraph::Set::add(const Set& other)
{
    words_.resize(std::max(words_.size(), other.words_.size()), 0);
    for (std::size_t i = 0; i < other.words_.size(); ++i) {
        words_[i] |= other.words_[i];
    }
}

bool DependencyGraph::Set::has(std::size_t index) const
{
    return index / 64 < words_.size() && (words_[index / 64] >> (index % 64) & 1) != 0;
}

std::string DependencyGraph::orderOf(std::size_t from, const std::string& stream, const Set& before) const
{
    if (!before.has(from)) {
        return "none";
    }
    if (instances_[from].stream == stream) {
        return stream.empty() ? "host" : "stream " + stream;
    }
    if (const auto waited = state_.waited.find(stream); waited != state_.waited.end()) {
        for (const auto& [event, covered] : waited->second) {
            if (covered.has(from)) {
                return "event " + event;
            }
        }
    }
    return "host";
}

void DependencyGraph::depend(std::size_t from, std::size_t to, const std::string& buffer, const char* kind,
                             const Set& before)
{
    const int a = instances_[from].operation, b = instances_[to].operation;
    if (a == b) {
        return;
    }
    const std::string order = orderOf(from, instances_[to].stream, before);
    const auto [found, added] = edges_.try_emplace({a, b, buffer, kind}, analysis_.dependencies.size());
    if (!added) {
        // Two turns of a loop may differ; what is not ordered is the more telling.
        Dependency& known = analysis_.dependencies[found->second];
        if (order == "none") {
            known.order = order;
        }
        return;
    }
    if (analysis_.dependencies.size() == most_edges) {
        analysis_.truncated = true;
        edges_.erase(found);
        return;
    }
    analysis_.dependencies.push_back({a, b, buffer, kind, order, a >= b});
}

void DependencyGraph::run(const std::string& key, const Operation& operation, bool blocks)
{
    if (instances_.size() == most_instances) {
        analysis_.truncated = true;
        return;
    }
    const auto [found, added] = operations_.try_emplace(key, static_cast<int>(analysis_.operations.size()));
    if (added) {
        analysis_.operations.push_back(operation);
        analysis_.operations.back().id = found->second;
    } else {
        Operation& known = analysis_.operations[static_cast<std::size_t>(found->second)];
        addAll(known.reads, operation.reads);
        addAll(known.writes, operation.writes);
    }
    const std::size_t index = instances_.size();
    instances_.push_back({found->second, operation.stream});
    Set before = state_.host;
    Set& stream = operation.stream.empty() ? state_.host : state_.streams[operation.stream];
    before.add(stream);
    // The accesses of all buffers that may be the same.
    const auto each = [&](const std::string& name, auto&& use) {
        state_.buffers[name];
        for (auto& [other, accesses] : state_.buffers) {
            if (overlap(name, other)) {
                use(accesses);
            }
        }
    };
    for (const std::string& name : operation.reads) {
        each(name, [&](Accesses& accesses) {
            for (const std::size_t writer : accesses.writers) {
                depend(writer, index, name, "flow", before);
            }
        });
    }
    for (const std::string& name : operation.writes) {
        each(name, [&](Accesses& accesses) {
            for (const std::size_t writer : accesses.writers) {
                if (writer != index && instances_[writer].operation != found->second) {
                    depend(writer, index, name, "rewrite", before);
                }
            }
            for (const std::size_t reader : accesses.readers) {
                if (reader != index && instances_[reader].operation != found->second) {
                    depend(reader, index, name, "reuse", before);
                }
            }
        });
    }
    for (const std::string& name : operation.reads) {
        state_.buffers[name].readers.push_back(index);
    }
    for (const std::string& name : operation.writes) {
        Accesses& accesses = state_.buffers[name];
        const auto over = [&](std::size_t other) { return before.has(other); };
        std::erase_if(accesses.writers, over);
        std::erase_if(accesses.readers, over);
        accesses.writers.push_back(index);
    }
    stream = std::move(before);
    stream.add(index);
    if (blocks) {
        state_.host.add(stream);
    }
}

void DependencyGraph::record(const std::string& event, const std::string& stream)
{
    Set covered = state_.host;
    covered.add(state_.streams[stream]);
    state_.events[event] = std::move(covered);
}

void DependencyGraph::wait(const std::string& stream, const std::string& event)
{
    const auto found = state_.events.find(event);
    if (found == state_.events.end()) {
        return;
    }
    state_.streams[stream].add(found->second);
    auto& waited = state_.waited[stream];
    std::erase_if(waited, [&](const auto& earlier) { return earlier.first == event; });
    waited.insert(waited.begin(), {event, found->second});
}

void DependencyGraph::hostWaitsForStream(const std::string& stream)
{
    state_.host.add(state_.streams[stream]);
}

void DependencyGraph::hostWaitsForEvent(const std::string& event)
{
    if (const auto found = state_.events.find(event); found != state_.events.end()) {
        state_.host.add(found->second);
    }
}

void DependencyGraph::hostWaitsForAll()
{
    for (const auto& [name, stream] : state_.streams) {
        state_.host.add(stream);
    }
}

void DependencyGraph::join(const State& other)
{
    for (const auto& [name, set] : other.streams) {
        state_.streams[name].add(set);
    }
    for (const auto& [name, set] : other.events) {
        state_.events[name].add(set);
    }
    for (const auto& [name, list] : other.waited) {
        auto& waited = state_.waited[name];
        for (const auto& [event, set] : list) {
            const auto known = std::ranges::find(waited, event, &std::pair<std::string, Set>::first);
            if (known == waited.end()) {
                waited.emplace_back(event, set);
            } else {
                known->second.add(set);
            }
        }
    }
    state_.host.add(other.host);
    for (const auto& [name, accesses] : other.buffers) {
        Accesses& here = state_.buffers[name];
        for (auto [to, from] : {std::pair{&here.writers, &accesses.writers}, {&here.readers, &accesses.readers}}) {
            for (const std::size_t index : *from) {
                if (std::ranges::find(*to, index) == to->end()) {
                    to->push_back(index);
                }
            }
        }
    }
}

}  // namespace cuco::analysis
