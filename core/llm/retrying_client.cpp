// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/llm/retrying_client.h"

#include <algorithm>
#include <cmath>

namespace cuco {

using std::chrono::milliseconds;

std::optional<milliseconds> RetryingClient::waitAfter(const ChatError& error, int attempt)
{
    if (error.retry_after && *error.retry_after > policy_.longest_wait)
        return std::nullopt;
    double share = 0;
    {
        const std::scoped_lock lock(mutex_);
        share = std::uniform_real_distribution(0.5, 1.0)(random_);
    }
    const double doubled = std::min(static_cast<double>(policy_.longest_wait.count()),
                                    std::ldexp(static_cast<double>(policy_.first_wait.count()), attempt - 1));
    return std::max(milliseconds(std::llround(share * doubled)), error.retry_after.value_or(milliseconds(0)));
}

ChatResult RetryingClient::complete(const ChatRequest& request, const CallControl& control)
{
    bool delivered = false;
    CallControl watched = control;
    watched.on_text = [&](std::string_view piece) {
        delivered = true;
        if (control.on_text)
            control.on_text(piece);
    };
    for (int attempt = 1;; ++attempt) {
        ChatResult result = inner_->complete(request, watched);
        if (result) {
            result->attempts = attempt;
            return result;
        }
        ChatError& error = result.error();
        error.partial.attempts = attempt;
        const bool again = delivered ? control.retry_after_text && (error.retryable || error.kind == ChatErrorKind::cut)
                                     : error.retryable;
        if (!again || attempt >= policy_.attempts)
            return result;
        const auto wait = waitAfter(error, attempt);
        const auto then = std::chrono::steady_clock::now() + wait.value_or(milliseconds(0));
        if (!wait || (control.deadline && then >= *control.deadline))
            return result;
        if (!sleepUntil(then, control.stop)) {
            ChatError cancelled = cancelledError();
            cancelled.billable = error.billable;
            cancelled.partial.attempts = attempt;
            return std::unexpected(std::move(cancelled));
        }
    }
}

}  // namespace cuco
