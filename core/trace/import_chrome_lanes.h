// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/trace/import_builder.h"
#include "core/trace/import_chrome_event.h"

#include <array>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace cuco {

/// A rank's number; none when it is negative or beyond any machine's.
std::optional<int> rankIn(std::string_view text);

/// Finds out which lane and rank each event of a Chrome trace belongs to, and what it did there.
class ChromeLanes {
public:
    ChromeLanes();

    /// What is wrong with the event, for the middle of a sentence; null when it is taken.
    const char* take(const ChromeEvent& event);
    /// The rank that a PyTorch trace is of.
    void setRank(int rank) { rank_ = rank; }
    bool empty() const { return builder_.empty(); }
    Timeline finish(std::string title);

    // The texts that an event names by number.
    TextTable& categories() { return categories_; }
    TextTable& places() { return places_; }
    TextTable& arguments() { return arguments_; }
    TimelineBuilder& builder() { return builder_; }

private:
    enum class Kind : std::uint8_t { unknown, kernel, copy, fill, annotation, wait, ours, host };
    struct Process {
        std::string name;
        bool has_rank = false;
        int rank = 0;
    };
    struct EventLane {
        std::size_t lane = 0;
        std::uint32_t process = 0, thread = 0;
        bool gpu = false;
        std::vector<std::pair<std::size_t, std::uint32_t>> open;  ///< of B events: index and name
    };

    Kind kindOf(std::uint32_t category);
    Activity activityOf(Kind kind, const ChromeEvent& event);
    EventLane& laneOf(const ChromeEvent& event, Kind kind);
    std::uint32_t nameOf(const ChromeEvent& event);
    const char* takePair(const ChromeEvent& event);
    void takeMetadata(const ChromeEvent& event);
    std::map<std::uint32_t, int> ranksOfProcesses() const;
    void nameLane(const std::array<std::uint32_t, 3>& key, const EventLane& lane, int rank);

    TimelineBuilder builder_;
    TextTable categories_, places_, arguments_;
    std::vector<Kind> kinds_;
    std::map<std::array<std::uint32_t, 3>, EventLane> lanes_;
    std::array<std::uint32_t, 3> last_key_{};
    EventLane* last_lane_ = nullptr;
    std::set<std::uint32_t> devices_;
    std::map<std::uint32_t, Process> processes_;
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::string> threads_;
    std::vector<ChromeEvent> flows_;
    std::optional<int> rank_;
    std::int64_t latest_ns_ = INT64_MIN;
};

}  // namespace cuco
