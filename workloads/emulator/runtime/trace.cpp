// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/trace.h"

#include "cuco_emu_host.h"

#include <algorithm>
#include <cstdio>
#include <map>

namespace cuco_emu {
namespace {

struct Interval {
    Time begin, end;
    std::size_t name;
    Activity activity;
    std::uint64_t bytes;
    std::uint32_t flow;
};

struct Trace {
    bool on = false;
    Time origin = 0;
    std::string title;
    std::vector<std::string> names;
    std::map<std::string, std::size_t> name_numbers;
    std::map<std::pair<int, std::string>, std::vector<Interval>> lanes;
    std::uint64_t dropped = 0;
};
Trace trace;

constexpr std::size_t lane_limit = 200'000;

std::size_t name_number(const std::string& name)
{
    const auto [found, added] = trace.name_numbers.emplace(name, trace.names.size());
    if (added)
        trace.names.push_back(name);
    return found->second;
}

void add(int rank, const std::string& lane, Interval interval)
{
    if (!trace.on || interval.end <= interval.begin)
        return;
    auto& intervals = trace.lanes[{rank, lane}];
    if (intervals.size() >= lane_limit)
        ++trace.dropped;
    else
        intervals.push_back(interval);
}

/// Keeps the union of overlapping segments; they come in order of their end.
void merge(std::vector<Kernel::Segment>& segments, Time begin, Time end)
{
    if (!trace.on || end <= begin)
        return;
    while (!segments.empty() && segments.back().end >= begin) {
        begin = std::min(begin, segments.back().begin);
        end = std::max(end, segments.back().end);
        segments.pop_back();
    }
    segments.push_back({begin, end});
}

std::string quoted(const std::string& text)
{
    std::string result = "\"";
    for (const char c : text) {
        if (c == '"' || c == '\\') {
            result += '\\';
            result += c;
        } else if (static_cast<unsigned char>(c) < 0x20) {
            char escaped[8];
            std::snprintf(escaped, sizeof escaped, "\\u%04x", static_cast<unsigned>(c));
            result += escaped;
        } else {
            result += c;
        }
    }
    return result + '"';
}

std::string as_json()
{
    std::string json = "{\"source\":\"modelled\",\"title\":" + quoted(trace.title) + ",\"names\":[";
    for (std::size_t i = 0; i < trace.names.size(); ++i)
        json += (i ? "," : "") + quoted(trace.names[i]);
    json += "],\"dropped\":" + std::to_string(trace.dropped) + ",\"lanes\":[";
    bool first_lane = true;
    for (auto& [key, intervals] : trace.lanes) {
        std::ranges::stable_sort(intervals, [](const Interval& a, const Interval& b) {
            return a.begin != b.begin ? a.begin < b.begin : a.end > b.end;
        });
        json += std::string(first_lane ? "" : ",") + "{\"rank\":" + std::to_string(key.first) +
                ",\"name\":" + quoted(key.second) + ",\"intervals\":[";
        first_lane = false;
        bool first = true;
        for (const Interval& interval : intervals) {
            json += std::string(first ? "" : ",") + "[" + std::to_string((interval.begin - trace.origin) / nanosecond) +
                    "," + std::to_string((interval.end - trace.origin) / nanosecond) + "," +
                    std::to_string(interval.name) + "," + std::to_string(static_cast<int>(interval.activity)) + "," +
                    std::to_string(interval.bytes) + "," + std::to_string(interval.flow) + "]";
            first = false;
        }
        json += "]}";
    }
    return json + "]}";
}

}  // namespace

void trace_command(const Command& command)
{
    if (!trace.on || !command.traced)
        return;
    add(command.stream->rank->index, command.stream->name,
        {command.begin, command.end, name_number(command.name), command.activity, command.bytes, command.flow});
}

void trace_copy(const Rank& rank, std::size_t engine, Time begin, const std::string& name, bool to_peer,
                std::uint64_t bytes)
{
    if (!trace.on)
        return;
    const std::string lane = "copy engine" + (engine ? " " + std::to_string(engine) : std::string());
    add(rank.index, lane,
        {begin, now(), name_number(name), to_peer ? Activity::communication : Activity::copy, bytes, 0});
}

void trace_gin(const Rank& from, int peer, Time begin, bool put, std::uint64_t bytes)
{
    if (!trace.on)
        return;
    add(from.index, "GIN to rank " + std::to_string(peer),
        {begin, now(), name_number(put ? "put" : "signal"), Activity::communication, bytes, 0});
}

void note_segment(Kernel& kernel, Time begin, bool puts, bool computes)
{
    if (puts)
        merge(kernel.put_segments, begin, now());
    else if (computes)
        merge(kernel.compute_segments, begin, now());
}

void note_wait(Kernel& kernel, Time begin)
{
    merge(kernel.wait_segments, begin, now());
}

void trace_kernel(const Kernel& kernel)
{
    const bool fused = kernel.computes && kernel.peer_bytes > 0;
    if (!trace.on || !fused)
        return;
    const auto emit = [&](const char* lane, Activity activity, const std::vector<Kernel::Segment>& segments) {
        for (const auto& segment : segments)
            add(kernel.rank->index, lane, {segment.begin, segment.end, name_number(kernel.name), activity, 0, 0});
    };
    emit("in-kernel compute", Activity::compute, kernel.compute_segments);
    emit("in-kernel put", Activity::communication, kernel.put_segments);
    emit("in-kernel wait", Activity::wait, kernel.wait_segments);
}

void trace_begin(const std::string& title)
{
    trace = Trace{};
    trace.on = true;
    trace.title = title;
    trace.origin = now();
}

std::string trace_end()
{
    trace.on = false;
    auto json = as_json();
    trace = Trace{};
    return json;
}

}  // namespace cuco_emu
