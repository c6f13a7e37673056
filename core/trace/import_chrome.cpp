// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/trace/import_chrome.h"

#include "core/trace/import_chrome_lanes.h"
#include "core/trace/json_scanner.h"

#include <fmt/format.h>

#include <filesystem>

// Events and fields: the document "Trace Event Format" of the Chromium project. PyTorch's: torch/csrc/profiler and
// libkineto's output_json.cpp.

namespace cuco {

namespace {

constexpr std::size_t events_between_looks = 16'384;

class ChromeImport {
public:
    ChromeImport(std::string_view json, std::string where, const ImportWatch& watch)
        : scan_(json), size_(json.size()), where_(std::move(where)), watch_(watch)
    {
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
        if (lanes_.empty()) {
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
                    if (const auto rank = rankIn(value)) {
                        lanes_.setRank(*rank);
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
                    lanes_.builder().drop(integer<std::uint64_t>(value).value_or(0));
                } else if (key == "axis_error_us") {
                    axis_error_us_ = integer<double>(value);
                } else if (key == "source") {
                    lanes_.builder().note(fmt::format("exported from a timeline whose times are {}", value));
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
            ChromeEvent event;
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

    bool readEvent(ChromeEvent& event)
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

    void readField(char kind, std::string_view value, ChromeEvent& event)
    {
        switch (kind) {
            case 'p':
                event.phase = value.size() == 1 ? value[0] : '?';
                break;
            case 'n':
                event.name = lanes_.builder().name(value);
                event.has_name = true;
                break;
            case 'c':
                event.category = lanes_.categories().number(value.substr(0, 100));
                break;
            case 't':
                event.begin_ns = thousandfold(value);
                break;
            case 'd':
                event.length_ns = thousandfold(value);
                break;
            case 'P':
                event.process = lanes_.places().number(value.substr(0, 100));
                break;
            case 'T':
                event.thread = lanes_.places().number(value.substr(0, 100));
                break;
            default:
                event.id = ids_.size() < 2'000'000 ? ids_.number(value.substr(0, 100)) + 1 : 0;
                event.has_id = event.id != 0;
        }
    }

    void readArguments(ChromeEvent& event)
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
                    event.device = lanes_.places().number(value.substr(0, 100));
                } else if (kind == 's') {
                    event.stream = lanes_.places().number(value.substr(0, 100));
                } else if (kind == 'b') {
                    event.bytes = integer<std::uint64_t>(value).value_or(0);
                } else if (event.phase == 'M' || event.phase == 0) {
                    event.argument_name = lanes_.arguments().number(value.substr(0, 1'000));
                    event.has_argument_name = true;
                }
            }
        }
    }

    bool take(const ChromeEvent& event)
    {
        const char* const wrong = lanes_.take(event);
        if (wrong != nullptr) {
            fault_ = fmt::format("Event {} of the trace {}", events_, wrong);
        }
        return wrong == nullptr;
    }

    Timeline finish()
    {
        Timeline timeline = lanes_.finish(title_.empty() ? std::filesystem::path(where_).filename().string() : title_);
        if (axis_error_us_ && *axis_error_us_ >= 0) {
            timeline.axis_error_us = axis_error_us_;
        }
        return timeline;
    }

    JsonScanner scan_;
    const std::size_t size_;
    const std::string where_;
    const ImportWatch& watch_;
    ChromeLanes lanes_;
    TextTable ids_;
    std::optional<double> axis_error_us_;
    std::string title_, fault_;
    std::size_t events_ = 0;
    bool has_events_ = false, cancelled_ = false, between_events_ = false;
};

}  // namespace

Result<Timeline> importChromeEvents(std::string_view json, const std::string& where, const ImportWatch& watch)
{
    return ChromeImport(json, where, watch).run();
}

}  // namespace cuco
