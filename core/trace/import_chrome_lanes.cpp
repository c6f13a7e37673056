// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/trace/import_chrome_lanes.h"

#include <fmt/format.h>

#include <algorithm>

namespace cuco {

namespace {

constexpr int most_ranks = 4'096;
constexpr std::size_t most_open = 10'000;
constexpr std::size_t most_flows = 2'000'000;

}  // namespace

std::optional<int> rankIn(std::string_view text)
{
    const auto rank = integer<int>(text);
    return rank && *rank >= 0 && *rank < most_ranks ? rank : std::nullopt;
}

ChromeLanes::ChromeLanes()
{
    // What an event does not name is number 0.
    categories_.number("");
    places_.number("");
}

ChromeLanes::Kind ChromeLanes::kindOf(std::uint32_t category)
{
    if (category >= kinds_.size()) {
        kinds_.resize(category + 1, Kind::unknown);
    }
    Kind& kind = kinds_[category];
    if (kind == Kind::unknown) {
        const std::string& text = categories_[category];
        kind = text == "kernel" || text == "Kernel"       ? Kind::kernel
               : text == "gpu_memcpy" || text == "Memcpy" ? Kind::copy
               : text == "gpu_memset" || text == "Memset" ? Kind::fill
               : text == "gpu_user_annotation"            ? Kind::annotation
               : text == "cuda_sync"                      ? Kind::wait
               : text == "compute" || text == "communication" || text == "copy" || text == "wait" || text == "host"
                   ? Kind::ours
                   : Kind::host;
    }
    return kind;
}

Activity ChromeLanes::activityOf(Kind kind, const ChromeEvent& event)
{
    const std::string& name = builder_.nameText(event.name);
    switch (kind) {
        case Kind::kernel:
            return isCommunicationKernel(name) ? Activity::communication : Activity::compute;
        case Kind::copy:
            return name.find("PtoP") != std::string::npos || name.find("P2P") != std::string::npos ||
                           name.find("Peer") != std::string::npos
                       ? Activity::communication
                       : Activity::copy;
        case Kind::fill:
            return Activity::copy;
        case Kind::wait:
            return Activity::wait;
        case Kind::ours: {
            const std::string& text = categories_[event.category];
            for (const Activity activity :
                 {Activity::compute, Activity::communication, Activity::copy, Activity::wait}) {
                if (text == toString(activity)) {
                    return activity;
                }
            }
            return Activity::host;
        }
        default:
            return Activity::host;
    }
}

ChromeLanes::EventLane& ChromeLanes::laneOf(const ChromeEvent& event, Kind kind)
{
    const bool gpu = kind == Kind::kernel || kind == Kind::copy || kind == Kind::fill || kind == Kind::annotation;
    std::array<std::uint32_t, 3> key{event.process, event.thread, 0};
    if (gpu) {
        // Kineto's rows are a device's streams; annotations lie around kernels, on rows of their own.
        key = {event.device.value_or(event.process), event.stream.value_or(event.thread),
               kind == Kind::annotation ? 2u : 1u};
    }
    if (last_lane_ && key == last_key_) {
        return *last_lane_;
    }
    const auto [found, is_new] = lanes_.try_emplace(key);
    if (is_new) {
        found->second.lane = builder_.addLane(0, "", 0);
        found->second.process = event.process;
        found->second.thread = event.thread;
        found->second.gpu = gpu;
        if (gpu) {
            devices_.insert(key[0]);
        }
    }
    last_key_ = key;
    last_lane_ = &found->second;
    return found->second;
}

const char* ChromeLanes::take(const ChromeEvent& event)
{
    switch (event.phase) {
        case 'X': {
            if (!event.begin_ns) {
                return "has no usable \"ts\" (microseconds, a number)";
            }
            if (event.length_ns && *event.length_ns < 0) {
                return "has a negative \"dur\"";
            }
            const Kind kind = kindOf(event.category);
            builder_.add(laneOf(event, kind).lane, {*event.begin_ns, *event.begin_ns + event.length_ns.value_or(0),
                                                    nameOf(event), 0, event.bytes, activityOf(kind, event)});
            return nullptr;
        }
        case 'B':
        case 'E':
            return event.begin_ns ? takePair(event) : "has no usable \"ts\" (microseconds, a number)";
        case 's':
        case 't':
        case 'f':
            if (event.has_id && event.begin_ns && flows_.size() < most_flows) {
                flows_.push_back(event);
            }
            return nullptr;
        case 'M':
            takeMetadata(event);
            return nullptr;
        default:
            return nullptr;
    }
}

std::uint32_t ChromeLanes::nameOf(const ChromeEvent& event)
{
    return event.has_name ? event.name : builder_.name("(no name)");
}

const char* ChromeLanes::takePair(const ChromeEvent& event)
{
    const Kind kind = kindOf(event.category);
    EventLane& lane = laneOf(event, Kind::host);  // an end may carry no more than its thread
    if (event.phase == 'B') {
        if (lane.open.size() >= most_open) {
            return "opens more intervals on one thread than can be told apart";
        }
        const std::size_t index = builder_.count(lane.lane);
        if (builder_.add(lane.lane,
                         {*event.begin_ns, *event.begin_ns, nameOf(event), 0, event.bytes, activityOf(kind, event)})) {
            lane.open.emplace_back(index, event.name);
        }
    } else if (!lane.open.empty()) {
        builder_.setEnd(lane.lane, lane.open.back().first, *event.begin_ns);
        lane.open.pop_back();
    }
    latest_ns_ = std::max(latest_ns_, *event.begin_ns);
    return nullptr;
}

void ChromeLanes::takeMetadata(const ChromeEvent& event)
{
    if (!event.has_name || !event.has_argument_name) {
        return;
    }
    const std::string& what = builder_.nameText(event.name);
    const std::string& name = arguments_[event.argument_name];
    if (what == "process_name") {
        Process& process = processes_[event.process];
        process.name = name;
        const auto rank = name.starts_with("rank ") ? rankIn(std::string_view(name).substr(5)) : std::nullopt;
        process.has_rank = rank.has_value();
        process.rank = rank.value_or(0);
    } else if (what == "thread_name") {
        threads_[{event.process, event.thread}] = name;
    }
}

/// Processes without a rank of their own, numbered in the order of their number or name.
std::map<std::uint32_t, int> ChromeLanes::ranksOfProcesses() const
{
    std::map<std::pair<std::int64_t, std::string>, std::uint32_t> sorted;
    for (const auto& [key, lane] : lanes_) {
        const std::string& text = places_[lane.process];
        if (!lane.gpu) {
            sorted[{integer<std::int64_t>(text).value_or(INT64_MAX), text}] = lane.process;
        }
    }
    std::map<std::uint32_t, int> ranks;
    for (const auto& [order, process] : sorted) {
        const auto known = processes_.find(process);
        ranks[process] = known != processes_.end() && known->second.has_rank
                             ? known->second.rank
                             : std::min(static_cast<int>(ranks.size()), most_ranks - 1);
    }
    return ranks;
}

void ChromeLanes::nameLane(const std::array<std::uint32_t, 3>& key, const EventLane& lane, int rank)
{
    if (lane.gpu) {
        const bool annotation = key[2] == 2;
        const bool several = devices_.size() > 1 && rank_;
        std::string name = fmt::format("{}{}stream {}", annotation ? "annotations, " : "",
                                       several ? "GPU " + places_[key[0]] + " " : std::string(), places_[key[1]]);
        builder_.renameLane(lane.lane, rank, std::move(name), annotation ? 1 : 0);
        return;
    }
    const auto named = threads_.find({lane.process, lane.thread});
    std::string name = named != threads_.end() ? named->second : "thread " + places_[lane.thread];
    builder_.renameLane(lane.lane, rank, std::move(name), 2);
}

Timeline ChromeLanes::finish(std::string title)
{
    for (auto& [key, lane] : lanes_) {
        for (const auto& [index, name] : lane.open) {
            builder_.setEnd(lane.lane, index, latest_ns_);
        }
        if (!lane.open.empty()) {
            builder_.note("events that never end were ended with the last one that does");
        }
    }
    for (const ChromeEvent& event : flows_) {
        auto lane = lanes_.find({event.process, event.thread, 0});
        if (lane == lanes_.end()) {
            lane = lanes_.find({event.process, event.thread, 1});
        }
        if (lane != lanes_.end()) {
            builder_.addFlow(lane->second.lane, *event.begin_ns, event.id);
        }
    }
    const bool is_kineto = !devices_.empty();
    const auto ranks = ranksOfProcesses();
    for (const auto& [key, lane] : lanes_) {
        int rank = 0;
        if (is_kineto) {
            // One file is one rank, or one process with several GPUs.
            const int device = integer<int>(places_[key[0]]).value_or(0);
            rank = rank_ ? *rank_ : lane.gpu ? std::clamp(device, 0, most_ranks - 1) : 0;
        } else {
            rank = ranks.at(lane.process);
        }
        nameLane(key, lane, rank);
    }
    return builder_.finish(std::move(title));
}

}  // namespace cuco
