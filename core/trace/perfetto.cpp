// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/trace/timeline.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

// Event types and fields: the document "Trace Event Format" of the Chromium project.

namespace cuco {

namespace {

using nlohmann::json;

double microseconds(std::int64_t ns)
{
    return static_cast<double>(ns) / 1e3;
}

json metadata(const char* kind, int process, int thread, const std::string& name)
{
    return {{"ph", "M"}, {"name", kind}, {"pid", process}, {"tid", thread}, {"args", {{"name", name}}}};
}

/// Where an arrow starts or ends.
struct FlowPoint {
    std::int64_t begin_ns = 0;
    int process = 0, thread = 0;
};

}  // namespace

json toPerfetto(const Timeline& timeline)
{
    json events = json::array();
    std::map<std::uint32_t, std::vector<FlowPoint>> flows;
    std::map<int, int> lanes_of_rank;
    for (const Lane& lane : timeline.lanes) {
        const int thread = lanes_of_rank[lane.rank]++;
        if (thread == 0) {
            events.push_back(metadata("process_name", lane.rank, 0, fmt::format("rank {}", lane.rank)));
        }
        events.push_back(metadata("thread_name", lane.rank, thread, lane.name));
        for (const Interval& interval : lane.intervals) {
            json event{{"ph", "X"},
                       {"name", timeline.names.at(interval.name)},
                       {"cat", toString(interval.activity)},
                       {"pid", lane.rank},
                       {"tid", thread},
                       {"ts", microseconds(interval.begin_ns)},
                       {"dur", microseconds(interval.end_ns - interval.begin_ns)}};
            if (interval.bytes != 0) {
                event["args"] = {{"bytes", interval.bytes}};
            }
            events.push_back(std::move(event));
            if (interval.flow != 0) {
                flows[interval.flow].push_back({interval.begin_ns, lane.rank, thread});
            }
        }
    }
    for (auto& [flow, points] : flows) {
        if (points.size() < 2) {
            continue;  // an arrow needs two ends
        }
        std::ranges::stable_sort(points, {}, &FlowPoint::begin_ns);
        for (std::size_t i = 0; i < points.size(); ++i) {
            const bool is_last = i + 1 == points.size();
            json event{{"ph", i == 0    ? "s"
                              : is_last ? "f"
                                        : "t"},
                       {"name", "flow"},
                       {"cat", "flow"},
                       {"id", flow},
                       {"pid", points[i].process},
                       {"tid", points[i].thread},
                       {"ts", microseconds(points[i].begin_ns)}};
            if (is_last) {
                event["bp"] = "e";  // ends at the interval around it, not at the next one
            }
            events.push_back(std::move(event));
        }
    }
    json other{{"source", toString(timeline.source)}, {"title", timeline.title}, {"dropped", timeline.dropped}};
    if (timeline.axis_error_us) {
        other["axis_error_us"] = *timeline.axis_error_us;
    }
    if (!timeline.notes.empty()) {
        other["notes"] = timeline.notes;
    }
    return {{"displayTimeUnit", "ns"}, {"traceEvents", std::move(events)}, {"otherData", std::move(other)}};
}

}  // namespace cuco
