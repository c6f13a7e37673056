// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/llm/openai_client.h"

#include <nlohmann/json.hpp>

#include <charconv>

namespace cuco {

namespace {

using nlohmann::json;

std::string requestBody(const ChatRequest& request, const std::string& token_limit_field)
{
    json messages = json::array();
    if (!request.system.empty())
        messages.push_back({{"role", "system"}, {"content", request.system}});
    for (const ChatMessage& message : request.messages)
        messages.push_back({{"role", toString(message.role)}, {"content", message.text}});
    json body = {{"model", request.model}, {"messages", std::move(messages)}, {"stream", request.stream}};
    body[token_limit_field] = request.max_output_tokens;
    if (request.stream)
        body["stream_options"] = {{"include_usage", true}};
    if (request.temperature)
        body["temperature"] = *request.temperature;
    return dumpJson(body);
}

StopReason stopReason(const std::string& word)
{
    if (word == "stop")
        return StopReason::finished;
    if (word == "length")
        return StopReason::token_limit;
    return word == "content_filter" ? StopReason::refusal : StopReason::other;
}

const json& member(const json& object, const char* name)
{
    static const json none;
    return object.is_object() && object.contains(name) ? object[name] : none;
}

/// Proxies put the status that the answer would have had into the stream, as a number or a text.
int statusOf(const json& code)
{
    int status = 0;
    if (code.is_number_integer())
        status = code.get<int>();
    else if (code.is_string()) {
        const auto& text = code.get_ref<const std::string&>();
        std::from_chars(text.data(), text.data() + text.size(), status);
    }
    return status >= 400 && status < 600 ? status : 0;
}

class Reader final : public AnswerReader {
public:
    using AnswerReader::AnswerReader;

    void event(const json& data) override { take(data, "delta"); }
    void whole(const json& body) override { take(body, "message"); }
    void done() override { done_ = true; }
    // Usage comes behind the reason, and some servers leave it out.
    bool complete() const override { return done_ || has_reason_; }

private:
    void take(const json& data, const char* part)
    {
        if (const json& error = member(data, "error"); !error.is_null()) {
            const json& message = member(error, "message");
            const json& type = member(error, "type");
            fault.emplace();
            fault->kind = errorKind(statusOf(member(error, "code")), type.is_string() ? type.get<std::string>() : "");
            fault->error.what = message.is_string() ? message.get<std::string>() : dumpJson(error);
            fault->retryable = fault->kind == ChatErrorKind::server || fault->kind == ChatErrorKind::rate_limit;
            return;
        }
        if (const json& model = member(data, "model"); model.is_string())
            response.model = model;
        const json& choices = data.at("choices");
        if (!choices.empty())
            takeChoice(choices.at(0), part);
        if (const json& usage = member(data, "usage"); !usage.is_null())
            takeUsage(usage);
    }

    void takeChoice(const json& choice, const char* part)
    {
        const json& message = member(choice, part);
        if (const json& content = member(message, "content"); !content.is_null())
            text(content.get<std::string>());
        if (const json& refusal = member(message, "refusal");
            refusal.is_string() && !refusal.get<std::string>().empty()) {
            refused_ = true;
            text(refusal.get<std::string>());
        }
        if (const json& reason = member(choice, "finish_reason"); !reason.is_null()) {
            has_reason_ = true;
            response.stop_reason = refused_ ? StopReason::refusal : stopReason(reason);
        }
    }

    void takeUsage(const json& usage)
    {
        TokenUsage& to = response.usage;
        to.cache_read = tokenCount(member(usage, "prompt_tokens_details"), "cached_tokens");
        to.input = std::max<std::int64_t>(0, tokenCount(usage, "prompt_tokens") - to.cache_read);
        to.output = tokenCount(usage, "completion_tokens");
        to.reasoning = tokenCount(member(usage, "completion_tokens_details"), "reasoning_tokens");
        to.reported = true;
    }

    bool done_ = false, has_reason_ = false, refused_ = false;
};

}  // namespace

OpenAiClient::OpenAiClient(OpenAiSettings settings)
    : settings_(std::move(settings)), transport_(settings_.server.limits)
{
}

ChatResult OpenAiClient::complete(const ChatRequest& request, const CallControl& control)
{
    ChatPost post;
    post.provider_name = settings_.provider == "openai" ? "OpenAI" : settings_.provider;
    post.key_variable = settings_.server.key_variable;
    post.model = request.model;
    post.request_id_header = "x-request-id";
    post.request.key = settings_.server.keys(post.key_variable);
    if (post.request.key.empty() && !post.key_variable.empty())
        return std::unexpected(noKeyError(settings_.server, post.provider_name));
    post.request.url = joinUrl(settings_.server.base_url, "/chat/completions");
    post.request.headers = {{"content-type", "application/json"}};
    post.request.key_header = "authorization";
    post.request.key_prefix = "Bearer ";
    post.request.body = requestBody(request, settings_.token_limit_field);
    post.request.streamed = request.stream;
    Reader reader(control);
    ChatResult result = postChat(transport_, post, reader, control);
    if (result && result->stop_reason == StopReason::unfinished)
        result->stop_reason = StopReason::other;  // ended without a reason
    return result;
}

}  // namespace cuco
