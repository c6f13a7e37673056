// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/llm/provider.h"

#include "core/base/files.h"
#include "core/base/json.h"
#include "core/llm/anthropic_client.h"
#include "core/llm/bedrock_client.h"
#include "core/llm/command_client.h"
#include "core/llm/embedding.h"
#include "core/llm/manual_client.h"
#include "core/llm/openai_client.h"
#include "core/llm/recording.h"
#include "core/llm/retrying_client.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace cuco {

namespace {

constexpr std::uint64_t most_recording_bytes = 256u << 20;

/// Members in the order of their calls, innermost first: each holds a pointer to the one before.
class ClientChain final : public ChatClient {
public:
    ClientChain(std::unique_ptr<ChatClient> provider, const RetryPolicy& policy, std::shared_ptr<Budget> budget,
                ModelPrices prices)
        : provider_(std::move(provider)), budget_(std::move(budget))
    {
        if (budget_)
            budgeted_.emplace(*provider_, *budget_, std::move(prices));
        retrying_.emplace(budgeted_ ? static_cast<ChatClient&>(*budgeted_) : *provider_, policy);
    }
    std::string provider() const override { return provider_->provider(); }
    ChatResult complete(const ChatRequest& request, const CallControl& control) override
    {
        return retrying_->complete(request, control);
    }

private:
    std::unique_ptr<ChatClient> provider_;
    std::shared_ptr<Budget> budget_;
    std::optional<BudgetedClient> budgeted_;
    std::optional<RetryingClient> retrying_;
};

Result<std::unique_ptr<ChatClient>> openAiClient(const ProviderSettings& settings, const KeySource& keys)
{
    auto server = serverWithKey(settings, keys, "OpenAI");
    if (!server)
        return std::unexpected(server.error());
    OpenAiSettings openai;
    openai.server = std::move(*server);
    if (!settings.token_limit_field.empty())
        openai.token_limit_field = settings.token_limit_field;
    else if (!settings.base_url.empty())
        openai.token_limit_field = "max_tokens";
    return std::make_unique<OpenAiClient>(std::move(openai));
}

Result<std::unique_ptr<ChatClient>> bedrockClient(const ProviderSettings& settings, const KeySource& keys)
{
    BedrockSettings bedrock;
    bedrock.server = {
        .base_url = serverUrl(settings),
        .key_variable = settings.key_name.empty() ? keyNames(settings.provider).front().name : settings.key_name,
        .limits = httpLimits(settings),
        .keys = keys};
    bedrock.region = awsRegion(settings);
    bedrock.cache_prompts = settings.cache_prompts;
    if (auto missing = BedrockClient::missingKey(bedrock.server))
        return std::unexpected(missing->error);
    return std::make_unique<BedrockClient>(std::move(bedrock));
}

Result<std::unique_ptr<ChatClient>> replayClient(const std::filesystem::path& file)
{
    const auto text = readFile(file, most_recording_bytes);
    if (!text)
        return std::unexpected(text.error());
    const auto json = parseJson(*text, file.string());
    if (!json)
        return std::unexpected(json.error());
    auto recording = recordingFromJson(*json, file.string());
    if (!recording)
        return std::unexpected(recording.error());
    return std::make_unique<ReplayClient>(std::move(*recording), ReplayClient::Order::by_request);
}

Result<std::unique_ptr<ChatClient>> manualClient(const ProviderSettings& settings,
                                                 std::shared_ptr<ManualExchange> person)
{
    if (!settings.folder.empty())
        return std::make_unique<ManualClient>(ManualSettings{.folder = settings.folder});
    if (!person)
        return failure("No folder is named for prompts and answers.", {},
                       "Name a folder that may be written to, or open the run on the desktop, which asks you.");
    return std::make_unique<ExchangeClient>(std::move(person));
}

Result<std::unique_ptr<ChatClient>> clientOf(const ProviderSettings& settings, const KeySource& keys,
                                             std::shared_ptr<ManualExchange> person)
{
    if (settings.provider == "anthropic") {
        auto server = serverWithKey(settings, keys, "Anthropic");
        if (!server)
            return std::unexpected(server.error());
        return std::make_unique<AnthropicClient>(std::move(*server));
    }
    if (settings.provider == "openai")
        return openAiClient(settings, keys);
    if (settings.provider == "command")
        return std::make_unique<CommandClient>(CommandSettings{.argv = settings.command,
                                                               .pass_variables = settings.pass_variables,
                                                               .json_answer = settings.json_answer,
                                                               .limit = settings.call_limit});
    if (settings.provider == "manual")
        return manualClient(settings, std::move(person));
    if (settings.provider == "replay")
        return replayClient(settings.recording);
    return bedrockClient(settings, keys);
}

Result<std::unique_ptr<ChatClient>> embeddingClientOf(const ProviderSettings& settings, const KeySource& keys)
{
    if (settings.provider == "replay")
        return replayClient(settings.recording);
    auto server = serverWithKey(settings, keys, "OpenAI");
    if (!server)
        return std::unexpected(server.error());
    EmbeddingSettings embedding;
    embedding.server = std::move(*server);
    return std::make_unique<OpenAiEmbeddingClient>(std::move(embedding));
}

std::unique_ptr<ChatClient> chainOf(std::unique_ptr<ChatClient> client, const ProviderSettings& settings,
                                    const Spending& spending)
{
    const bool costs = settings.provider != "manual" && settings.provider != "replay";
    return std::make_unique<ClientChain>(std::move(client), RetryPolicy{.attempts = settings.attempts},
                                         costs ? spending.budget : nullptr, pricesWith(spending.prices, settings));
}

}  // namespace

Result<ChatServer> serverWithKey(const ProviderSettings& settings, const KeySource& keys, const std::string& name)
{
    ChatServer server{
        .base_url = serverUrl(settings),
        .key_variable = settings.key_name.empty() ? keyNames(settings.provider).front().name : settings.key_name,
        .limits = httpLimits(settings),
        .keys = keys};
    if (keys(server.key_variable).empty()) {
        if (settings.base_url.empty() || !settings.key_name.empty())
            return std::unexpected(noKeyError(server, name).error);
        server.key_variable.clear();
    }
    return server;
}

Result<std::unique_ptr<ChatClient>> makeChatClient(const ProviderSettings& settings, const KeySource& keys,
                                                   const Spending& spending, std::shared_ptr<ManualExchange> person)
{
    if (auto valid = validate(settings); !valid)
        return std::unexpected(valid.error());
    auto client = clientOf(settings, keys, std::move(person));
    if (!client)
        return client;
    return chainOf(std::move(*client), settings, spending);
}

Result<std::unique_ptr<ChatClient>> makeEmbeddingClient(const ProviderSettings& settings, const KeySource& keys,
                                                        const Spending& spending)
{
    if (auto valid = validate(settings); !valid)
        return std::unexpected(valid.error());
    if (settings.embedding_model.empty())
        return failure("No model for embeddings is named.", {}, "Name one, such as text-embedding-3-small.");
    auto client = embeddingClientOf(settings, keys);
    if (!client)
        return client;
    return chainOf(std::move(*client), settings, spending);
}

}  // namespace cuco
