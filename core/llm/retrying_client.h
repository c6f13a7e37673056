// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/llm/chat.h"

#include <cstdint>
#include <mutex>
#include <random>

namespace cuco {

struct RetryPolicy {
    int attempts = 5;                                ///< the first one included
    std::chrono::milliseconds first_wait{1'000};     ///< doubled from attempt to attempt
    std::chrono::milliseconds longest_wait{60'000};  ///< a server that asks for more gets no further attempt
    std::uint64_t seed = 0;                          ///< of the jitter
};

/// Asks again after errors that are `retryable`: 429, 5xx, no connection. When
/// some of the text was delivered already it does so only with
/// CallControl::retry_after_text, which also allows it after a cut. A wait is
/// between half and all of the doubled time, and no shorter than Retry-After.
/// Budgets belong inside, so that each attempt is reserved.
class RetryingClient final : public ChatClient {
public:
    explicit RetryingClient(ChatClient& inner, RetryPolicy policy = {})
        : inner_(&inner), policy_(policy), random_(policy.seed)
    {
    }
    std::string provider() const override { return inner_->provider(); }
    ChatResult complete(const ChatRequest& request, const CallControl& control) override;

private:
    std::optional<std::chrono::milliseconds> waitAfter(const ChatError& error, int attempt);

    ChatClient* inner_;
    RetryPolicy policy_;
    std::mutex mutex_;
    std::mt19937_64 random_;
};

}  // namespace cuco
