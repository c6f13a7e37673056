// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/llm/anthropic_client.h"

#include <nlohmann/json.hpp>

#include <algorithm>

namespace cuco {

namespace {

using nlohmann::json;

constexpr int most_breakpoints = 4;

json textBlock(const std::string& text, bool breakpoint)
{
    json block = {{"type", "text"}, {"text", text}};
    if (breakpoint)
        block["cache_control"] = {{"type", "ephemeral"}};
    return block;
}

std::string requestBody(const ChatRequest& request)
{
    // The last marks cover the longest prefixes.
    int left = most_breakpoints - (request.cache_system && !request.system.empty() ? 1 : 0);
    json messages = json::array();
    for (auto message = request.messages.rbegin(); message != request.messages.rend(); ++message) {
        const bool breakpoint = message->cacheable && left-- > 0;
        messages.push_back(
            {{"role", toString(message->role)}, {"content", json::array({textBlock(message->text, breakpoint)})}});
    }
    std::ranges::reverse(messages);
    json body = {{"model", request.model},
                 {"max_tokens", request.max_output_tokens},
                 {"messages", std::move(messages)},
                 {"stream", request.stream}};
    if (!request.system.empty())
        body["system"] = json::array({textBlock(request.system, request.cache_system)});
    if (request.temperature)
        body["temperature"] = *request.temperature;
    return dumpJson(body);
}

StopReason stopReason(const std::string& word)
{
    if (word == "end_turn")
        return StopReason::finished;
    if (word == "max_tokens")
        return StopReason::token_limit;
    if (word == "model_context_window_exceeded")
        return StopReason::context_limit;
    if (word == "stop_sequence")
        return StopReason::stop_sequence;
    return word == "refusal" ? StopReason::refusal : StopReason::other;
}

class Reader final : public AnswerReader {
public:
    using AnswerReader::AnswerReader;

    void event(const json& data) override
    {
        const std::string type = data.at("type");
        if (type == "message_start") {
            const json& message = data.at("message");
            response.model = message.value("model", "");
            takeUsage(message.at("usage"));
        } else if (type == "content_block_start") {
            const json& block = data.at("content_block");
            if (block.at("type") == "text")
                text(block.value("text", ""));
        } else if (type == "content_block_delta") {
            const json& delta = data.at("delta");
            if (delta.at("type") == "text_delta")
                text(delta.at("text"));
        } else if (type == "message_delta") {
            takeStopReason(data.at("delta"));
            takeUsage(data.at("usage"));
        } else if (type == "message_stop") {
            stopped_ = true;
            response.usage.reported = true;
        } else if (type == "error") {
            const json& error = data.at("error");
            fault.emplace();
            fault->kind = errorKind(0, error.at("type").get<std::string>());
            fault->error.what = error.value("message", "an error");
            fault->retryable = fault->kind == ChatErrorKind::server || fault->kind == ChatErrorKind::rate_limit;
        }
    }

    void whole(const json& body) override
    {
        response.model = body.value("model", "");
        for (const json& block : body.at("content"))
            if (block.at("type") == "text")
                text(block.at("text"));
        takeStopReason(body);
        takeUsage(body.at("usage"));
        response.usage.reported = stopped_ = true;
    }

    bool complete() const override { return stopped_; }

private:
    void takeStopReason(const json& from)
    {
        if (from.contains("stop_reason") && !from["stop_reason"].is_null())
            response.stop_reason = stopReason(from["stop_reason"]);
    }

    /// message_delta's figures are cumulative and may leave out what
    /// message_start said.
    void takeUsage(const json& from)
    {
        const auto take = [&from](const char* name, std::int64_t& to) {
            if (from.contains(name) && !from[name].is_null())
                to = tokenCount(from, name);
        };
        take("input_tokens", response.usage.input);
        take("output_tokens", response.usage.output);
        take("cache_read_input_tokens", response.usage.cache_read);
        take("cache_creation_input_tokens", response.usage.cache_write);
    }

    bool stopped_ = false;
};

}  // namespace

AnthropicClient::AnthropicClient(ChatServer settings) : settings_(std::move(settings)), transport_(settings_.limits) {}

ChatResult AnthropicClient::complete(const ChatRequest& request, const CallControl& control)
{
    ChatPost post;
    post.provider_name = "Anthropic";
    post.key_variable = settings_.key_variable;
    post.model = request.model;
    post.request_id_header = "request-id";
    post.request.key = settings_.keys(settings_.key_variable);
    if (post.request.key.empty() && !settings_.key_variable.empty())
        return std::unexpected(noKeyError(settings_, post.provider_name));
    post.request.url = joinUrl(settings_.base_url, "/v1/messages");
    post.request.headers = {{"content-type", "application/json"}, {"anthropic-version", "2023-06-01"}};
    post.request.key_header = "x-api-key";
    post.request.body = requestBody(request);
    post.request.streamed = request.stream;
    Reader reader(control);
    return postChat(transport_, post, reader, control);
}

}  // namespace cuco
