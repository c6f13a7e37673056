// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: Apache-2.0
#ifndef CUCO_EMULATED
#include "rank_trace.h"
#include "rank_trace_lanes.h"

#include <algorithm>
#include <cstdio>
#include <map>
#include <optional>
#include <sstream>

namespace cuco_harness {
namespace {

std::string quoted(const std::string& text)
{
    std::string result = "\"";
    for (const char c : text) {
        if (c == '"' || c == '\\')
            result += '\\';
        if (static_cast<unsigned char>(c) < 0x20) {
            char escaped[8];
            std::snprintf(escaped, sizeof escaped, "\\u%04x", static_cast<unsigned>(c));
            result += escaped;
        } else {
            result += c;
        }
    }
    return result + '"';
}

std::string listOf(const std::vector<std::string>& texts)
{
    std::string list;
    for (const std::string& text : texts)
        list += (list.empty() ? "" : ",") + quoted(text);
    return "[" + list + "]";
}

/// The largest distance between two ranks' mean readings of the same moments: what their axes differ by.
std::optional<double> axisErrorNs(const std::vector<RankLanes>& ranks)
{
    if (ranks.size() < 2)
        return std::nullopt;
    const std::vector<uint64_t>& first = ranks.front().moments_ns;
    double least = 0, most = 0;
    for (const RankLanes& rank : ranks) {
        if (rank.moments_ns.empty() || rank.moments_ns.size() != first.size())
            return std::nullopt;
        double sum = 0;
        for (size_t i = 0; i < first.size(); ++i)
            sum += double(int64_t(rank.moments_ns[i] - first[i]));
        least = std::min(least, sum / double(first.size()));
        most = std::max(most, sum / double(first.size()));
    }
    return most - least;
}

uint64_t firstBegin(const std::vector<RankLanes>& ranks)
{
    uint64_t first = UINT64_MAX;
    for (const RankLanes& rank : ranks) {
        for (const TraceLane& lane : rank.lanes) {
            for (const TraceInterval& interval : lane.intervals)
                first = std::min(first, interval.begin_ns);
        }
    }
    return first;
}

/// Every rank's times as if its host's clock had shown at the start what the first rank's did.
void alignAtStart(std::vector<RankLanes>& ranks)
{
    for (RankLanes& rank : ranks) {
        const uint64_t lag_ns = ranks.front().start_ns - rank.start_ns;
        for (TraceLane& lane : rank.lanes) {
            for (TraceInterval& interval : lane.intervals) {
                interval.begin_ns += lag_ns;
                interval.end_ns += lag_ns;
            }
        }
    }
}

std::string alignmentNote(const TraceAxis& axis)
{
    char text[160];
    std::snprintf(text, sizeof text,
                  "ranks of different hosts are aligned at their common start, which their clocks know to %.1f us",
                  axis.start_uncertainty_us);
    return text;
}

}  // namespace

std::string mergeRankTraces(const std::vector<std::string>& texts, const std::string& title, const TracingCost& cost,
                            const TraceAxis& axis)
{
    std::vector<RankLanes> ranks;
    std::vector<std::string> notes;
    for (size_t i = 0; i < texts.size(); ++i) {
        if (auto rank = fromText(texts[i]))
            ranks.push_back(std::move(*rank));
        else
            notes.push_back("rank " + std::to_string(i) + " gave no trace");
    }
    std::optional<double> error_ns = axisErrorNs(ranks);
    if (axis.several_hosts && !ranks.empty()) {
        alignAtStart(ranks);
        notes.push_back(alignmentNote(axis));
        error_ns = axis.start_uncertainty_us * 1e3;
    }
    const uint64_t origin = firstBegin(ranks);
    uint64_t dropped = 0;
    bool has_cupti = !ranks.empty();
    std::map<std::string, size_t> numbers;
    std::vector<std::string> names;
    std::ostringstream lanes;
    for (const RankLanes& rank : ranks) {
        dropped += rank.dropped;
        has_cupti = has_cupti && rank.has_cupti;
        for (const std::string& note : rank.notes)
            notes.push_back("rank " + std::to_string(rank.rank) + ": " + note);
        for (const TraceLane& lane : rank.lanes) {
            lanes << (lanes.tellp() > 0 ? "," : "") << "{\"rank\":" << rank.rank << ",\"name\":" << quoted(lane.name)
                  << ",\"intervals\":[";
            bool is_first = true;
            for (const TraceInterval& interval : lane.intervals) {
                const auto [number, is_new] = numbers.emplace(interval.name, names.size());
                if (is_new)
                    names.push_back(interval.name);
                lanes << (is_first ? "[" : ",[") << interval.begin_ns - origin << ',' << interval.end_ns - origin << ','
                      << number->second << ',' << int(interval.activity) << ',' << interval.bytes << ",0]";
                is_first = false;
            }
            lanes << "]}";
        }
    }
    std::ostringstream json;
    json << "{\"source\":\"" << (has_cupti ? "cupti" : "in_kernel") << "\",\"title\":" << quoted(title)
         << ",\"names\":" << listOf(names) << ",\"dropped\":" << dropped << ",\"notes\":" << listOf(notes);
    if (error_ns)
        json << ",\"axis_error_ns\":" << *error_ns;
    if (cost.untraced_us > 0 && cost.traced_us > 0)
        json << ",\"untraced_us\":" << cost.untraced_us << ",\"traced_us\":" << cost.traced_us;
    json << ",\"lanes\":[" << lanes.str() << "]}";
    return json.str();
}

}  // namespace cuco_harness
#endif
