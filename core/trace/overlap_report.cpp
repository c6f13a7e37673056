// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/trace/overlap_report.h"

#include "core/base/json.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <map>
#include <utility>

namespace cuco {

namespace {

using nlohmann::json;

/// Half-open [first, second) in ns; in a set: sorted, disjoint, none empty.
using Span = std::pair<std::int64_t, std::int64_t>;
using SpanSet = std::vector<Span>;

SpanSet merged(SpanSet spans)
{
    std::ranges::sort(spans);
    SpanSet set;
    for (const Span& span : spans) {
        if (span.first == span.second) {
            continue;
        }
        if (!set.empty() && span.first <= set.back().second) {
            set.back().second = std::max(set.back().second, span.second);
        } else {
            set.push_back(span);
        }
    }
    return set;
}

std::int64_t lengthOf(const SpanSet& set)
{
    std::int64_t length = 0;
    for (const auto& [begin, end] : set) {
        length += end - begin;
    }
    return length;
}

std::int64_t commonLength(const SpanSet& a, const SpanSet& b)
{
    std::int64_t length = 0;
    for (auto left = a.begin(), right = b.begin(); left != a.end() && right != b.end();) {
        length +=
            std::max<std::int64_t>(0, std::min(left->second, right->second) - std::max(left->first, right->first));
        ++(left->second < right->second ? left : right);
    }
    return length;
}

/// The intervals of one rank that the report is about.
struct RankSpans {
    SpanSet compute, communication, wait;
    Span extent{INT64_MAX, INT64_MIN};
};

double microseconds(std::int64_t ns)
{
    return static_cast<double>(ns) / 1e3;
}

RankOverlap overlapOfRank(int rank, RankSpans spans)
{
    const SpanSet compute = merged(std::move(spans.compute));
    const SpanSet communication = merged(std::move(spans.communication));
    const SpanSet wait = merged(std::move(spans.wait));
    SpanSet working = compute;
    working.insert(working.end(), communication.begin(), communication.end());

    const std::int64_t communication_ns = lengthOf(communication);
    const std::int64_t overlapped_ns = commonLength(communication, compute);
    RankOverlap overlap;
    overlap.rank = rank;
    overlap.busy_us = microseconds(spans.extent.second - spans.extent.first);
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

json orNull(const std::optional<double>& value)
{
    return value ? json(*value) : json(nullptr);
}

}  // namespace

OverlapReport overlapOf(const Timeline& timeline, std::optional<double> bound_us)
{
    std::map<int, RankSpans> ranks;
    Span extent{INT64_MAX, INT64_MIN};
    for (const Lane& lane : timeline.lanes) {
        for (const Interval& interval : lane.intervals) {
            RankSpans& spans = ranks[lane.rank];
            const Span span{interval.begin_ns, interval.end_ns};
            for (Span* whole : {&spans.extent, &extent}) {
                *whole = {std::min(whole->first, span.first), std::max(whole->second, span.second)};
            }
            if (interval.activity == Activity::compute) {
                spans.compute.push_back(span);
            } else if (interval.activity == Activity::communication) {
                spans.communication.push_back(span);
            } else if (interval.activity == Activity::wait) {
                spans.wait.push_back(span);
            }
        }
    }
    OverlapReport report;
    report.bound_us = bound_us;
    double overlapped_us = 0, communication_us = 0;
    for (auto& [rank, spans] : ranks) {
        report.ranks.push_back(overlapOfRank(rank, std::move(spans)));
        const RankOverlap& overlap = report.ranks.back();
        overlapped_us += overlap.overlapped_us;
        communication_us += overlap.communication_us;
        report.exposed_us = std::max(report.exposed_us, overlap.exposed_us);
    }
    if (!ranks.empty()) {
        report.makespan_us = microseconds(extent.second - extent.first);
    }
    if (communication_us > 0) {
        report.hidden_share = overlapped_us / communication_us;
    }
    return report;
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
    return {{"makespan_us", report.makespan_us},
            {"hidden_share", orNull(report.hidden_share)},
            {"exposed_us", report.exposed_us},
            {"bound_us", orNull(report.bound_us)},
            {"ranks", std::move(ranks)}};
}

Result<OverlapReport> overlapReportFromJson(const json& document)
{
    OverlapReport report;
    JsonReader reader(document, "overlap report");
    reader.required("makespan_us", report.makespan_us).required("exposed_us", report.exposed_us);
    reader.optional("hidden_share", report.hidden_share).optional("bound_us", report.bound_us);
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
    return report;
}

}  // namespace cuco
