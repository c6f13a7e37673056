// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/trace/timeline.h"

#include <map>
#include <memory>
#include <unordered_map>

namespace cuco {

/// Numbers texts by first use.
class TextTable {
public:
    std::uint32_t number(std::string_view text);
    const std::string& operator[](std::uint32_t number) const { return *texts_[number]; }
    std::size_t size() const { return texts_.size(); }
    std::vector<std::string> take() const;

private:
    struct Hash {
        using is_transparent = void;
        std::size_t operator()(std::string_view text) const { return std::hash<std::string_view>{}(text); }
    };
    std::unordered_map<std::string, std::uint32_t, Hash, std::equal_to<>> numbers_;
    std::vector<const std::string*> texts_;
};

/// Collects intervals of any order and origin, and makes a timeline of them.
class TimelineBuilder {
public:
    /// A lane's number; `order` sorts a rank's lanes.
    std::size_t addLane(int rank, std::string name, int order);
    void renameLane(std::size_t lane, int rank, std::string name, int order);
    std::uint32_t name(std::string_view text);
    const std::string& nameText(std::uint32_t name) const { return names_[name]; }
    /// False when there is no room any more: it is counted as dropped. Times may be negative.
    bool add(std::size_t lane, const Interval& interval);
    /// Ends an interval that was added without one. The newest has the greatest index.
    void setEnd(std::size_t lane, std::size_t index, std::int64_t end_ns);
    std::size_t count(std::size_t lane) const { return lanes_[lane].lane.intervals.size(); }
    /// An arrow's end at the innermost interval around that moment.
    void addFlow(std::size_t lane, std::int64_t moment_ns, std::uint32_t flow);
    void note(std::string sentence);
    void drop(std::uint64_t records) { dropped_ += records; }
    bool empty() const { return intervals_ == 0; }

    /// From 0 on, lanes by rank and order, intervals disjoint or nested.
    Timeline finish(std::string title);

private:
    struct Building {
        Lane lane;
        int order = 0;
    };
    struct FlowEnd {
        std::size_t lane;
        std::int64_t moment_ns;
        std::uint32_t flow;
    };
    void applyFlows();

    std::vector<Building> lanes_;
    TextTable names_;
    std::vector<FlowEnd> flows_;
    std::vector<std::string> notes_;
    std::uint64_t intervals_ = 0, dropped_ = 0;
};

/// A kernel that moves data between GPUs, by its name.
bool isCommunicationKernel(std::string_view name);

/// No longer than a trace needs it, without control characters.
std::string tidyName(std::string_view name);

}  // namespace cuco
