// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/trace/import_builder.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace cuco {

namespace {

constexpr std::size_t most_lanes = 1'000;
constexpr std::uint64_t most_intervals = 5'000'000;
constexpr std::size_t most_names = 500'000;
constexpr std::size_t most_flows = 2'000'000;
constexpr std::size_t longest_name = 1'000;
constexpr std::size_t most_notes = 100;

}  // namespace

std::uint32_t TextTable::number(std::string_view text)
{
    const auto found = numbers_.find(text);
    if (found != numbers_.end()) {
        return found->second;
    }
    const auto [added, is_new] = numbers_.emplace(std::string(text), static_cast<std::uint32_t>(texts_.size()));
    texts_.push_back(&added->first);
    return added->second;
}

std::vector<std::string> TextTable::take() const
{
    std::vector<std::string> texts;
    texts.reserve(texts_.size());
    for (const std::string* text : texts_) {
        texts.push_back(tidyName(*text));
    }
    return texts;
}

std::size_t TimelineBuilder::addLane(int rank, std::string name, int order)
{
    lanes_.push_back({{rank, std::move(name), {}}, order});
    return lanes_.size() - 1;
}

void TimelineBuilder::renameLane(std::size_t lane, int rank, std::string name, int order)
{
    lanes_[lane].lane.rank = rank;
    lanes_[lane].lane.name = std::move(name);
    lanes_[lane].order = order;
}

std::uint32_t TimelineBuilder::name(std::string_view text)
{
    text = text.substr(0, longest_name);
    return names_.number(names_.size() < most_names ? text : std::string_view("(more names than are kept)"));
}

bool TimelineBuilder::add(std::size_t lane, const Interval& interval)
{
    if (intervals_ >= most_intervals) {
        ++dropped_;
        return false;
    }
    ++intervals_;
    lanes_[lane].lane.intervals.push_back(interval);
    return true;
}

void TimelineBuilder::setEnd(std::size_t lane, std::size_t index, std::int64_t end_ns)
{
    lanes_[lane].lane.intervals[index].end_ns = end_ns;
}

void TimelineBuilder::addFlow(std::size_t lane, std::int64_t moment_ns, std::uint32_t flow)
{
    if (flows_.size() < most_flows) {
        flows_.push_back({lane, moment_ns, flow});
    }
}

void TimelineBuilder::note(std::string sentence)
{
    if (notes_.size() < most_notes && std::ranges::find(notes_, sentence) == notes_.end()) {
        notes_.push_back(std::move(sentence));
    }
}

void TimelineBuilder::applyFlows()
{
    for (const FlowEnd& flow : flows_) {
        auto& intervals = lanes_[flow.lane].lane.intervals;
        auto after = std::ranges::upper_bound(intervals, flow.moment_ns, {}, &Interval::begin_ns);
        // Backwards over what has ended already, to the innermost that is open; siblings are few in practice.
        for (int looked = 0; after != intervals.begin() && looked < 64; ++looked) {
            --after;
            if (after->end_ns > flow.moment_ns || after->begin_ns == flow.moment_ns) {
                after->flow = flow.flow;
                break;
            }
        }
    }
}

Timeline TimelineBuilder::finish(std::string title)
{
    Timeline timeline;
    timeline.source = TimeSource::imported;
    timeline.title = tidyName(title);
    std::int64_t first = INT64_MAX;
    for (Building& building : lanes_) {
        for (Interval& interval : building.lane.intervals) {
            interval.end_ns = std::max(interval.end_ns, interval.begin_ns);
            first = std::min(first, interval.begin_ns);
        }
        std::ranges::stable_sort(building.lane.intervals, [](const Interval& a, const Interval& b) {
            return a.begin_ns != b.begin_ns ? a.begin_ns < b.begin_ns : a.end_ns > b.end_ns;
        });
    }
    applyFlows();
    std::ranges::stable_sort(lanes_, [](const Building& a, const Building& b) {
        return std::tie(a.lane.rank, a.order, a.lane.name) < std::tie(b.lane.rank, b.order, b.lane.name);
    });
    std::uint64_t beyond = 0;
    for (Building& building : lanes_) {
        if (building.lane.intervals.empty()) {
            continue;
        }
        building.lane.name = tidyName(building.lane.name);
        for (Interval& interval : building.lane.intervals) {
            interval.begin_ns -= first;
            interval.end_ns -= first;
        }
        for (Lane& lane : disjointLanes(std::move(building.lane), dropped_)) {
            if (timeline.lanes.size() < most_lanes) {
                timeline.lanes.push_back(std::move(lane));
            } else {
                beyond += lane.intervals.size();
            }
        }
    }
    if (beyond > 0) {
        note(fmt::format("{} intervals of lanes beyond the first {} were left out", beyond, most_lanes));
    }
    timeline.names = names_.take();
    timeline.dropped = dropped_ + beyond;
    timeline.notes = std::move(notes_);
    return timeline;
}

bool isCommunicationKernel(std::string_view name)
{
    // Demangled names may begin with the return type.
    if (name.starts_with("void ")) {
        name.remove_prefix(5);
    }
    return name.starts_with("ncclDevKernel") || name.starts_with("ncclKernel") || name.starts_with("ncclSym") ||
           name.starts_with("nvshmem");
}

std::string tidyName(std::string_view name)
{
    std::string tidy(name.substr(0, longest_name));
    for (char& c : tidy) {
        if (static_cast<unsigned char>(c) < 0x20) {
            c = ' ';
        }
    }
    return tidy;
}

}  // namespace cuco
