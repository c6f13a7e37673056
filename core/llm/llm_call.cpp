// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/llm/llm_call.h"

#include "core/base/json.h"
#include "core/llm/budget.h"
#include "core/llm/llm_json.h"

#include <nlohmann/json.hpp>

namespace cuco {

namespace {

nlohmann::json requestJson(const ChatRequest& request)
{
    nlohmann::json json = toJson(request);
    json["stream"] = request.stream;
    json["cache_system"] = request.cache_system;
    for (std::size_t i = 0; i < request.messages.size(); ++i)
        json["messages"][i]["cacheable"] = request.messages[i].cacheable;
    return json;
}

Result<ChatRequest> requestFromJson(const nlohmann::json& json, const std::string& where)
{
    ChatRequest request;
    JsonReader reader(json, where, "request");
    reader.required("model", request.model)
        .optional("system", request.system)
        .optional("cache_system", request.cache_system)
        .required("max_output_tokens", request.max_output_tokens)
        .optional("temperature", request.temperature)
        .optional("stream", request.stream);
    const nlohmann::json* messages = reader.array("messages");
    if (auto done = reader.finish(); !done)
        return std::unexpected(done.error());
    for (const nlohmann::json& item : *messages) {
        ChatMessage message;
        std::string role;
        JsonReader fields(item, where, "request.messages");
        fields.required("role", role).required("text", message.text).optional("cacheable", message.cacheable);
        if (const auto known = chatRoleFromString(role))
            message.role = *known;
        else
            fields.fault("role", "is none that is known");
        if (auto done = fields.finish(); !done)
            return std::unexpected(done.error());
        request.messages.push_back(std::move(message));
    }
    return request;
}

}  // namespace

const ChatResponse& answerOf(const ChatResult& result)
{
    return result ? *result : result.error().partial;
}

CallCost costOf(const ChatRequest& request, const ChatResult& result, const std::optional<ModelPrice>& price)
{
    if (!price)
        return {};
    const double usd = settledUsd(*price, request, result);
    const bool worst_case = !answerOf(result).usage.reported && usd > 0;
    return {usd, worst_case ? "worst case" : price->as_of == "user" ? "user's price" : "list price of " + price->as_of};
}

LlmCall makeLlmCall(ChatRequest request, ChatResult result, std::string provider,
                    const std::optional<ModelPrice>& price, std::int64_t started_ms)
{
    LlmCall call;
    call.provider = std::move(provider);
    call.started_ms = started_ms;
    call.request = std::move(request);
    call.result = std::move(result);
    CallCost cost = costOf(call.request, call.result, price);
    call.cost_usd = cost.usd;
    call.cost_source = std::move(cost.source);
    return call;
}

nlohmann::json toJson(const LlmCall& call)
{
    const ChatResponse& answer = answerOf(call.result);
    nlohmann::json json = {{"agent", call.agent},
                           {"step", call.step},
                           {"candidate_id", call.candidate_id},
                           {"provider", call.provider},
                           {"started_ms", call.started_ms},
                           {"request", requestJson(call.request)},
                           {"raw_request", validUtf8(answer.raw_request)},
                           {"raw_response", validUtf8(answer.raw_response)},
                           {"cost_source", call.cost_source}};
    json["cost_usd"] = call.cost_usd ? nlohmann::json(*call.cost_usd) : nlohmann::json(nullptr);
    if (call.result)
        json["response"] = toJson(*call.result);
    else
        json["error"] = toJson(call.result.error());
    return json;
}

Result<LlmCall> llmCallFromJson(const nlohmann::json& json, const std::string& where)
{
    LlmCall call;
    std::string raw_request, raw_response;
    JsonReader reader(json, where);
    reader.required("agent", call.agent)
        .required("step", call.step)
        .required("candidate_id", call.candidate_id)
        .required("provider", call.provider)
        .required("started_ms", call.started_ms)
        .required("raw_request", raw_request)
        .required("raw_response", raw_response)
        .optional("cost_usd", call.cost_usd)
        .required("cost_source", call.cost_source);
    const nlohmann::json* request = reader.object("request");
    if (auto done = reader.finish(); !done)
        return std::unexpected(done.error());
    auto read_request = requestFromJson(*request, where);
    if (!read_request)
        return std::unexpected(read_request.error());
    call.request = std::move(*read_request);

    Result<void> read;
    ChatError error;
    ChatResponse response;
    const bool failed = reader.present("error");
    if (failed)
        read = readError(json["error"], where, error);
    else if (const nlohmann::json* answer = reader.object("response"))
        read = readAnswer(*answer, where, response);
    else
        read = reader.finish();
    if (!read)
        return std::unexpected(read.error());
    ChatResponse& answer = failed ? error.partial : response;
    answer.raw_request = std::move(raw_request);
    answer.raw_response = std::move(raw_response);
    if (failed)
        call.result = std::unexpected(std::move(error));
    else
        call.result = std::move(response);
    return call;
}

}  // namespace cuco
