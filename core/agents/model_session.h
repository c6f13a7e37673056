// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/agents/agent_trace.h"
#include "core/llm/chat.h"
#include "core/llm/model_prices.h"

#include <expected>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

namespace cuco {

/// Answers that were paid for but did not come to a proposal, because the program ended before. Any thread may call.
class RememberedAnswers {
public:
    struct Answer {
        ChatResponse response;
        double cost_usd = 0;
    };
    void add(const std::string& request_sha256, Answer answer);
    /// Each is given once.
    std::optional<Answer> take(const std::string& request_sha256);

private:
    std::mutex mutex_;
    std::multimap<std::string, Answer> answers_;  ///< equal keys keep their order
};

/// Whom agents ask.
struct AgentModels {
    std::shared_ptr<ChatClient> client;  ///< null: nobody
    ModelPrices prices;
    std::string model, judge_model;
    std::shared_ptr<ChatClient> embeddings;  ///< null: nothing is embedded
    std::string embedding_model;
    std::shared_ptr<RememberedAnswers> remembered;  ///< may be null
};

/// The steps and calls made for one proposal: kept in the run's trace as they happen, their costs added up. Unless a
/// proposal comes of them, its answers are remembered for the next try.
class ModelSession {
public:
    /// `trace` may be null: nobody keeps them.
    ModelSession(const AgentModels& models, AgentTrace* trace, std::string candidate_id, std::stop_token stop);
    ModelSession(const ModelSession&) = delete;
    ModelSession& operator=(const ModelSession&) = delete;
    ~ModelSession();

    const std::string& candidateId() const { return candidate_id_; }
    /// Its id; 0 without a trace. `body` is Markdown.
    Result<int> step(const std::string& agent, const std::string& title, std::string body, int parent = 0);
    struct Answer {
        ChatResponse response;
        bool remembered = false;  ///< of an earlier session
    };
    /// A call that fails pauses the run: what it asks for can be given, and the run resumed.
    std::expected<Answer, NoProposal> ask(const std::string& agent, int step, const ChatRequest& request);
    bool embeds() const { return models_->embeddings != nullptr; }
    /// The same for the embedding of a text (embedding.h).
    std::expected<Answer, NoProposal> embed(const std::string& agent, int step, std::string text);
    double costUsd() const { return cost_usd_; }
    /// A proposal came of it. What it gives is Proposal::dropped.
    std::function<void()> made();

private:
    std::expected<Answer, NoProposal> call(ChatClient& client, const std::string& agent, int step,
                                           const ChatRequest& request);

    using Answers = std::vector<std::pair<std::string, RememberedAnswers::Answer>>;

    const AgentModels* models_;
    AgentTrace* trace_;
    std::string candidate_id_;
    std::stop_token stop_;
    double cost_usd_ = 0;
    Answers answers_;
};

}  // namespace cuco
