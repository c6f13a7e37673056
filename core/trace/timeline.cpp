// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/trace/timeline.h"

#include "core/base/json.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>

namespace cuco {

namespace {

using nlohmann::json;

constexpr std::size_t max_lanes = 1'000;
constexpr std::size_t max_intervals = 5'000'000;
constexpr std::size_t max_names = 1'000'000;
constexpr int max_rank = 4'095;
constexpr std::size_t interval_fields = 6;

constexpr std::array<std::string_view, 5> activity_names{"compute", "communication", "copy", "wait", "host"};
constexpr std::array<std::string_view, 4> source_names{"modelled", "cupti", "in_kernel", "imported"};

bool earlierOrWider(const Interval& a, const Interval& b)
{
    return a.begin_ns != b.begin_ns ? a.begin_ns < b.begin_ns : a.end_ns > b.end_ns;
}

/// Index of the first interval that overlaps an earlier one in part, or the count. They are sorted.
std::size_t firstPartialOverlap(const std::vector<Interval>& intervals)
{
    std::vector<std::int64_t> open_ends;
    for (std::size_t i = 0; i < intervals.size(); ++i) {
        while (!open_ends.empty() && open_ends.back() <= intervals[i].begin_ns) {
            open_ends.pop_back();
        }
        if (!open_ends.empty() && open_ends.back() < intervals[i].end_ns) {
            return i;
        }
        open_ends.push_back(intervals[i].end_ns);
    }
    return intervals.size();
}

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
    if (!std::ranges::is_sorted(lane.intervals, earlierOrWider)) {
        std::ranges::stable_sort(lane.intervals, earlierOrWider);
    }
    if (const std::size_t i = firstPartialOverlap(lane.intervals); i < lane.intervals.size()) {
        reader.fault("intervals",
                     fmt::format("has one from {} to {} ns that overlaps an earlier one of the lane in part",
                                 lane.intervals[i].begin_ns, lane.intervals[i].end_ns));
        return std::unexpected(reader.finish().error());
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
    return {{"source", toString(timeline.source)},
            {"title", timeline.title},
            {"names", timeline.names},
            {"dropped", timeline.dropped},
            {"lanes", std::move(lanes)}};
}

Result<Timeline> timelineFromJson(const json& document)
{
    Timeline timeline;
    std::string source;
    JsonReader reader(document, "timeline");
    reader.required("source", source).required("title", timeline.title).required("names", timeline.names);
    reader.optional("dropped", timeline.dropped);
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
    std::size_t intervals_left = max_intervals;
    for (std::size_t i = 0; i < lanes->size(); ++i) {
        auto lane = readLane((*lanes)[i], i, timeline.names.size(), intervals_left);
        if (!lane) {
            return std::unexpected(std::move(lane.error()));
        }
        timeline.lanes.push_back(std::move(*lane));
    }
    std::ranges::stable_sort(timeline.lanes, {}, &Lane::rank);
    return timeline;
}

}  // namespace cuco
