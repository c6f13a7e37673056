// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/run/otlp_export.h"

#include "core/source/kernel_source.h"

#include <fmt/format.h>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

namespace cuco {

namespace {

constexpr const char* schema_url = "https://opentelemetry.io/schemas/1.41.1";
constexpr int kind_internal = 1, kind_client = 3;
constexpr int status_error = 2;

struct Times {
    std::int64_t begin_us = std::numeric_limits<std::int64_t>::max(), end_us = 0;  ///< Unix time
    void include(const Times& other)
    {
        begin_us = std::min(begin_us, other.begin_us);
        end_us = std::max(end_us, other.end_us);
    }
};

/// Files from elsewhere may claim any time.
Times within(std::int64_t begin_ms, std::chrono::microseconds length)
{
    constexpr std::int64_t most_ms = 9'000'000'000'000;  // the year 2255, whose nanoseconds fit
    const std::int64_t begin_us = std::clamp<std::int64_t>(begin_ms, 0, most_ms) * 1000;
    return {begin_us, begin_us + std::clamp<std::int64_t>(length.count(), 0, most_ms)};
}

/// A span's attributes. 64-bit integers are strings in OTLP's JSON.
class Attributes {
public:
    Attributes& text(const char* key, const std::string& value)
    {
        return value.empty() ? *this : add(key, {{"stringValue", value}});
    }
    Attributes& integer(const char* key, std::int64_t value) { return add(key, {{"intValue", std::to_string(value)}}); }
    Attributes& real(const char* key, double value) { return add(key, {{"doubleValue", value}}); }
    Attributes& texts(const char* key, const std::vector<std::string>& values)
    {
        nlohmann::json list = nlohmann::json::array();
        for (const std::string& value : values)
            list.push_back({{"stringValue", value}});
        return add(key, {{"arrayValue", {{"values", std::move(list)}}}});
    }
    nlohmann::json json = nlohmann::json::array();

private:
    Attributes& add(const char* key, nlohmann::json value)
    {
        json.push_back({{"key", key}, {"value", std::move(value)}});
        return *this;
    }
};

class Spans {
public:
    explicit Spans(std::string trace_id) : trace_id_(std::move(trace_id)) {}

    std::string id(const std::string& name) const { return sha256Hex(trace_id_ + " " + name).substr(0, 16); }
    nlohmann::json& add(const std::string& id, const std::string& parent, const std::string& name, int kind,
                        const Times& times)
    {
        nlohmann::json span = {{"traceId", trace_id_},
                               {"spanId", id},
                               {"name", name},
                               {"kind", kind},
                               {"startTimeUnixNano", std::to_string(times.begin_us * 1000)},
                               {"endTimeUnixNano", std::to_string(times.end_us * 1000)}};
        if (!parent.empty())
            span["parentSpanId"] = parent;
        list.push_back(std::move(span));
        return list.back();
    }
    nlohmann::json list = nlohmann::json::array();

private:
    std::string trace_id_;
};

/// The conventions' word where they have one.
std::string finishReason(StopReason reason)
{
    switch (reason) {
        case StopReason::finished:
        case StopReason::stop_sequence:
            return "stop";
        case StopReason::token_limit:
        case StopReason::context_limit:
            return "length";
        case StopReason::refusal:
            return "content_filter";
        default:
            return toString(reason);
    }
}

nlohmann::json textPart(const std::string& text)
{
    return {{"type", "text"}, {"content", text}};
}

void addContent(Attributes& attributes, const LlmCall& call)
{
    nlohmann::json asked = nlohmann::json::array();
    for (const ChatMessage& message : call.request.messages)
        asked.push_back({{"role", toString(message.role)}, {"parts", nlohmann::json::array({textPart(message.text)})}});
    const ChatResponse& answer = answerOf(call.result);
    const auto answered = nlohmann::json::array({{{"role", "assistant"},
                                                  {"parts", nlohmann::json::array({textPart(answer.text)})},
                                                  {"finish_reason", finishReason(answer.stop_reason)}}});
    if (!call.request.system.empty())
        attributes.text("gen_ai.system_instructions", dumpJson(nlohmann::json::array({textPart(call.request.system)})));
    attributes.text("gen_ai.input.messages", dumpJson(asked));
    if (!answer.text.empty())
        attributes.text("gen_ai.output.messages", dumpJson(answered));
}

nlohmann::json attributesOf(const LlmCall& call, bool with_content)
{
    const ChatResponse& answer = answerOf(call.result);
    Attributes attributes;
    attributes.text("gen_ai.operation.name", "chat")
        .text("gen_ai.provider.name", call.provider == "bedrock" ? "aws.bedrock" : call.provider)
        .text("gen_ai.request.model", call.request.model)
        .integer("gen_ai.request.max_tokens", call.request.max_output_tokens);
    if (call.request.temperature)
        attributes.real("gen_ai.request.temperature", *call.request.temperature);
    attributes.text("gen_ai.response.model", answer.model).text("gen_ai.response.id", answer.request_id);
    if (call.result)
        attributes.texts("gen_ai.response.finish_reasons", {finishReason(answer.stop_reason)});
    const TokenUsage& usage = answer.usage;
    if (usage.reported) {
        // The conventions count what a cache gave or took as input.
        attributes.integer("gen_ai.usage.input_tokens", usage.input + usage.cache_read + usage.cache_write)
            .integer("gen_ai.usage.output_tokens", usage.output)
            .integer("gen_ai.usage.cache_read.input_tokens", usage.cache_read)
            .integer("gen_ai.usage.cache_creation.input_tokens", usage.cache_write)
            .integer("gen_ai.usage.reasoning.output_tokens", usage.reasoning);
    }
    if (!call.result)
        attributes.text("error.type", toString(call.result.error().kind));
    attributes.text("cuco.agent", call.agent).text("cuco.candidate", call.candidate_id);
    if (call.cost_usd)
        attributes.real("cuco.cost_usd", *call.cost_usd).text("cuco.cost_source", call.cost_source);
    attributes.integer("cuco.attempts", answer.attempts);
    if (answer.first_text.count() > 0)
        attributes.integer("cuco.time_to_first_text_us", answer.first_text.count());
    if (with_content)
        addContent(attributes, call);
    return std::move(attributes.json);
}

struct Run {
    RunSnapshot snapshot;
    std::vector<AgentStep> steps;  ///< by id, so a parent, which is older, comes before its children
    std::vector<LlmCallSummary> calls;
};

Result<Run> readRun(RunFile& file)
{
    auto snapshot = file.snapshot();
    if (!snapshot)
        return std::unexpected(snapshot.error());
    auto steps = file.steps();
    if (!steps)
        return std::unexpected(steps.error());
    auto calls = file.llmCalls();
    if (!calls)
        return std::unexpected(calls.error());
    return Run{std::move(*snapshot), std::move(*steps), std::move(*calls)};
}

/// A step lasts from its own time over all that is below it.
std::map<int, Times> timesOfSteps(const Run& run)
{
    std::map<int, Times> times;
    for (const AgentStep& step : run.steps)
        times[step.id] = within(step.time_ms, {});
    for (const LlmCallSummary& call : run.calls)
        if (const auto found = times.find(call.step); found != times.end())
            found->second.include(within(call.started_ms, call.total));
    for (auto step = run.steps.rbegin(); step != run.steps.rend(); ++step)
        if (const auto parent = times.find(step->parent); parent != times.end() && step->parent < step->id)
            parent->second.include(times[step->id]);
    return times;
}

}  // namespace

Result<nlohmann::json> toOtlp(RunFile& file, OtlpOptions options)
{
    const auto run = readRun(file);
    if (!run)
        return std::unexpected(run.error());
    const std::map<int, Times> step_times = timesOfSteps(*run);
    Times whole;
    for (const auto& [id, times] : step_times)
        whole.include(times);
    for (const LlmCallSummary& call : run->calls)
        whole.include(within(call.started_ms, call.total));
    for (const LogEntry& entry : run->snapshot.log)
        whole.include(within(entry.time_ms, {}));
    if (whole.end_us == 0)
        whole.begin_us = 0;

    const std::string workload = run->snapshot.config.workload;
    Spans spans(sha256Hex(fmt::format("{} {}", toJson(run->snapshot.config).dump(), whole.begin_us)).substr(0, 32));
    const std::string root = spans.id("run");
    spans.add(root, {}, "run " + workload, kind_internal, whole)["attributes"] =
        std::move(Attributes().text("cuco.workload", workload).json);
    const auto spanOfStep = [&](int step) {
        return step_times.contains(step) ? spans.id(fmt::format("step {}", step)) : root;
    };
    for (const AgentStep& step : run->steps)
        spans.add(spanOfStep(step.id), step.parent < step.id ? spanOfStep(step.parent) : root, step.title,
                  kind_internal, step_times.at(step.id))["attributes"] =
            std::move(Attributes().text("cuco.agent", step.agent).text("cuco.candidate", step.candidate_id).json);
    for (const LlmCallSummary& summary : run->calls) {
        const auto call = file.llmCall(summary.id, options.with_content ? LlmTexts::all : LlmTexts::none);
        if (!call)
            return std::unexpected(call.error());
        nlohmann::json& span =
            spans.add(spans.id(fmt::format("call {}", summary.id)), spanOfStep(summary.step), "chat " + summary.model,
                      kind_client, within(summary.started_ms, summary.total));
        span["attributes"] = attributesOf(*call, options.with_content);
        if (summary.error_kind)
            span["status"] = {{"code", status_error}, {"message", summary.error}};
    }
    return nlohmann::json{
        {"resourceSpans",
         {{{"resource", {{"attributes", std::move(Attributes().text("service.name", "cuco").json)}}},
           {"scopeSpans",
            {{{"scope", {{"name", "cuco"}}}, {"schemaUrl", schema_url}, {"spans", std::move(spans.list)}}}}}}}};
}

}  // namespace cuco
