// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/llm/llm_call.h"
#include "core/llm/model_prices.h"

namespace cuco {

/// Who asks, and what the call belongs to.
struct LlmCallOrigin {
    std::string agent;                ///< "slow path"
    int step = 0;                     ///< a step that is stored already (AgentTrace::addStep); 0: none
    std::string candidate_id;         ///< also of one that is yet to be proposed; may be empty
    std::string request_sha256 = {};  ///< requestSha256(), where the caller has it already
};

/// Where traced calls go. Several threads may call at once; the functions of one call come in order, from its thread.
class LlmCallSink {
public:
    virtual ~LlmCallSink() = default;
    /// A number for this call while it runs.
    virtual int callStarted(const LlmCallOrigin& origin, const std::string& provider, const std::string& model,
                            std::int64_t started_ms) = 0;
    virtual void callText(int running, std::string_view piece) = 0;
    /// Stores it. What cannot be stored is the sink's to report: the answer is paid for and goes on.
    virtual void callEnded(int running, LlmCall call) = 0;
};

/// Hands each call of its inner client to a sink: once, however it ends, before the caller sees the answer. Goes
/// outermost, so that one call with its retries is one entry. Cheap to make: one for each step.
class TracedClient final : public ChatClient {
public:
    /// Client, sink and prices must outlive it.
    TracedClient(ChatClient& inner, LlmCallSink& sink, const ModelPrices& prices, LlmCallOrigin origin)
        : inner_(&inner), sink_(&sink), prices_(&prices), origin_(std::move(origin))
    {
    }
    std::string provider() const override { return inner_->provider(); }
    ChatResult complete(const ChatRequest& request, const CallControl& control) override;

private:
    ChatClient* inner_;
    LlmCallSink* sink_;
    const ModelPrices* prices_;
    LlmCallOrigin origin_;
};

}  // namespace cuco
