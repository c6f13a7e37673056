// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/evaluation/harness_report.h"

#include "core/base/json.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>

namespace cuco {

namespace {

constexpr std::size_t max_lines = 200'000, max_remarks = 20, max_mismatches = 256, max_failures = 64, max_races = 16;
constexpr std::size_t max_phases = 64;
constexpr std::size_t max_text_bytes = 64u << 10;

std::string limited(std::string text)
{
    if (text.size() > max_text_bytes)
        text.resize(max_text_bytes);
    return text;
}

/// Takes the events one by one; a handler returns the violation, or nothing.
class Reader {
public:
    void take(std::string_view line)
    {
        if (line.empty() || !report_.violation.empty())
            return;
        if (++lines_ > max_lines) {
            report_.violation = "There are too many lines.";
            return;
        }
        const auto json = nlohmann::json::parse(line, nullptr, false);
        if (!json.is_object() || !json.contains("event") || !json["event"].is_string()) {
            report_.violation = fmt::format("Line {} is no event.", lines_);
            return;
        }
        if (report_.done) {
            report_.violation = "Something was reported after the end.";
            return;
        }
        const auto& event = json["event"].get_ref<const std::string&>();
        if (!report_.failures.empty() && event != "failure" && event != "done") {
            report_.violation = "Something was reported after a failure, which ends the run.";
            return;
        }
        const auto fault = dispatch(event, json);
        if (!fault.empty())
            report_.violation = fmt::format("Line {} ({}): {}", lines_, limited(event), fault);
    }

    HarnessReport finish() && { return std::move(report_); }

private:
    std::string dispatch(const std::string& event, const nlohmann::json& json)
    {
        JsonReader reader(json, "harness report");
        if (event == "start")
            return start(reader);
        if (event == "time")
            return time(reader);
        if (event == "trace")
            return trace(reader);
        if (event == "trace_failed")
            return traceFailed(reader);
        if (event == "failure")
            return failed(reader);
        if (event == "baseline_failed")
            return baselineFailed(reader);
        if (event == "conditions")
            return conditions(reader);
        if (event == "rates")
            return rates(reader);
        if (event == "processes")
            return processes(reader);
        if (event == "spent")
            return spent(reader);
        if (event == "gpu_fault")
            return gpuFault(reader);
        if (event == "used")
            return used(reader);
        if (event == "checked")
            return checked(reader);
        if (event == "mismatch")
            return mismatch(reader);
        if (event == "race")
            return raced(json);
        if (event == "done") {
            report_.done = true;
            return {};
        }
        remark(fmt::format("The harness reported an unknown event \"{}\".", limited(event)));
        return {};
    }

    void remark(std::string text)
    {
        if (report_.remarks.size() < max_remarks)
            report_.remarks.push_back(std::move(text));
    }

    static std::string faultOf(const JsonReader& reader)
    {
        const auto finished = reader.finish();
        return finished ? std::string() : finished.error().what;
    }

    std::string start(JsonReader& reader)
    {
        if (report_.started)
            return "It comes twice.";
        report_.started = true;
        std::vector<std::string> hosts;
        reader.optional("hosts", hosts);
        for (auto& host : hosts)
            report_.hosts.push_back(limited(std::move(host)));
        return faultOf(reader);
    }

    std::string time(JsonReader& reader)
    {
        std::string shape, program = "candidate";
        std::vector<double> samples, events;
        int burst = 1;
        double start_uncertainty_us = 0;
        reader.optional("start_uncertainty_us", start_uncertainty_us);
        reader.required("shape", shape).required("samples_us", samples).optional("event_us", events);
        reader.optional("program", program).optional("burst", burst);
        if (auto fault = faultOf(reader); !fault.empty())
            return fault;
        if (samples.empty() || std::ranges::any_of(samples, [](double us) { return !std::isfinite(us) || us <= 0; }))
            return "A sample is no positive number.";
        report_.start_uncertainty_us = std::max(report_.start_uncertainty_us, start_uncertainty_us);
        if (program != "candidate") {
            auto& shapes = report_.baseline_samples_us[program];
            return shapes.emplace(shape, std::move(samples)).second ? "" : "The shape comes twice.";
        }
        report_.bursts[shape] = burst;
        report_.event_us[shape] = std::move(events);
        return report_.samples_us.emplace(shape, std::move(samples)).second ? "" : "The shape comes twice.";
    }

    std::string trace(JsonReader& reader)
    {
        std::string shape;
        reader.required("shape", shape);
        const auto* object = reader.object("timeline");
        if (auto fault = faultOf(reader); !fault.empty())
            return fault;
        auto timeline = timelineFromJson(*object);
        if (!timeline) {  // a picture that cannot be drawn says nothing against the run
            remark(fmt::format("The timeline of shape {} was left out: {}", limited(shape), timeline.error().what));
            return {};
        }
        return report_.timelines.emplace(shape, std::move(*timeline)).second ? "" : "The shape comes twice.";
    }

    std::string traceFailed(JsonReader& reader)
    {
        std::string message, detail;
        reader.required("message", message).optional("detail", detail);
        report_.trace_problem = limited(detail.empty() ? message : message + " " + detail);
        return faultOf(reader);
    }

    std::string used(JsonReader& reader)
    {
        if (!report_.host_collectives.empty())
            return "It comes twice.";
        reader.required("host_collectives", report_.host_collectives);
        return faultOf(reader);
    }

    std::string failed(JsonReader& reader)
    {
        HarnessFailure failure;
        std::int64_t line = 0;
        reader.required("kind", failure.kind).required("message", failure.message);
        reader.optional("shape", failure.shape).optional("detail", failure.detail).optional("rank", failure.rank);
        reader.optional("line", line);
        if (auto fault = faultOf(reader); !fault.empty())
            return fault;
        if (report_.failures.size() == max_failures)
            return "There are too many failures.";
        failure.line = line > 0 && line < (1 << 24) ? static_cast<std::size_t>(line) : 0;
        failure.message = limited(std::move(failure.message));
        failure.detail = limited(std::move(failure.detail));
        report_.failures.push_back(std::move(failure));
        return {};
    }

    std::string baselineFailed(JsonReader& reader)
    {
        std::string program, message, detail;
        reader.required("program", program).required("message", message).optional("detail", detail);
        if (auto fault = faultOf(reader); !fault.empty())
            return fault;
        report_.baseline_problems[program] = limited(detail.empty() ? message : message + " " + detail);
        return {};
    }

    std::string conditions(JsonReader& reader)
    {
        std::string shape;
        reader.required("shape", shape);
        const auto* gpus = reader.array("gpus");
        if (auto fault = faultOf(reader); !fault.empty())
            return fault;
        for (const auto& json : *gpus) {
            GpuConditions gpu;
            JsonReader of_gpu(json, "harness report", "gpus");
            of_gpu.required("pci", gpu.pci).required("sm_mhz", gpu.sm_mhz).required("memory_mhz", gpu.memory_mhz);
            of_gpu.required("temperature_c", gpu.temperature_c).required("power_w", gpu.power_w);
            of_gpu.required("throttling", gpu.throttling);
            if (auto fault = faultOf(of_gpu); !fault.empty())
                return fault;
            report_.conditions[shape].push_back(std::move(gpu));
        }
        return {};
    }

    std::string rates(JsonReader& reader)
    {
        MeasuredRates rates;
        reader.required("link_bytes_per_s", rates.link_bytes_per_s).required("hbm_bytes_per_s", rates.hbm_bytes_per_s);
        if (auto fault = faultOf(reader); !fault.empty())
            return fault;
        rates.link_is_limit = report_.hosts.empty();
        report_.rates = rates;
        return {};
    }

    std::string spent(JsonReader& reader)
    {
        std::map<std::string, double> phases;
        reader.required("ms", phases);
        if (auto fault = faultOf(reader); !fault.empty())
            return fault;
        for (const auto& [phase, ms] : phases)
            if (report_.spent_ms.contains(phase) || report_.spent_ms.size() < max_phases)
                report_.spent_ms[limited(phase)] += ms;
        return {};
    }

    std::string processes(JsonReader& reader)
    {
        std::vector<std::int64_t> observers;
        reader.required("observers", observers);
        const auto* gpus = reader.array("gpus");
        if (auto fault = faultOf(reader); !fault.empty())
            return fault;
        for (std::size_t gpu = 0; gpu < gpus->size(); ++gpu) {
            if (!(*gpus)[gpu].is_array())
                return "A GPU's processes are no list.";
            for (const auto& json : (*gpus)[gpu]) {
                std::int64_t pid = 0, memory_bytes = 0;
                JsonReader process(json, "harness report", "processes");
                process.required("pid", pid).required("memory_bytes", memory_bytes);
                if (auto fault = faultOf(process); !fault.empty())
                    return fault;
                if ((gpu >= observers.size() || pid != observers[gpu]) && report_.neighbours.size() < max_remarks)
                    report_.neighbours.push_back(
                        fmt::format("process {} ({} MiB) on GPU {}", pid, memory_bytes >> 20, gpu));
            }
        }
        return {};
    }

    std::string gpuFault(JsonReader& reader)
    {
        std::string message;
        reader.required("message", message);
        report_.gpu_fault = limited(std::move(message));
        return faultOf(reader);
    }

    std::string checked(JsonReader& reader)
    {
        CheckedOutput output;
        reader.required("shape", output.shape).required("iteration", output.iteration).required("rank", output.rank);
        if (auto fault = faultOf(reader); !fault.empty())
            return fault;
        report_.checked.push_back(std::move(output));
        return {};
    }

    std::string mismatch(JsonReader& reader)
    {
        Mismatch found;
        reader.required("shape", found.shape).required("rank", found.rank).required("buffer", found.buffer);
        reader.required("element", found.element).required("expected", found.expected).required("got", found.got);
        reader.required("wrong_elements", found.wrong_elements).required("elements", found.elements);
        reader.required("relative_l2", found.relative_l2);
        reader.optional("iteration", found.iteration).optional("wrong_in_bin", found.wrong_in_bin);
        if (auto fault = faultOf(reader); !fault.empty())
            return fault;
        if (report_.mismatches.size() < max_mismatches)
            report_.mismatches.push_back(std::move(found));
        return {};
    }

    std::string raced(const nlohmann::json& json)
    {
        auto race = raceReportFromJson(json, "harness report");
        if (!race)
            return race.error().what;
        if (report_.races.size() < max_races)
            report_.races.push_back(std::move(*race));
        return {};
    }

    HarnessReport report_;
    std::size_t lines_ = 0;
};

}  // namespace

HarnessReport parseHarnessReport(std::string_view text)
{
    Reader reader;
    while (!text.empty()) {
        const auto end = std::min(text.find('\n'), text.size());
        reader.take(text.substr(0, end));
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return std::move(reader).finish();
}

}  // namespace cuco
