// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/trace/import_chrome.h"

#include "core/trace/import_builder.h"
#include "core/trace/json_scanner.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <set>

// Events and fields: the document "Trace Event Format" of the Chromium project. PyTorch's: torch/csrc/profiler and
// libkineto's output_json.cpp.

namespace cuco {

namespace {

constexpr int most_ranks = 4'096;
constexpr std::size_t most_open = 10'000;
constexpr std::size_t most_flows = 2'000'000;
constexpr std::size_t events_between_looks = 16'384;

/// The fields of one event that matter, as written.
struct Event {
    char phase = 0;
    std::uint32_t name = 0, category = 0, process = 0, thread = 0;
    std::uint32_t id = 0;
    bool has_name = false, has_id = false;
    std::optional<std::int64_t> begin_ns, length_ns;
    std::uint32_t argument_name = 0;  ///< of metadata
    bool has_argument_name = false;
    std::optional<std::uint32_t> device, stream;  ///< as places
    std::uint64_t bytes = 0;
};

enum class Kind : std::uint8_t { unknown, kernel, copy, fill, annotation, wait, ours, host };

struct Process {
    std::string name;
    bool has_rank = false;
    int rank = 0;
};

struct EventLane {
    std::size_t lane = 0;
    std::uint32_t process = 0, thread = 0;
    bool gpu = false;
    std::vector<std::pair<std::size_t, std::uint32_t>> open;  ///< of B events: index and name
};

template <class Number>
std::optional<Number> integer(std::string_view text)
{
    Number value{};
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    return error == std::errc() && end == text.data() + text.size() ? std::optional(value) : std::nullopt;
}

class ChromeImport {
public:
    ChromeImport(std::string_view json, std::string where, const ImportWatch& watch)
        : scan_(json), size_(json.size()), where_(std::move(where)), watch_(watch)
    {
        // What an event does not name is number 0.
        categories_.number("");
        places_.number("");
    }

    Result<Timeline> run()
    {
        const bool is_list = scan_.peek() == '[';
        const bool whole = is_list ? readEvents() : readDocument();
        if (cancelled_) {
            return failure("Reading the trace was cancelled", where_);
        }
        // The format's own document lets a list of events go without its bracket.
        const bool unclosed_list = is_list && scan_.truncated() && between_events_;
        if (!whole && !unclosed_list) {
            return failure(fault_.empty() ? fmt::format("The trace is broken at byte {}, in event {}: {}",
                                                        scan_.position(), events_, scan_.fault())
                                          : fault_,
                           where_,
                           scan_.truncated() ? "The file is not complete: write or copy it again."
                                             : "Write the trace again, or repair the file.");
        }
        if (!is_list && !has_events_) {
            return failure("The JSON has no \"traceEvents\" and no \"lanes\": it is no trace", where_,
                           "Give a Chrome, Perfetto or PyTorch trace in JSON, or a timeline of CUCo's own.");
        }
        if (builder_.empty()) {
            return failure(fmt::format("The trace has no event with a length among its {} events", events_), where_,
                           "Record complete events (\"X\", with \"ts\" and \"dur\") or pairs of \"B\" and \"E\".");
        }
        return finish();
    }

private:
    bool readDocument()
    {
        std::string_view key;
        if (!scan_.enterObject()) {
            return false;
        }
        while (scan_.nextKey(key)) {
            bool read = true;
            if (key == "traceEvents") {
                has_events_ = true;
                read = readEvents();
            } else if (key == "distributedInfo" && scan_.peek() == '{') {
                read = readDistributedInfo();
            } else if (key == "otherData" && scan_.peek() == '{') {
                read = readOtherData();
            } else {
                read = scan_.skip();
            }
            if (!read) {
                return false;
            }
        }
        return !scan_.failed();
    }

    bool readDistributedInfo()
    {
        std::string_view key, value;
        scan_.enterObject();
        while (scan_.nextKey(key)) {
            if (key == "rank" && scan_.peek() != '{' && scan_.peek() != '[') {
                if (scan_.readScalar(value)) {
                    const auto rank = integer<int>(value);
                    if (rank && *rank >= 0 && *rank < most_ranks) {
                        rank_ = rank;
                    }
                }
            } else {
                scan_.skip();
            }
        }
        return !scan_.failed();
    }

    /// What toPerfetto() writes there.
    bool readOtherData()
    {
        std::string_view key, value;
        scan_.enterObject();
        while (scan_.nextKey(key)) {
            const char next = scan_.peek();
            if (next == '{' || next == '[') {
                scan_.skip();
            } else if (scan_.readScalar(value)) {
                if (key == "title") {
                    title_ = value;
                } else if (key == "dropped") {
                    builder_.drop(integer<std::uint64_t>(value).value_or(0));
                } else if (key == "axis_error_us") {
                    axis_error_us_ = integer<double>(value);
                } else if (key == "source") {
                    builder_.note(fmt::format("exported from a timeline whose times are {}", value));
                }
            }
        }
        return !scan_.failed();
    }

    bool readEvents()
    {
        if (!scan_.enterArray()) {
            return false;
        }
        between_events_ = true;
        while (scan_.nextElement()) {
            between_events_ = false;
            ++events_;
            if (events_ % events_between_looks == 0 && !look()) {
                return false;
            }
            Event event;
            if (!readEvent(event) || !take(event)) {
                return false;
            }
            between_events_ = true;
        }
        return !scan_.failed();
    }

    bool look()
    {
        if (watch_.progress) {
            watch_.progress(static_cast<double>(scan_.position()) / static_cast<double>(size_));
        }
        cancelled_ = watch_.stop.stop_requested();
        return !cancelled_;
    }

    bool readEvent(Event& event)
    {
        if (scan_.peek() != '{') {
            return scan_.skip();  // some writers end a list with null
        }
        scan_.enterObject();
        std::string_view key, value;
        while (scan_.nextKey(key)) {
            const char next = scan_.peek();
            if (key == "args" && next == '{') {
                readArguments(event);
                continue;
            }
            if (next == '{' || next == '[') {
                scan_.skip();
                continue;
            }
            // The key's text may be gone once the value is read.
            const char kind = key == "ph"     ? 'p'
                              : key == "name" ? 'n'
                              : key == "cat"  ? 'c'
                              : key == "ts"   ? 't'
                              : key == "dur"  ? 'd'
                              : key == "pid"  ? 'P'
                              : key == "tid"  ? 'T'
                              : key == "id"   ? 'i'
                                              : ' ';
            if (kind == ' ') {
                scan_.skip();
                continue;
            }
            if (!scan_.readScalar(value)) {
                return false;
            }
            readField(kind, value, event);
        }
        return !scan_.failed();
    }

    void readField(char kind, std::string_view value, Event& event)
    {
        switch (kind) {
            case 'p':
                event.phase = value.size() == 1 ? value[0] : '?';
                break;
            case 'n':
                event.name = builder_.name(value);
                event.has_name = true;
                break;
            case 'c':
                event.category = categories_.number(value.substr(0, 100));
                break;
            case 't':
                event.begin_ns = thousandfold(value);
                break;
            case 'd':
                event.length_ns = thousandfold(value);
                break;
            case 'P':
                event.process = places_.number(value.substr(0, 100));
                break;
            case 'T':
                event.thread = places_.number(value.substr(0, 100));
                break;
            default:
                event.id = ids_.size() < 2'000'000 ? ids_.number(value.substr(0, 100)) + 1 : 0;
                event.has_id = event.id != 0;
        }
    }

    void readArguments(Event& event)
    {
        std::string_view key, value;
        scan_.enterObject();
        while (scan_.nextKey(key)) {
            const char kind = key == "device"   ? 'd'
                              : key == "stream" ? 's'
                              : key == "bytes"  ? 'b'
                              : key == "name"   ? 'n'
                                                : ' ';
            const char next = scan_.peek();
            if (kind == ' ' || next == '{' || next == '[') {
                scan_.skip();
            } else if (scan_.readScalar(value)) {
                if (kind == 'd') {
                    event.device = places_.number(value.substr(0, 100));
                } else if (kind == 's') {
                    event.stream = places_.number(value.substr(0, 100));
                } else if (kind == 'b') {
                    event.bytes = integer<std::uint64_t>(value).value_or(0);
                } else if (event.phase == 'M' || event.phase == 0) {
                    event.argument_name = arguments_.number(value.substr(0, 1'000));
                    event.has_argument_name = true;
                }
            }
        }
    }

    Kind kindOf(std::uint32_t category)
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

    Activity activityOf(Kind kind, const Event& event)
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

    EventLane& laneOf(const Event& event, Kind kind)
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

    bool broken(std::string what)
    {
        fault_ = fmt::format("Event {} of the trace {}", events_, what);
        return false;
    }

    bool take(const Event& event)
    {
        switch (event.phase) {
            case 'X': {
                if (!event.begin_ns) {
                    return broken("has no usable \"ts\" (microseconds, a number)");
                }
                if (event.length_ns && *event.length_ns < 0) {
                    return broken("has a negative \"dur\"");
                }
                const Kind kind = kindOf(event.category);
                builder_.add(laneOf(event, kind).lane, {*event.begin_ns, *event.begin_ns + event.length_ns.value_or(0),
                                                        nameOf(event), 0, event.bytes, activityOf(kind, event)});
                return true;
            }
            case 'B':
            case 'E':
                return event.begin_ns ? takePair(event) : broken("has no usable \"ts\" (microseconds, a number)");
            case 's':
            case 't':
            case 'f':
                if (event.has_id && event.begin_ns && flows_.size() < most_flows) {
                    flows_.push_back(event);
                }
                return true;
            case 'M':
                takeMetadata(event);
                return true;
            default:
                return true;
        }
    }

    std::uint32_t nameOf(const Event& event) { return event.has_name ? event.name : builder_.name("(no name)"); }

    bool takePair(const Event& event)
    {
        const Kind kind = kindOf(event.category);
        EventLane& lane = laneOf(event, Kind::host);  // an end may carry no more than its thread
        if (event.phase == 'B') {
            if (lane.open.size() >= most_open) {
                return broken("opens more intervals on one thread than can be told apart");
            }
            const std::size_t index = builder_.count(lane.lane);
            if (builder_.add(lane.lane, {*event.begin_ns, *event.begin_ns, nameOf(event), 0, event.bytes,
                                         activityOf(kind, event)})) {
                lane.open.emplace_back(index, event.name);
            }
        } else if (!lane.open.empty()) {
            builder_.setEnd(lane.lane, lane.open.back().first, *event.begin_ns);
            lane.open.pop_back();
        }
        latest_ns_ = std::max(latest_ns_, *event.begin_ns);
        return true;
    }

    void takeMetadata(const Event& event)
    {
        if (!event.has_name || !event.has_argument_name) {
            return;
        }
        const std::string& what = builder_.nameText(event.name);
        const std::string& name = arguments_[event.argument_name];
        if (what == "process_name") {
            Process& process = processes_[event.process];
            process.name = name;
            const auto rank = name.starts_with("rank ") ? integer<int>(std::string_view(name).substr(5)) : std::nullopt;
            process.has_rank = rank && *rank >= 0 && *rank < most_ranks;
            process.rank = process.has_rank ? *rank : 0;
        } else if (what == "thread_name") {
            threads_[{event.process, event.thread}] = name;
        }
    }

    /// Processes without a rank of their own, numbered in the order of their number or name.
    std::map<std::uint32_t, int> ranksOfProcesses() const
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

    void nameLane(const std::array<std::uint32_t, 3>& key, const EventLane& lane, int rank)
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

    Result<Timeline> finish()
    {
        for (auto& [key, lane] : lanes_) {
            for (const auto& [index, name] : lane.open) {
                builder_.setEnd(lane.lane, index, latest_ns_);
            }
            if (!lane.open.empty()) {
                builder_.note("events that never end were ended with the last one that does");
            }
        }
        for (const Event& event : flows_) {
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
        Timeline timeline =
            builder_.finish(title_.empty() ? std::filesystem::path(where_).filename().string() : title_);
        if (axis_error_us_ && *axis_error_us_ >= 0) {
            timeline.axis_error_us = axis_error_us_;
        }
        return timeline;
    }

    JsonScanner scan_;
    const std::size_t size_;
    const std::string where_;
    const ImportWatch& watch_;
    TimelineBuilder builder_;
    TextTable categories_, places_, arguments_, ids_;
    std::vector<Kind> kinds_;
    std::map<std::array<std::uint32_t, 3>, EventLane> lanes_;
    std::array<std::uint32_t, 3> last_key_{};
    EventLane* last_lane_ = nullptr;
    std::set<std::uint32_t> devices_;
    std::map<std::uint32_t, Process> processes_;
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::string> threads_;
    std::vector<Event> flows_;
    std::optional<int> rank_;
    std::optional<double> axis_error_us_;
    std::string title_, fault_;
    std::size_t events_ = 0;
    std::int64_t latest_ns_ = INT64_MIN;
    bool has_events_ = false, cancelled_ = false, between_events_ = false;
};

}  // namespace

Result<Timeline> importChromeEvents(std::string_view json, const std::string& where, const ImportWatch& watch)
{
    return ChromeImport(json, where, watch).run();
}

}  // namespace cuco
