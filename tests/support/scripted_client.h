// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/llm/chat.h"

#include <deque>
#include <functional>
#include <mutex>
#include <string>
#include <variant>
#include <vector>

namespace cuco::testing {

inline ChatResponse answerOf(std::string text, StopReason reason = StopReason::finished)
{
    ChatResponse response;
    response.text = std::move(text);
    response.stop_reason = reason;
    response.usage = {.input = 1000, .output = 100, .reported = true};
    return response;
}

/// Gives its answers in their order and keeps what it was asked.
class ScriptedClient final : public ChatClient {
public:
    void say(std::string text, StopReason reason = StopReason::finished)
    {
        const std::scoped_lock guard(mutex_);
        answers_.emplace_back(answerOf(std::move(text), reason));
    }
    void fail(ChatErrorKind kind, std::string sentence)
    {
        ChatError error;
        error.kind = kind;
        error.error = {std::move(sentence), {}, {}};
        const std::scoped_lock guard(mutex_);
        answers_.emplace_back(std::unexpected(std::move(error)));
    }
    std::string provider() const override { return "scripted"; }
    ChatResult complete(const ChatRequest& request, const CallControl&) override
    {
        const std::scoped_lock guard(mutex_);
        requests_.push_back(request);
        if (answers_.empty()) {
            ChatError error;
            error.kind = ChatErrorKind::not_recorded;
            error.error = {"The script has no further answer.", {}, {}};
            return std::unexpected(std::move(error));
        }
        ChatResult result = std::move(answers_.front());
        answers_.pop_front();
        return result;
    }
    std::vector<ChatRequest> requests() const
    {
        const std::scoped_lock guard(mutex_);
        return requests_;
    }

private:
    mutable std::mutex mutex_;
    std::deque<ChatResult> answers_;
    std::vector<ChatRequest> requests_;
};

}  // namespace cuco::testing
