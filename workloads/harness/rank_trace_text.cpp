// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: Apache-2.0
#ifndef CUCO_EMULATED
#include "rank_trace_lanes.h"

#include <limits>
#include <map>
#include <sstream>

// How a rank's lanes travel to the rank that reports them: a line each, the kind first. A candidate lives in the
// process that writes it, so the reader believes nothing.

namespace cuco_harness {
namespace {

constexpr const char* first_line = "cuco-rank-trace 2";
constexpr size_t most_lanes = 900, most_intervals = 2'000'000, most_names = 100'000, most_notes = 100;
constexpr size_t most_moments = 1000;
constexpr auto latest_ns = uint64_t(std::numeric_limits<int64_t>::max());

struct Reader {
    RankLanes lanes;
    std::vector<std::string> names;
    size_t intervals = 0;
    bool ended = false;

    bool interval(std::istringstream& words)
    {
        TraceInterval read;
        int activity = -1;
        size_t name = 0;
        if (lanes.lanes.empty() || ++intervals > most_intervals ||
            !(words >> read.begin_ns >> read.end_ns >> activity >> read.bytes >> name) || read.end_ns < read.begin_ns ||
            read.end_ns > latest_ns || activity < 0 || activity > int(TraceActivity::host) || name >= names.size())
            return false;
        read.activity = TraceActivity(activity);
        read.name = names[name];
        lanes.lanes.back().intervals.push_back(std::move(read));
        return true;
    }

    bool line(const std::string& text)
    {
        std::istringstream words(text);
        std::string kind;
        words >> kind;
        if (kind == "i")
            return interval(words);
        if (kind == "rank")
            return bool(words >> lanes.rank) && lanes.rank >= 0;
        if (kind == "cupti")
            return bool(words >> lanes.has_cupti);
        if (kind == "dropped")
            return bool(words >> lanes.dropped);
        if (kind == "start")
            return bool(words >> lanes.start_ns) && lanes.start_ns <= latest_ns;
        if (kind == "moment") {
            uint64_t moment = 0;
            if (!(words >> moment) || moment > latest_ns || lanes.moments_ns.size() >= most_moments)
                return false;
            lanes.moments_ns.push_back(moment);
            return true;
        }
        const std::string rest = text.size() > kind.size() ? text.substr(kind.size() + 1) : std::string();
        if (kind == "name" && names.size() < most_names) {
            names.push_back(rest);
            return true;
        }
        if (kind == "lane" && lanes.lanes.size() < most_lanes) {
            lanes.lanes.push_back({rest, {}});
            return true;
        }
        if (kind == "note" && lanes.notes.size() < most_notes) {
            lanes.notes.push_back(rest);
            return true;
        }
        ended = kind == "end";
        return ended;
    }
};

}  // namespace

std::string toText(const RankLanes& lanes)
{
    std::ostringstream text;
    text << first_line << "\nrank " << lanes.rank << "\ncupti " << lanes.has_cupti << "\ndropped " << lanes.dropped
         << '\n';
    text << "start " << lanes.start_ns << '\n';
    for (const std::string& note : lanes.notes)
        text << "note " << note << '\n';
    for (const uint64_t moment : lanes.moments_ns)
        text << "moment " << moment << '\n';
    std::map<std::string, size_t> names;
    for (const TraceLane& lane : lanes.lanes) {
        text << "lane " << lane.name << '\n';
        for (const TraceInterval& interval : lane.intervals) {
            const auto [name, is_new] = names.emplace(interval.name, names.size());
            if (is_new)
                text << "name " << interval.name << '\n';
            text << "i " << interval.begin_ns << ' ' << interval.end_ns << ' ' << int(interval.activity) << ' '
                 << interval.bytes << ' ' << name->second << '\n';
        }
    }
    text << "end\n";
    return text.str();
}

std::optional<RankLanes> fromText(const std::string& text)
{
    std::istringstream lines(text);
    std::string line;
    if (!std::getline(lines, line) || line != first_line)
        return std::nullopt;
    Reader reader;
    while (!reader.ended && std::getline(lines, line)) {
        if (!reader.line(line))
            return std::nullopt;
    }
    return reader.ended ? std::optional(std::move(reader.lanes)) : std::nullopt;
}

}  // namespace cuco_harness
#endif
