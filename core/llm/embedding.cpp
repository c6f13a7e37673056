// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/llm/embedding.h"

#include "core/base/json.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>

namespace cuco {

namespace {

using nlohmann::json;

constexpr std::size_t most_dimensions = 16'384;
/// A vector of numbers in decimal.
constexpr std::uint64_t most_response_bytes = 1u << 20;

std::unexpected<ChatError> refused(ChatErrorKind kind, std::string what, std::string remedy)
{
    ChatError error;
    error.kind = kind;
    error.error = {std::move(what), {}, std::move(remedy)};
    return std::unexpected(std::move(error));
}

/// Throws nlohmann's exceptions where there is no array of numbers.
std::expected<std::vector<float>, std::string> readVector(const json& numbers)
{
    if (!numbers.is_array() || numbers.empty() || numbers.size() > most_dimensions)
        return std::unexpected(fmt::format("a vector of {} numbers", numbers.is_array() ? numbers.size() : 0));
    auto vector = numbers.get<std::vector<float>>();
    if (!std::ranges::all_of(vector, [](float value) { return std::isfinite(value); }))
        return std::unexpected("a number that is not finite");
    return vector;
}

class Reader final : public AnswerReader {
public:
    using AnswerReader::AnswerReader;

    void event(const json&) override {}
    void whole(const json& body) override
    {
        response.model = body.value("model", "");
        const json& data = body.at("data");
        if (!data.is_array() || data.size() != 1)
            return broken(fmt::format("{} vectors for one text", data.size()));
        const auto vector = readVector(data[0].at("embedding"));
        if (!vector)
            return broken(vector.error());
        response.text = fmt::format("[{}]", fmt::join(*vector, ","));
        if (body.contains("usage") && !body["usage"].is_null()) {
            response.usage.input = tokenCount(body["usage"], "prompt_tokens");
            response.usage.reported = true;
        }
        response.stop_reason = StopReason::finished;
    }
    bool complete() const override { return response.stop_reason == StopReason::finished; }

private:
    void broken(std::string what)
    {
        fault.emplace();
        fault->kind = ChatErrorKind::malformed;
        fault->error.what = std::move(what);
    }
};

HttpLimits roomFor(HttpLimits limits)
{
    limits.response_bytes = std::max(limits.response_bytes, most_response_bytes);
    return limits;
}

}  // namespace

ChatRequest embeddingRequest(std::string model, std::string text)
{
    ChatRequest request;
    request.model = std::move(model);
    request.messages = {{.text = std::move(text)}};
    request.max_output_tokens = 0;
    request.stream = false;
    return request;
}

Result<std::vector<float>> embeddingOf(const ChatResponse& response)
{
    const auto malformed = [](const std::string& what) {
        return failure("An embedding cannot be read: " + what, {}, "Choose another embedding model.");
    };
    const json numbers = json::parse(response.text, nullptr, false);
    if (numbers.is_discarded() || !std::ranges::all_of(numbers, [](const json& value) { return value.is_number(); }))
        return malformed("no array of numbers");
    auto vector = readVector(numbers);
    if (!vector)
        return malformed(vector.error());
    return std::move(*vector);
}

OpenAiEmbeddingClient::OpenAiEmbeddingClient(EmbeddingSettings settings)
    : settings_(std::move(settings)), transport_(roomFor(settings_.server.limits))
{
}

ChatResult OpenAiEmbeddingClient::complete(const ChatRequest& request, const CallControl& control)
{
    if (request.messages.size() != 1 || request.messages.front().text.empty())
        return refused(ChatErrorKind::bad_request, "An empty text cannot be embedded.", "Leave it out.");
    const std::string& text = request.messages.front().text;
    if (text.size() > settings_.text_bytes)
        return refused(ChatErrorKind::too_large,
                       fmt::format("A text of {} bytes is too long to be embedded.", text.size()),
                       fmt::format("Shorten it to {} bytes.", settings_.text_bytes));
    const ChatServer& server = settings_.server;
    ChatPost post;
    post.provider_name = settings_.provider == "openai" ? "OpenAI" : settings_.provider;
    post.key_variable = server.key_variable;
    post.model = request.model;
    post.request_id_header = "x-request-id";
    post.request.key = server.keys(server.key_variable);
    if (post.request.key.empty() && !server.key_variable.empty())
        return std::unexpected(noKeyError(server, post.provider_name));
    post.request.url = joinUrl(server.base_url, "/embeddings");
    post.request.headers = {{"content-type", "application/json"}};
    post.request.key_header = "authorization";
    post.request.key_prefix = "Bearer ";
    post.request.body = dumpJson({{"model", request.model}, {"input", {text}}, {"encoding_format", "float"}});
    CallControl silent = control;
    silent.on_text = nullptr;
    Reader reader(silent);
    return postChat(transport_, post, reader, silent);
}

}  // namespace cuco
