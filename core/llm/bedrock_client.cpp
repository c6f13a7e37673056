// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/llm/bedrock_client.h"

#include "core/base/clock.h"
#include "core/llm/sigv4.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cctype>

namespace cuco {

namespace {

using nlohmann::json;

constexpr int most_cache_points = 4;
constexpr const char *key_id_name = "AWS_ACCESS_KEY_ID", *secret_name = "AWS_SECRET_ACCESS_KEY",
                     *token_name = "AWS_SESSION_TOKEN";

/// Others refuse a request that has a cache point.
bool takesCachePoints(const std::string& model)
{
    return model.find("anthropic.claude") != std::string::npos || model.find("amazon.nova") != std::string::npos;
}

json textBlocks(const std::string& text, bool cache_point)
{
    json blocks = json::array({{{"text", text}}});
    if (cache_point)
        blocks.push_back({{"cachePoint", {{"type", "default"}}}});
    return blocks;
}

std::string requestBody(const ChatRequest& request, bool cache_prompts)
{
    const bool may_cache = cache_prompts && takesCachePoints(request.model);
    const bool cache_system = may_cache && request.cache_system && !request.system.empty();
    // The last marks cover the longest prefixes.
    int left = may_cache ? most_cache_points - (cache_system ? 1 : 0) : 0;
    json messages = json::array();
    for (auto message = request.messages.rbegin(); message != request.messages.rend(); ++message)
        messages.push_back({{"role", toString(message->role)},
                            {"content", textBlocks(message->text, message->cacheable && left-- > 0)}});
    std::ranges::reverse(messages);
    json body = {{"messages", std::move(messages)}, {"inferenceConfig", {{"maxTokens", request.max_output_tokens}}}};
    if (!request.system.empty())
        body["system"] = textBlocks(request.system, cache_system);
    if (request.temperature)
        body["inferenceConfig"]["temperature"] = *request.temperature;
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
    return word == "guardrail_intervened" || word == "content_filtered" || word == "refusal" ? StopReason::refusal
                                                                                             : StopReason::other;
}

/// Reasoning is not part of the answer's text.
class Reader final : public AnswerReader {
public:
    using AnswerReader::AnswerReader;

    void event(const json& data) override
    {
        const std::string name = data.at("event");
        const json& payload = data.at("payload");
        if (data.at("exception").get<bool>()) {
            fault.emplace();
            fault->kind = errorKind(0, name);
            fault->error.what = fmt::format("{} ({})", messageOf(payload), name);
            fault->retryable = response.text.empty() &&
                               (fault->kind == ChatErrorKind::server || fault->kind == ChatErrorKind::rate_limit);
        } else if (name == "contentBlockDelta") {
            const json& delta = payload.at("delta");
            if (delta.contains("text"))
                text(delta["text"]);
        } else if (name == "messageStop") {
            takeStopReason(payload);
        } else if (name == "metadata") {
            takeUsage(payload.at("usage"));
        }
    }

    void whole(const json& body) override
    {
        for (const json& block : body.at("output").at("message").at("content"))
            if (block.contains("text"))
                text(block["text"]);
        takeStopReason(body);
        takeUsage(body.at("usage"));
    }

    // Usage comes behind the end of the text.
    bool complete() const override { return stopped_; }

private:
    static std::string messageOf(const json& payload)
    {
        return payload.contains("message") && payload["message"].is_string() ? payload["message"].get<std::string>()
                                                                             : "an error";
    }

    void takeStopReason(const json& from)
    {
        response.stop_reason = stopReason(from.at("stopReason"));
        stopped_ = true;
    }

    void takeUsage(const json& usage)
    {
        response.usage.input = tokenCount(usage, "inputTokens");
        response.usage.output = tokenCount(usage, "outputTokens");
        response.usage.cache_read = tokenCount(usage, "cacheReadInputTokens");
        response.usage.cache_write = tokenCount(usage, "cacheWriteInputTokens");
        response.usage.reported = true;
    }

    bool stopped_ = false;
};

/// "https://host:8443/base/" → "host:8443", "/base"
struct UrlParts {
    std::string host, path;
};

UrlParts partsOf(const std::string& base_url)
{
    const std::size_t scheme = base_url.find("://");
    const std::string rest = scheme == std::string::npos ? base_url : base_url.substr(scheme + 3);
    const std::size_t slash = std::min(rest.find('/'), rest.size());
    UrlParts parts{rest.substr(0, slash), rest.substr(slash)};
    while (parts.path.ends_with('/'))
        parts.path.pop_back();
    return parts;
}

}  // namespace

BedrockClient::BedrockClient(BedrockSettings settings)
    : settings_(std::move(settings)), transport_(settings_.server.limits)
{
}

std::optional<ChatError> BedrockClient::missingKey(const ChatServer& server)
{
    if (!server.keys(server.key_variable).empty() ||
        (!server.keys(key_id_name).empty() && !server.keys(secret_name).empty()))
        return std::nullopt;
    ChatError error = noKeyError(server, "Amazon Bedrock");
    error.error.remedy = fmt::format(
        "Set {} to a Bedrock API key, or {} and {} (and {} for temporary keys) to those of an AWS user or role.",
        server.key_variable, key_id_name, secret_name, token_name);
    return error;
}

ChatResult BedrockClient::complete(const ChatRequest& request, const CallControl& control)
{
    const ChatServer& server = settings_.server;
    if (auto missing = missingKey(server))
        return std::unexpected(std::move(*missing));
    const std::string path =
        "/model/" + percentEncoded(request.model) + (request.stream ? "/converse-stream" : "/converse");
    ChatPost post;
    post.provider_name = "Amazon Bedrock";
    post.model = request.model;
    post.request_id_header = "x-amzn-requestid";
    post.error_type_header = "x-amzn-errortype";
    post.framing = StreamFraming::aws_event_stream;
    post.request.url = joinUrl(server.base_url, path);
    post.request.body = requestBody(request, settings_.cache_prompts);
    post.request.streamed = request.stream;
    if (Secret bearer = server.keys(server.key_variable); !bearer.empty()) {
        post.key_variable = server.key_variable;
        post.request.headers = {{"content-type", "application/json"}};
        post.request.key_header = "authorization";
        post.request.key_prefix = "Bearer ";
        post.request.key = std::move(bearer);
    } else {
        const UrlParts parts = partsOf(server.base_url);
        const AwsCredentials credentials{server.keys(key_id_name).reveal(), server.keys(secret_name),
                                         server.keys(token_name)};
        post.key_variable = fmt::format("{} and {}", key_id_name, secret_name);
        // The secret is not sent, but is one all the same; so is what makes a signature of a session.
        post.request.key = credentials.secret_key;
        post.request.secrets = {Secret(credentials.access_key_id), credentials.session_token};
        post.request.headers = sigV4Headers(
            {"POST", parts.host, parts.path + path, "application/json", post.request.body, settings_.region, "bedrock"},
            credentials, unixTimeMs() / 1000);
    }
    Reader reader(control);
    ChatResult result = postChat(transport_, post, reader, control);
    ChatResponse& response = result ? *result : result.error().partial;
    response.model = request.model;  // Converse does not name it
    return result;
}

}  // namespace cuco
