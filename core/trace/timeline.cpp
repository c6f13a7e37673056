// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/trace/timeline.h"

#include "core/base/json.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <iterator>

namespace cuco {

namespace {

using nlohmann::json;

constexpr std::size_t max_notes = 1'000;
constexpr std::size_t max_lanes = 1'000;
constexpr std::size_t max_intervals = 5'000'000;
constexpr std::size_t max_sub_lanes = 64;
constexpr std::size_t max_names = 1'000'000;
constexpr int max_rank = 4'095;
constexpr std::size_t interval_fields = 6;

constexpr std::array<std::string_view, 5> activity_names{"compute", "communication", "copy", "wait", "host"};
constexpr std::array<std::string_view, 4> source_names{"modelled", "cupti", "in_kernel", "imported"};

bool earlierOrWider(const Interval& a, const Interval& b)
{
    return a.begin_ns != b.begin_ns ? a.begin_ns < b.begin_ns : a.end_ns > b.end_ns;
}

/// The ends of intervals that are open in a lane, outermost first.
class OpenIntervals {
public:
    /// Opens it when it lies within or behind those that are open.
    bool take(const Interval& interval)
    {
        while (!ends_.empty() && ends_.back() <= interval.begin_ns) {
            ends_.pop_back();
        }
        if (!ends_.empty() && ends_.back() < interval.end_ns) {
            return false;
        }
        ends_.push_back(interval.end_ns);
        return true;
    }

private:
    std::vector<std::int64_t> ends_;
};

/// False when it is no [begin_ns, end_ns, name, activity, bytes, flow] within bounds.
bool readInterval(const json& from, std::size_t names, Interval& to)
{
    if (!from.is_array() || from.size() != interval_fields) {
        return false;
    }
    std::array<std::uint64_t, interval_fields> values{};
    for (std::size_t i = 0; i < interval_fields; ++i) {
        const json& value = from[i];
        // Documents built in memory hold positive numbers as signed ones.
        if (!value.is_number_integer() || (!value.is_number_unsigned() && value.get<std::int64_t>() < 0)) {
            return false;
        }
        values[i] = value.get<std::uint64_t>();
    }
    const auto [begin, end, name, activity, bytes, flow] = values;
    if (end < begin || end > INT64_MAX || name >= names || activity >= activity_names.size() || flow > UINT32_MAX) {
        return false;
    }
    to = {static_cast<std::int64_t>(begin),
          static_cast<std::int64_t>(end),
          static_cast<std::uint32_t>(name),
          static_cast<std::uint32_t>(flow),
          bytes,
          static_cast<Activity>(activity)};
    return true;
}

Result<Lane> readLane(const json& from, std::size_t index, std::size_t names, std::size_t& intervals_left)
{
    Lane lane;
    const std::string path = fmt::format("lanes[{}]", index);
    JsonReader reader(from, "timeline", path);
    reader.required("rank", lane.rank).required("name", lane.name);
    if (lane.rank < 0 || lane.rank > max_rank) {
        reader.fault("rank", fmt::format("must be from 0 to {}", max_rank));
    }
    const json* list = reader.array("intervals");
    if (list && list->size() > intervals_left) {
        reader.fault("intervals", fmt::format("goes beyond the {} intervals that are allowed in all", max_intervals));
        list = nullptr;
    }
    if (auto done = reader.finish(); !done) {
        return std::unexpected(std::move(done.error()));
    }
    intervals_left -= list->size();
    lane.intervals.resize(list->size());
    for (std::size_t i = 0; i < list->size(); ++i) {
        if (!readInterval((*list)[i], names, lane.intervals[i])) {
            reader.fault(fmt::format("intervals[{}]", i),
                         "must be [begin_ns, end_ns, name, activity, bytes, flow] with 0 <= begin <= end");
            return std::unexpected(reader.finish().error());
        }
    }
    return lane;
}

}  // namespace

std::string_view toString(Activity activity)
{
    return activity_names[static_cast<std::size_t>(activity)];
}

std::string_view toString(TimeSource source)
{
    return source_names[static_cast<std::size_t>(source)];
}

std::int64_t Timeline::duration_ns() const
{
    std::int64_t end = 0;
    for (const Lane& lane : lanes) {
        for (const Interval& interval : lane.intervals) {
            end = std::max(end, interval.end_ns);
        }
    }
    return end;
}

std::uint32_t Timeline::nameIndex(std::string_view name)
{
    const auto found = std::ranges::find(names, name);
    const auto index = static_cast<std::uint32_t>(found - names.begin());
    if (found == names.end()) {
        names.emplace_back(name);
    }
    return index;
}

std::vector<Lane> disjointLanes(Lane lane, std::uint64_t& dropped)
{
    if (!std::ranges::is_sorted(lane.intervals, earlierOrWider)) {
        std::ranges::stable_sort(lane.intervals, earlierOrWider);
    }
    OpenIntervals first;
    std::size_t fitting = 0;
    while (fitting < lane.intervals.size() && first.take(lane.intervals[fitting])) {
        ++fitting;
    }
    std::vector<Lane> lanes;
    lanes.push_back(std::move(lane));
    if (fitting == lanes[0].intervals.size()) {
        return lanes;
    }
    const std::vector<Interval> rest(lanes[0].intervals.begin() + static_cast<std::ptrdiff_t>(fitting),
                                     lanes[0].intervals.end());
    lanes[0].intervals.resize(fitting);
    std::vector<OpenIntervals> open{std::move(first)};
    for (const Interval& interval : rest) {
        std::size_t i = 0;
        while (i < open.size() && !open[i].take(interval)) {
            ++i;
        }
        if (i == max_sub_lanes) {
            ++dropped;
            continue;
        }
        if (i == open.size()) {
            open.emplace_back().take(interval);
            lanes.push_back({lanes[0].rank, fmt::format("{} ({})", lanes[0].name, i + 1), {}});
        }
        lanes[i].intervals.push_back(interval);
    }
    return lanes;
}

json toJson(const Timeline& timeline)
{
    json lanes = json::array();
    for (const Lane& lane : timeline.lanes) {
        json intervals = json::array();
        for (const Interval& interval : lane.intervals) {
            intervals.push_back({interval.begin_ns, interval.end_ns, interval.name,
                                 static_cast<unsigned>(interval.activity), interval.bytes, interval.flow});
        }
        lanes.push_back({{"rank", lane.rank}, {"name", lane.name}, {"intervals", std::move(intervals)}});
    }
    json document{{"source", toString(timeline.source)},
                  {"title", timeline.title},
                  {"names", timeline.names},
                  {"dropped", timeline.dropped},
                  {"lanes", std::move(lanes)}};
    if (!timeline.notes.empty()) {
        document["notes"] = timeline.notes;
    }
    if (timeline.axis_error_us) {
        document["axis_error_ns"] = *timeline.axis_error_us * 1e3;
    }
    if (timeline.untraced_us && timeline.traced_us) {
        document["untraced_us"] = *timeline.untraced_us;
        document["traced_us"] = *timeline.traced_us;
    }
    return document;
}

Result<Timeline> timelineFromJson(const json& document)
{
    Timeline timeline;
    std::string source;
    JsonReader reader(document, "timeline");
    reader.required("source", source).required("title", timeline.title).required("names", timeline.names);
    reader.optional("dropped", timeline.dropped).optional("notes", timeline.notes);
    std::optional<double> axis_error_ns;
    reader.optional("axis_error_ns", axis_error_ns);
    reader.optional("untraced_us", timeline.untraced_us).optional("traced_us", timeline.traced_us);
    if (timeline.notes.size() > max_notes) {
        reader.fault("notes", fmt::format("must have at most {} sentences", max_notes));
    }
    const auto known = std::ranges::find(source_names, source);
    if (known == source_names.end()) {
        reader.fault("source", "must be modelled, cupti, in_kernel or imported");
    }
    if (timeline.names.size() > max_names) {
        reader.fault("names", fmt::format("must have at most {} names", max_names));
    }
    const json* lanes = reader.array("lanes");
    if (lanes && lanes->size() > max_lanes) {
        reader.fault("lanes", fmt::format("must have at most {} lanes", max_lanes));
    }
    if (auto done = reader.finish(); !done) {
        return std::unexpected(std::move(done.error()));
    }
    timeline.source = static_cast<TimeSource>(known - source_names.begin());
    if (axis_error_ns) {
        timeline.axis_error_us = *axis_error_ns / 1e3;
    }
    std::size_t intervals_left = max_intervals;
    for (std::size_t i = 0; i < lanes->size(); ++i) {
        auto lane = readLane((*lanes)[i], i, timeline.names.size(), intervals_left);
        if (!lane) {
            return std::unexpected(std::move(lane.error()));
        }
        std::ranges::move(disjointLanes(std::move(*lane), timeline.dropped), std::back_inserter(timeline.lanes));
    }
    std::ranges::stable_sort(timeline.lanes, {}, &Lane::rank);
    return timeline;
}

}  // namespace cuco
