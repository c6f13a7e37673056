// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/trace/overlap_report.h"

#include "core/base/json.h"
#include "core/trace/interval_sets.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

namespace cuco {

namespace {

using nlohmann::json;

double microseconds(std::int64_t ns)
{
    return static_cast<double>(ns) / 1e3;
}

RankOverlap overlapOfRank(int rank, const RankSpans& spans)
{
    const auto& [compute, communication, copy, wait, extent] = spans;
    SpanSet working = compute;
    working.insert(working.end(), communication.begin(), communication.end());

    const std::int64_t communication_ns = lengthOf(communication);
    const std::int64_t overlapped_ns = commonLength(communication, compute);
    RankOverlap overlap;
    overlap.rank = rank;
    overlap.busy_us = microseconds(extent.second - extent.first);
    overlap.compute_us = microseconds(lengthOf(compute));
    overlap.communication_us = microseconds(communication_ns);
    overlap.overlapped_us = microseconds(overlapped_ns);
    overlap.exposed_us = microseconds(communication_ns - overlapped_ns);
    overlap.wait_us = microseconds(lengthOf(wait) - commonLength(wait, merged(std::move(working))));
    if (communication_ns > 0) {
        overlap.hidden_share = static_cast<double>(overlapped_ns) / static_cast<double>(communication_ns);
    }
    return overlap;
}

/// The lane whose device work ends last of all; of several the one of the more telling activity.
const Lane* lastLane(const Timeline& timeline, int rank)
{
    const Lane* last = nullptr;
    std::pair<std::int64_t, int> latest{INT64_MIN, 0};
    for (const Lane& lane : timeline.lanes) {
        for (const Interval& interval : lane.intervals) {
            const std::pair end{interval.end_ns, -static_cast<int>(interval.activity)};
            if (lane.rank == rank && interval.activity != Activity::host && !isHostLane(lane) && end > latest) {
                latest = end;
                last = &lane;
            }
        }
    }
    return last;
}

void addCriticalPath(const Timeline& timeline, const std::map<int, RankSpans>& ranks, OverlapReport& report)
{
    report.critical_path = criticalPath(ranks);
    if (report.critical_path.empty()) {
        return;
    }
    report.last_rank = report.critical_path.back().rank;
    if (const Lane* lane = lastLane(timeline, *report.last_rank)) {
        report.last_lane = lane->name;
    }
}

json orNull(const std::optional<double>& value)
{
    return value ? json(*value) : json(nullptr);
}

Result<PathStep> readStep(const json& from, std::size_t index)
{
    PathStep step;
    double begin_us = 0, end_us = 0;
    std::string activity;
    JsonReader reader(from, "overlap report", fmt::format("critical_path[{}]", index));
    reader.required("rank", step.rank).required("activity", activity);
    reader.required("begin_us", begin_us).required("end_us", end_us);
    constexpr double longest_us = 1e15;
    if (!(begin_us >= 0 && begin_us <= end_us && end_us <= longest_us)) {
        reader.fault("end_us", "must be from begin_us on");
    }
    for (const Activity known :
         {Activity::compute, Activity::communication, Activity::copy, Activity::wait, Activity::host}) {
        if (activity == toString(known)) {
            step.activity = known;
        }
    }
    if (auto done = reader.finish(); !done) {
        return std::unexpected(std::move(done.error()));
    }
    step.begin_ns = std::llround(begin_us * 1e3);
    step.end_ns = std::llround(end_us * 1e3);
    return step;
}

constexpr std::size_t most_steps_written = 1'000;

}  // namespace

OverlapReport overlapOf(const Timeline& timeline, std::optional<double> bound_us)
{
    const auto ranks = spansByRank(timeline);
    OverlapReport report;
    report.bound_us = bound_us;
    report.dropped = timeline.dropped;
    report.axis_error_us = timeline.axis_error_us;
    Span extent{INT64_MAX, INT64_MIN};
    for (const auto& [rank, spans] : ranks) {
        report.ranks.push_back(overlapOfRank(rank, spans));
        const RankOverlap& overlap = report.ranks.back();
        report.overlapped_us += overlap.overlapped_us;
        report.communication_us += overlap.communication_us;
        report.exposed_us = std::max(report.exposed_us, overlap.exposed_us);
        extent = {std::min(extent.first, spans.extent.first), std::max(extent.second, spans.extent.second)};
    }
    if (!ranks.empty()) {
        report.makespan_us = microseconds(extent.second - extent.first);
    }
    addCriticalPath(timeline, ranks, report);
    if (report.communication_us > 0) {
        report.hidden_share = report.overlapped_us / report.communication_us;
    }
    return report;
}

std::map<PathKey, double> criticalPathTimes(const OverlapReport& report)
{
    std::map<PathKey, double> times;
    for (const PathStep& step : report.critical_path) {
        times[{step.rank, step.activity}] += microseconds(step.end_ns - step.begin_ns);
    }
    return times;
}

json toJson(const OverlapReport& report)
{
    json ranks = json::array();
    for (const RankOverlap& overlap : report.ranks) {
        ranks.push_back({{"rank", overlap.rank},
                         {"busy_us", overlap.busy_us},
                         {"compute_us", overlap.compute_us},
                         {"communication_us", overlap.communication_us},
                         {"overlapped_us", overlap.overlapped_us},
                         {"exposed_us", overlap.exposed_us},
                         {"wait_us", overlap.wait_us},
                         {"hidden_share", orNull(overlap.hidden_share)}});
    }
    json path = json::array();
    // The later end explains the makespan; what is left out at the front is counted.
    const std::size_t kept = std::min(report.critical_path.size(), most_steps_written);
    for (std::size_t i = report.critical_path.size() - kept; i < report.critical_path.size(); ++i) {
        const PathStep& step = report.critical_path[i];
        path.push_back({{"rank", step.rank},
                        {"activity", step.activity ? json(toString(*step.activity)) : json("idle")},
                        {"begin_us", microseconds(step.begin_ns)},
                        {"end_us", microseconds(step.end_ns)}});
    }
    return {{"makespan_us", report.makespan_us},
            {"hidden_share", orNull(report.hidden_share)},
            {"overlapped_us", report.overlapped_us},
            {"communication_us", report.communication_us},
            {"exposed_us", report.exposed_us},
            {"bound_us", orNull(report.bound_us)},
            {"gap_to_bound_us", report.bound_us ? json(report.makespan_us - *report.bound_us) : json(nullptr)},
            {"dropped", report.dropped},
            {"axis_error_us", orNull(report.axis_error_us)},
            {"last_rank", report.last_rank ? json(*report.last_rank) : json(nullptr)},
            {"last_lane", report.last_lane},
            {"critical_path", std::move(path)},
            {"critical_path_steps", report.critical_path.size()},
            {"ranks", std::move(ranks)}};
}

Result<OverlapReport> overlapReportFromJson(const json& document)
{
    OverlapReport report;
    JsonReader reader(document, "overlap report");
    reader.required("makespan_us", report.makespan_us).required("exposed_us", report.exposed_us);
    reader.optional("hidden_share", report.hidden_share).optional("bound_us", report.bound_us);
    reader.optional("overlapped_us", report.overlapped_us).optional("communication_us", report.communication_us);
    reader.optional("dropped", report.dropped).optional("axis_error_us", report.axis_error_us);
    reader.optional("last_rank", report.last_rank).optional("last_lane", report.last_lane);
    const json* path = reader.present("critical_path") ? reader.array("critical_path") : nullptr;
    const json* ranks = reader.array("ranks");
    if (auto done = reader.finish(); !done) {
        return std::unexpected(std::move(done.error()));
    }
    for (std::size_t i = 0; i < ranks->size(); ++i) {
        RankOverlap overlap;
        JsonReader rank((*ranks)[i], "overlap report", fmt::format("ranks[{}]", i));
        rank.required("rank", overlap.rank).required("busy_us", overlap.busy_us);
        rank.required("compute_us", overlap.compute_us).required("communication_us", overlap.communication_us);
        rank.required("overlapped_us", overlap.overlapped_us).required("exposed_us", overlap.exposed_us);
        rank.required("wait_us", overlap.wait_us).optional("hidden_share", overlap.hidden_share);
        if (auto done = rank.finish(); !done) {
            return std::unexpected(std::move(done.error()));
        }
        report.ranks.push_back(std::move(overlap));
    }
    for (std::size_t i = 0; path && i < path->size(); ++i) {
        auto step = readStep((*path)[i], i);
        if (!step) {
            return std::unexpected(std::move(step.error()));
        }
        report.critical_path.push_back(*step);
    }
    return report;
}

}  // namespace cuco
