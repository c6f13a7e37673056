// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/llm/embedding.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <span>

namespace cuco {

namespace {

using nlohmann::json;
using Vectors = std::vector<std::vector<float>>;

constexpr std::size_t most_dimensions = 16'384;
/// A batch of numbers in decimal.
constexpr std::uint64_t most_response_bytes = 64u << 20;

std::unexpected<ChatError> refused(ChatErrorKind kind, std::string what, std::string remedy)
{
    ChatError error;
    error.kind = kind;
    error.error = {std::move(what), {}, std::move(remedy)};
    return std::unexpected(std::move(error));
}

class Reader final : public AnswerReader {
public:
    Reader(const CallControl& control, std::size_t texts, int dimensions)
        : AnswerReader(control), vectors(texts), dimensions_(static_cast<std::size_t>(dimensions))
    {
    }

    void event(const json&) override {}
    void whole(const json& body) override
    {
        response.model = body.value("model", "");
        const json& data = body.at("data");
        if (!data.is_array() || data.size() != vectors.size())
            return broken(fmt::format("{} vectors for {} texts", data.size(), vectors.size()));
        for (const json& item : data) {
            const auto index = item.at("index").get<std::int64_t>();
            if (index < 0 || index >= std::ssize(vectors) || !vectors[static_cast<std::size_t>(index)].empty())
                return broken(fmt::format("a vector for the text {}, of which there is none or which has one", index));
            if (!read(item.at("embedding"), vectors[static_cast<std::size_t>(index)]))
                return;
        }
        if (body.contains("usage") && !body["usage"].is_null()) {
            response.usage.input = tokenCount(body["usage"], "prompt_tokens");
            response.usage.reported = true;
        }
        response.stop_reason = StopReason::finished;
        complete_ = true;
    }
    bool complete() const override { return complete_; }

    Vectors vectors;  ///< in the order of the texts

private:
    void broken(const std::string& what)
    {
        fault.emplace();
        fault->kind = ChatErrorKind::malformed;
        fault->error.what = what;
    }

    bool read(const json& from, std::vector<float>& to)
    {
        if (dimensions_ == 0)
            dimensions_ = from.size();
        if (!from.is_array() || from.empty() || from.size() > most_dimensions || from.size() != dimensions_) {
            broken(fmt::format("a vector of {} numbers in place of {}", from.size(), dimensions_));
            return false;
        }
        to = from.get<std::vector<float>>();
        if (!std::ranges::all_of(to, [](float value) { return std::isfinite(value); })) {
            broken("a number that is not finite");
            return false;
        }
        return true;
    }

    std::size_t dimensions_;
    bool complete_ = false;
};

/// One batch as a call, so that budget and attempts are those of chats: its messages are the texts.
class BatchCall final : public ChatClient {
public:
    BatchCall(const EmbeddingSettings& settings, HttpTransport& transport, int dimensions)
        : settings_(&settings), transport_(&transport), dimensions_(dimensions)
    {
    }
    std::string provider() const override { return settings_->provider; }
    ChatResult complete(const ChatRequest& request, const CallControl& control) override
    {
        const ChatServer& server = settings_->server;
        ChatPost post;
        post.provider_name = settings_->provider == "openai" ? "OpenAI" : settings_->provider;
        post.key_variable = server.key_variable;
        post.model = request.model;
        post.request_id_header = "x-request-id";
        post.request.key = server.keys(server.key_variable);
        if (post.request.key.empty() && !server.key_variable.empty())
            return std::unexpected(noKeyError(server, post.provider_name));
        json texts = json::array();
        for (const ChatMessage& message : request.messages)
            texts.push_back(message.text);
        json body = {{"model", request.model}, {"input", std::move(texts)}, {"encoding_format", "float"}};
        if (dimensions_ > 0)
            body["dimensions"] = dimensions_;
        post.request.url = joinUrl(server.base_url, "/embeddings");
        post.request.headers = {{"content-type", "application/json"}};
        post.request.key_header = "authorization";
        post.request.key_prefix = "Bearer ";
        post.request.body = dumpJson(body);
        Reader reader(control, request.messages.size(), dimensions_);
        ChatResult result = postChat(*transport_, post, reader, control);
        vectors = std::move(reader.vectors);
        return result;
    }

    Vectors vectors;

private:
    const EmbeddingSettings* settings_;
    HttpTransport* transport_;
    int dimensions_;
};

/// How many of the texts go into the next batch, at least one.
std::size_t batchSize(std::span<const std::string> texts, const EmbeddingSettings& settings)
{
    std::size_t count = 1, bytes = texts.front().size();
    while (count < texts.size() && count < settings.batch_texts && bytes + texts[count].size() <= settings.batch_bytes)
        bytes += texts[count++].size();
    return count;
}

HttpLimits roomFor(HttpLimits limits)
{
    limits.response_bytes = std::max(limits.response_bytes, most_response_bytes);
    return limits;
}

}  // namespace

OpenAiEmbeddingClient::OpenAiEmbeddingClient(EmbeddingSettings settings, Spending spending)
    : settings_(std::move(settings)), spending_(std::move(spending)), transport_(roomFor(settings_.server.limits))
{
}

EmbeddingResult OpenAiEmbeddingClient::embed(const EmbeddingRequest& request, const CallControl& control)
{
    for (const std::string& text : request.texts) {
        if (text.empty())
            return refused(ChatErrorKind::bad_request, "An empty text cannot be embedded.", "Leave it out.");
        if (text.size() > settings_.text_bytes)
            return refused(ChatErrorKind::too_large,
                           fmt::format("A text of {} bytes is too long to be embedded.", text.size()),
                           fmt::format("Shorten it to {} bytes.", settings_.text_bytes));
    }
    EmbeddingResponse response;
    response.usage.reported = true;
    CallControl silent = control;
    silent.on_text = nullptr;
    int dimensions = request.dimensions;
    for (std::span<const std::string> left = request.texts; !left.empty();) {
        const std::size_t count = batchSize(left, settings_);
        ChatRequest batch;
        batch.model = request.model;
        batch.max_output_tokens = 0;
        batch.stream = false;
        for (const std::string& text : left.first(count))
            batch.messages.push_back({.text = text});
        BatchCall call(settings_, transport_, request.dimensions);
        std::optional<BudgetedClient> budgeted;
        if (spending_.budget)
            budgeted.emplace(call, *spending_.budget, spending_.prices);
        RetryPolicy policy = settings_.retry;
        policy.seed += batches_++;
        RetryingClient retrying(budgeted ? static_cast<ChatClient&>(*budgeted) : call, policy);
        ChatResult result = retrying.complete(batch, silent);
        if (!result)
            return std::unexpected(std::move(result.error()));
        if (dimensions == 0)
            dimensions = static_cast<int>(call.vectors.front().size());
        if (std::cmp_not_equal(call.vectors.front().size(), dimensions))
            return refused(
                ChatErrorKind::malformed,
                fmt::format("Vectors of one model have {} and {} numbers.", dimensions, call.vectors.front().size()),
                "Check that the server always uses the same model.");
        std::ranges::move(call.vectors, std::back_inserter(response.vectors));
        response.model = result->model;
        response.usage.input += result->usage.input;
        response.usage.reported = response.usage.reported && result->usage.reported;
        left = left.subspan(count);
    }
    return response;
}

Result<std::unique_ptr<EmbeddingClient>> makeEmbeddingClient(const ProviderSettings& settings, const KeySource& keys,
                                                             const Spending& spending)
{
    if (auto valid = validate(settings); !valid)
        return std::unexpected(valid.error());
    if (settings.embedding_model.empty())
        return failure("No model for embeddings is named.", {}, "Name one, such as text-embedding-3-small.");
    if (settings.provider != "openai")
        return failure(fmt::format("The provider \"{}\" has no embeddings that are known here.", settings.provider), {},
                       "Name no embedding model, or use the provider openai with a server that has embeddings.");
    auto server = serverWithKey(settings, keys, "OpenAI");
    if (!server)
        return std::unexpected(server.error());
    EmbeddingSettings embedding;
    embedding.server = std::move(*server);
    embedding.retry.attempts = settings.attempts;
    return std::make_unique<OpenAiEmbeddingClient>(std::move(embedding),
                                                   Spending{spending.budget, pricesWith(spending.prices, settings)});
}

}  // namespace cuco
