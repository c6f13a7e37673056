// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/run/run_models.h"

#include "core/agents/source_novelty.h"
#include "core/llm/budget.h"
#include "core/llm/provider.h"
#include "core/run/run_file.h"

#include <fmt/format.h>

#include <mutex>
#include <set>

namespace cuco {

namespace {

ChatError unusable(ChatErrorKind kind, Error error)
{
    ChatError failed;
    failed.kind = kind;
    failed.error = std::move(error);
    return failed;
}

enum class CallKind { chats, embeddings };

/// The chain of the settings, made when it is first asked and again after that failed: a key may have come meanwhile.
class ClientOnDemand final : public ChatClient {
public:
    ClientOnDemand(CallKind kind, ProviderSettings settings, ModelAccess access, Spending spending)
        : kind_(kind), settings_(std::move(settings)), access_(std::move(access)), spending_(std::move(spending))
    {
    }
    std::string provider() const override { return settings_.provider; }
    ChatResult complete(const ChatRequest& request, const CallControl& control) override
    {
        ChatClient* client = nullptr;
        {
            const std::scoped_lock guard(mutex_);
            if (!client_) {
                if (auto question = consentNeeded(settings_); question && !access_.agreed)
                    return std::unexpected(unusable(
                        ChatErrorKind::bad_request,
                        {*question,
                         {},
                         "Resume the run and agree to it (--trust-provider of cucoctl) if that is what you want."}));
                auto made = kind_ == CallKind::chats
                                ? makeChatClient(settings_, access_.keys, spending_, access_.person)
                                : makeEmbeddingClient(settings_, access_.keys, spending_);
                if (!made)
                    return std::unexpected(unusable(ChatErrorKind::no_key, made.error()));
                client_ = std::move(*made);
            }
            client = client_.get();
        }
        return client->complete(request, control);
    }

private:
    CallKind kind_;
    ProviderSettings settings_;
    ModelAccess access_;
    Spending spending_;
    std::mutex mutex_;
    std::unique_ptr<ChatClient> client_;
};

/// Both pay from one budget.
void makeClients(AgentModels& models, const RunConfig& config, const ModelAccess& access, double spent_usd)
{
    Spending spending;
    spending.prices = models.prices;
    if (config.budget_usd > 0)
        spending.budget = std::make_shared<Budget>(config.budget_usd, spent_usd);
    models.client = std::make_shared<ClientOnDemand>(CallKind::chats, config.provider, access, spending);
    if (!models.embedding_model.empty())
        models.embeddings = std::make_shared<ClientOnDemand>(CallKind::embeddings, config.provider, access, spending);
}

}  // namespace

Result<AgentModels> makeAgentModels(const RunConfig& config, const ModelAccess& access,
                                    const std::filesystem::path& resources)
{
    AgentModels models;
    if (config.provider.provider.empty())
        return models;
    auto prices = ModelPrices::load(resources / "model_prices.json");
    if (!prices)
        return std::unexpected(prices.error());
    models.prices = pricesWith(std::move(*prices), config.provider);
    models.model = config.provider.model;
    models.judge_model = config.provider.judge_model;
    models.embedding_model = config.provider.embedding_model;
    makeClients(models, config, access, 0);
    return models;
}

Result<void> rememberCalls(AgentModels& models, const RunConfig& config, const ModelAccess& access, RunFile& file)
{
    if (!models.client)
        return {};
    const auto snapshot = file.snapshot();
    if (!snapshot)
        return std::unexpected(snapshot.error());
    const auto calls = file.llmCalls();
    if (!calls)
        return std::unexpected(calls.error());
    std::set<std::string> proposed;
    for (const auto& candidate : snapshot->candidates)
        proposed.insert(candidate.id);
    double spent_usd = 0;
    models.remembered = std::make_shared<RememberedAnswers>();
    for (const auto& summary : *calls) {
        spent_usd += summary.cost_usd.value_or(0);
        // Embeddings are wanted again by whatever is compared with their sources; their cost is the candidate's.
        const bool counted = proposed.contains(summary.candidate_id);
        if (summary.error_kind || summary.candidate_id.empty() || (counted && summary.agent != novelty_agent))
            continue;
        auto call = file.llmCall(summary.id);
        if (!call)
            return std::unexpected(call.error());
        if (call->result)
            models.remembered->add(requestSha256(call->request),
                                   {std::move(*call->result), counted ? 0 : summary.cost_usd.value_or(0)});
    }
    makeClients(models, config, access, spent_usd);
    return {};
}

}  // namespace cuco
