// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: Apache-2.0
#ifndef CUCO_EMULATED
#include "rank_trace_lanes.h"

#include "device_trace_layout.h"

#include <cxxabi.h>
#include <algorithm>
#include <cstdlib>
#include <map>
#include <memory>
#include <set>
#include <tuple>

namespace cuco_harness {
namespace {

constexpr size_t longest_name = 200;
constexpr uint32_t sm_groups = 4;
constexpr uint32_t most_sms = 4096;

bool startsWith(const std::string& text, const char* start)
{
    return text.rfind(start, 0) == 0;
}

bool isNcclKernel(const std::string& name)
{
    return startsWith(name, "ncclDevKernel") || startsWith(name, "ncclKernel") || startsWith(name, "ncclSym");
}

/// Names are written into JSON and lines: printable ASCII, not endless.
std::string plainName(std::string text)
{
    if (text.size() > longest_name)
        text.resize(longest_name);
    for (char& c : text) {
        if (c < ' ' || c > '~')
            c = '?';
    }
    return text;
}

/// Numbers by first use.
template <class Key>
class Numbering {
public:
    size_t of(const Key& key) { return numbers_.emplace(key, numbers_.size()).first->second; }

private:
    std::map<Key, size_t> numbers_;
};

TraceActivity activityOf(uint32_t phase)
{
    switch (phase) {
        case cuco_phase_put:
            return TraceActivity::communication;
        case cuco_phase_wait:
            return TraceActivity::wait;
        case cuco_phase_copy:
            return TraceActivity::copy;
        default:
            return TraceActivity::compute;
    }
}

const char* nameOfPhase(uint32_t phase)
{
    switch (phase) {
        case cuco_phase_put:
            return "in-kernel put";
        case cuco_phase_wait:
            return "in-kernel wait";
        case cuco_phase_copy:
            return "in-kernel copy";
        default:
            return "in-kernel compute";
    }
}

/// One launch that recorded phases.
struct Launch {
    uint64_t begin_ns = UINT64_MAX, end_ns = 0;
    bool computes = false;
    size_t record = SIZE_MAX;  ///< CUPTI's of it; SIZE_MAX when there is none
};

/// CUPTI's kernels and the launches seen from inside are matched by time: a launch is the kernel that covers most of
/// it.
std::map<uint64_t, Launch> launchesOf(const std::vector<PhaseRecord>& phases,
                                      const std::vector<cuco_profile_record>& records)
{
    std::map<uint64_t, Launch> launches;
    for (const PhaseRecord& phase : phases) {
        Launch& launch = launches[phase.grid];
        launch.begin_ns = std::min(launch.begin_ns, phase.begin_ns);
        launch.end_ns = std::max(launch.end_ns, phase.end_ns);
        launch.computes = launch.computes || phase.phase == cuco_phase_compute;
    }
    std::set<size_t> candidates;
    for (size_t i = 0; i < records.size() && !launches.empty(); ++i) {
        if (records[i].kind == cuco_profile_kernel && !isNcclKernel(kernelName(records[i].name)))
            candidates.insert(i);
    }
    for (auto& [grid, launch] : launches) {
        int64_t most = 0;
        for (const size_t i : candidates) {
            const auto& record = records[i];
            // What lies outside of the kernel counts against it, or a long one beside would win.
            const auto common =
                int64_t(std::min(record.end_ns, launch.end_ns)) - int64_t(std::max(record.begin_ns, launch.begin_ns));
            const auto beyond = int64_t(record.end_ns - record.begin_ns) - common;
            if (common > 0 && 2 * common - beyond > most) {
                most = 2 * common - beyond;
                launch.record = i;
            }
        }
        candidates.erase(launch.record);
    }
    return launches;
}

/// The union of what the groups of threads of some SMs did, by phase and launch.
std::vector<TraceLane> phaseLanes(std::vector<PhaseRecord> phases, const std::map<uint64_t, Launch>& launches,
                                  const std::vector<cuco_profile_record>& records)
{
    uint32_t sms = 1;
    for (const PhaseRecord& phase : phases)
        sms = std::max(sms, std::min(phase.sm, most_sms - 1) + 1);
    const uint32_t width = (sms + sm_groups - 1) / sm_groups;
    const auto key = [&](const PhaseRecord& p) {
        return std::make_tuple(std::min(p.sm, most_sms - 1) / width, p.phase, p.grid, p.begin_ns);
    };
    std::sort(phases.begin(), phases.end(),
              [&](const PhaseRecord& a, const PhaseRecord& b) { return key(a) < key(b); });
    std::vector<TraceLane> lanes;
    const PhaseRecord* before = nullptr;
    for (const PhaseRecord& phase : phases) {
        const auto [group, kind, grid, begin] = key(phase);
        const bool same_lane = before && std::get<0>(key(*before)) == group && before->phase == kind;
        if (!same_lane) {
            const uint32_t last = std::min(sms, (group + 1) * width) - 1;
            lanes.push_back(
                {std::string(nameOfPhase(kind)) + ", SMs " + std::to_string(group * width) + "–" + std::to_string(last),
                 {}});
        }
        auto& intervals = lanes.back().intervals;
        if (same_lane && before->grid == grid && begin <= intervals.back().end_ns) {
            intervals.back().end_ns = std::max(intervals.back().end_ns, phase.end_ns);
        } else {
            const size_t record = launches.at(grid).record;
            intervals.push_back({begin, phase.end_ns, 0, activityOf(kind),
                                 record == SIZE_MAX ? std::string("kernel") : kernelName(records[record].name)});
        }
        before = &phase;
    }
    return lanes;
}

TraceActivity activityOf(const cuco_profile_record& record, const std::string& name, const Launch* launch)
{
    switch (record.kind) {
        case cuco_profile_kernel: {
            const bool communicates =
                isNcclKernel(name) || (record.flags & cuco_profile_marked) || (launch && !launch->computes);
            return communicates ? TraceActivity::communication : TraceActivity::compute;
        }
        case cuco_profile_copy:
            return record.flags & (cuco_profile_peer | cuco_profile_marked) ? TraceActivity::communication
                                                                            : TraceActivity::copy;
        case cuco_profile_set:
            return TraceActivity::copy;
        case cuco_profile_sync:
            return TraceActivity::wait;
        default:
            return TraceActivity::host;
    }
}

}  // namespace

std::string kernelName(const char* name)
{
    int status = 0;
    const std::unique_ptr<char, decltype(&std::free)> readable(abi::__cxa_demangle(name, nullptr, nullptr, &status),
                                                               &std::free);
    std::string text = status == 0 && readable ? readable.get() : name;
    // The arguments begin at the first parenthesis that is in no template's list and is not "(anonymous namespace)".
    int depth = 0;
    for (size_t i = 0; i < text.size(); ++i) {
        depth += text[i] == '<' ? 1 : text[i] == '>' ? -1 : 0;
        if (text[i] == '(' && depth == 0 && text.compare(i, 11, "(anonymous ") != 0) {
            text.resize(i);
            break;
        }
    }
    if (startsWith(text, "void "))
        text.erase(0, 5);
    return plainName(std::move(text));
}

std::vector<TraceLane> lanesOf(const std::vector<cuco_profile_record>& records, const std::vector<PhaseRecord>& phases)
{
    const auto launches = launchesOf(phases, records);
    std::map<size_t, const Launch*> launch_of;
    for (const auto& [grid, launch] : launches) {
        if (launch.record != SIZE_MAX)
            launch_of[launch.record] = &launch;
    }
    Numbering<std::pair<uint32_t, uint32_t>> streams;
    Numbering<std::pair<uint32_t, uint32_t>> engines;
    Numbering<uint32_t> threads;
    // Sorted: streams, copy engines, then the host.
    std::map<std::pair<int, size_t>, TraceLane> lanes;
    for (size_t i = 0; i < records.size(); ++i) {
        const cuco_profile_record& record = records[i];
        const bool is_kernel = record.kind == cuco_profile_kernel;
        const auto launch = launch_of.find(i);
        TraceInterval interval{record.begin_ns, record.end_ns, record.bytes, TraceActivity::host,
                               is_kernel ? kernelName(record.name) : plainName(record.name)};
        interval.activity = activityOf(record, interval.name, launch == launch_of.end() ? nullptr : launch->second);
        std::pair<int, size_t> place;
        std::string name;
        if (record.kind == cuco_profile_sync) {
            place = {2, 0};
            name = "host waits";
        } else if (record.kind == cuco_profile_range) {
            const size_t number = threads.of(record.stream);
            place = {3, number};
            name = "host ranges" + (number ? " " + std::to_string(number) : std::string());
        } else if (record.flags & cuco_profile_copy_engine) {
            const size_t number = engines.of({record.device, record.channel});
            place = {1, number};
            name = "copy engine" + (number ? " " + std::to_string(number) : std::string());
        } else {
            const size_t number = streams.of({record.device, record.stream});
            place = {0, number};
            name = "stream " + std::to_string(number);
        }
        TraceLane& lane = lanes[place];
        lane.name = name;
        lane.intervals.push_back(std::move(interval));
    }
    // What happens inside kernels goes below the streams that they run on.
    std::vector<TraceLane> result;
    for (auto& [place, lane] : lanes) {
        if (place.first == 0)
            result.push_back(std::move(lane));
    }
    for (TraceLane& lane : phaseLanes(phases, launches, records))
        result.push_back(std::move(lane));
    for (auto& [place, lane] : lanes) {
        if (place.first > 0)
            result.push_back(std::move(lane));
    }
    return result;
}

}  // namespace cuco_harness
#endif
