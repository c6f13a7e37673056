// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/llm/chat.h"
#include "core/llm/model_prices.h"

#include <nlohmann/json_fwd.hpp>

namespace cuco {

/// One call, as a trace shows it and a run file keeps it. It has no secret in
/// it.
struct LlmCall {
    std::string agent;  ///< "fast path", "judge"
    int step = 0;       ///< the AgentStep it belongs to; 0: none
    std::string candidate_id;
    std::string provider;
    std::int64_t started_ms = 0;  ///< Unix time
    ChatRequest request;
    std::string request_sha256;  ///< requestSha256(request), where it was needed before; else empty
    ChatResult result;           ///< with the raw bodies
    std::optional<double> cost_usd;
    std::string cost_source;  ///< "list price of 2025-12-01", "user's price",
                              ///< "worst case"; empty without a cost
};

/// By the answer's counts of tokens, or the most that it can have cost.
struct CallCost {
    std::optional<double> usd;  ///< nothing without a price
    std::string source;         ///< LlmCall::cost_source
};
CallCost costOf(const ChatRequest& request, const ChatResult& result, const std::optional<ModelPrice>& price);

/// What came back, also from a call that failed.
const ChatResponse& answerOf(const ChatResult& result);

/// Fills in what follows from the answer. Without a price the cost stays
/// unknown.
LlmCall makeLlmCall(ChatRequest request, ChatResult result, std::string provider,
                    const std::optional<ModelPrice>& price, std::int64_t started_ms);

nlohmann::json toJson(const LlmCall& call);
Result<LlmCall> llmCallFromJson(const nlohmann::json& json, const std::string& where);

}  // namespace cuco
