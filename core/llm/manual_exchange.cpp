// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/llm/manual_exchange.h"

#include <utility>

namespace cuco {

std::vector<ManualPrompt> ManualExchange::waiting() const
{
    const std::scoped_lock guard(mutex_);
    std::vector<ManualPrompt> prompts;
    for (const auto& [number, waiting] : waiting_)
        if (!waiting.outcome)
            prompts.push_back({number, waiting.prompt});
    return prompts;
}

void ManualExchange::answer(int number, std::string text)
{
    settle(number, {End::answered, std::move(text)});
}

void ManualExchange::giveUp(int number)
{
    settle(number, {End::given_up, {}});
}

void ManualExchange::settle(int number, Outcome outcome)
{
    const std::scoped_lock guard(mutex_);
    const auto found = waiting_.find(number);
    if (found == waiting_.end() || found->second.outcome)
        return;
    found->second.outcome = std::move(outcome);
    settled_.notify_all();
}

ManualExchange::Outcome ManualExchange::ask(std::string prompt, const std::stop_token& stop,
                                            std::chrono::steady_clock::time_point until)
{
    int number = 0;
    {
        const std::scoped_lock guard(mutex_);
        number = ++last_number_;
        waiting_[number].prompt = std::move(prompt);
    }
    changed_();
    Outcome outcome;
    {
        std::unique_lock lock(mutex_);
        Waiting& mine = waiting_.at(number);
        settled_.wait_until(lock, stop, until, [&] { return mine.outcome.has_value(); });
        if (mine.outcome)
            outcome = std::move(*mine.outcome);
        else
            outcome.end = stop.stop_requested() ? End::stopped : End::late;
        waiting_.erase(number);
    }
    changed_();
    return outcome;
}

}  // namespace cuco
