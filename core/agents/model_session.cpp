// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/agents/model_session.h"

#include "core/llm/embedding.h"
#include "core/llm/traced_client.h"

#include <utility>

namespace cuco {

void RememberedAnswers::add(const std::string& request_sha256, Answer answer)
{
    const std::scoped_lock guard(mutex_);
    answers_.emplace(request_sha256, std::move(answer));
}

std::optional<RememberedAnswers::Answer> RememberedAnswers::take(const std::string& request_sha256)
{
    const std::scoped_lock guard(mutex_);
    const auto found = answers_.lower_bound(request_sha256);
    if (found == answers_.end() || found->first != request_sha256)
        return std::nullopt;
    Answer answer = std::move(found->second);
    answers_.erase(found);
    return answer;
}

ModelSession::ModelSession(const AgentModels& models, AgentTrace* trace, std::string candidate_id, std::stop_token stop)
    : models_(&models), trace_(trace), candidate_id_(std::move(candidate_id)), stop_(std::move(stop))
{
}

ModelSession::~ModelSession()
{
    if (models_->remembered)
        for (auto& [sha256, answer] : answers_)
            models_->remembered->add(sha256, std::move(answer));
}

std::function<void()> ModelSession::made()
{
    return [remembered = models_->remembered, answers = std::exchange(answers_, {})] {
        if (remembered)
            for (const auto& [sha256, answer] : answers)
                remembered->add(sha256, answer);
    };
}

Result<int> ModelSession::step(const std::string& agent, const std::string& title, std::string body, int parent)
{
    if (!trace_)
        return 0;
    AgentStep step;
    step.parent = parent;
    step.candidate_id = candidate_id_;
    step.agent = agent;
    step.title = title;
    step.body = std::move(body);
    return trace_->addStep(std::move(step));
}

std::expected<ModelSession::Answer, NoProposal> ModelSession::ask(const std::string& agent, int step,
                                                                  const ChatRequest& request)
{
    return call(*models_->client, agent, step, request);
}

std::expected<ModelSession::Answer, NoProposal> ModelSession::embed(const std::string& agent, int step,
                                                                    std::string text)
{
    return call(*models_->embeddings, agent, step, embeddingRequest(models_->embedding_model, std::move(text)));
}

std::expected<ModelSession::Answer, NoProposal> ModelSession::call(ChatClient& client, const std::string& agent,
                                                                   int step, const ChatRequest& request)
{
    std::string sha256 = models_->remembered || trace_ ? requestSha256(request) : std::string();
    if (models_->remembered)
        if (auto known = models_->remembered->take(sha256)) {
            cost_usd_ += known->cost_usd;
            answers_.emplace_back(std::move(sha256), *known);
            return Answer{std::move(known->response), true};
        }
    CallControl control;
    control.stop = stop_;
    ChatResult result;
    if (trace_)
        result = TracedClient(client, *trace_, models_->prices, {agent, step, candidate_id_, sha256})
                     .complete(request, control);
    else
        result = client.complete(request, control);
    const double cost_usd =
        costOf(request, result, models_->prices.find(client.provider(), request.model)).usd.value_or(0);
    cost_usd_ += cost_usd;
    if (!result)
        return std::unexpected(NoProposal{NoProposal::Then::pause, describe(result.error().error)});
    if (models_->remembered)
        answers_.emplace_back(std::move(sha256), RememberedAnswers::Answer{*result, cost_usd});
    return Answer{std::move(*result), false};
}

}  // namespace cuco
