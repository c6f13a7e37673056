// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "tests/support/scripted_client.h"

#include <atomic>
#include <chrono>
#include <random>
#include <thread>

namespace cuco::testing {

/// Answers by what it is asked, so always the same to the same request, after a delay that is different each time.
class ComputedClient final : public ChatClient {
public:
    using Answer = std::function<ChatResult(const ChatRequest& request)>;
    explicit ComputedClient(Answer answer, std::chrono::microseconds longest_delay = {})
        : answer_(std::move(answer)), longest_delay_(longest_delay)
    {
    }
    std::string provider() const override { return "computed"; }
    ChatResult complete(const ChatRequest& request, const CallControl& control) override
    {
        const int now = ++asking_;
        int most = most_asking;
        while (now > most && !most_asking.compare_exchange_weak(most, now)) {
        }
        if (longest_delay_.count() > 0) {
            thread_local std::mt19937 random{std::random_device{}()};
            const auto delay = std::uniform_int_distribution<std::int64_t>(0, longest_delay_.count())(random);
            sleepUntil(std::chrono::steady_clock::now() + std::chrono::microseconds(delay), control.stop);
        }
        --asking_;
        if (control.stop.stop_requested())
            return std::unexpected(cancelledError());
        {
            const std::scoped_lock guard(mutex_);
            requests_.push_back(request);
        }
        return answer_(request);
    }
    std::vector<ChatRequest> requests() const
    {
        const std::scoped_lock guard(mutex_);
        return requests_;
    }

    std::atomic<int> most_asking{0};

private:
    Answer answer_;
    std::chrono::microseconds longest_delay_;
    std::atomic<int> asking_{0};
    mutable std::mutex mutex_;
    std::vector<ChatRequest> requests_;
};

}  // namespace cuco::testing
