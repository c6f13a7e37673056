// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/run/run_models.h"

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

/// The chain of the settings, made when it is first asked and again after that failed: a key may have come meanwhile.
class ClientOnDemand final : public ChatClient {
public:
    ClientOnDemand(ProviderSettings settings, ModelAccess access, Spending spending)
        : settings_(std::move(settings)), access_(std::move(access)), spending_(std::move(spending))
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
                auto made = makeChatClient(settings_, access_.keys, spending_, access_.person);
                if (!made)
                    return std::unexpected(unusable(ChatErrorKind::no_key, made.error()));
                client_ = std::move(*made);
            }
            client = client_.get();
        }
        return client->complete(request, control);
    }

private:
    ProviderSettings settings_;
    ModelAccess access_;
    Spending spending_;
    std::mutex mutex_;
    std::unique_ptr<ChatClient> client_;
};

std::shared_ptr<ChatClient> clientOf(const RunConfig& config, const ModelAccess& access, const ModelPrices& prices,
                                     double spent_usd)
{
    Spending spending;
    spending.prices = prices;
    if (config.budget_usd > 0)
        spending.budget = std::make_shared<Budget>(config.budget_usd, spent_usd);
    return std::make_shared<ClientOnDemand>(config.provider, access, std::move(spending));
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
    models.client = clientOf(config, access, models.prices, 0);
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
        if (summary.error_kind || summary.candidate_id.empty() || proposed.contains(summary.candidate_id))
            continue;
        auto call = file.llmCall(summary.id);
        if (!call)
            return std::unexpected(call.error());
        if (call->result)
            models.remembered->add(requestSha256(call->request),
                                   {std::move(*call->result), summary.cost_usd.value_or(0)});
    }
    models.client = clientOf(config, access, models.prices, spent_usd);
    return {};
}

}  // namespace cuco
