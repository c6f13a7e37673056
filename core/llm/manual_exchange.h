// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/llm/chat.h"

#include <condition_variable>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace cuco {

struct ManualPrompt {
    int number = 0;  ///< from 1, in the order they were asked
    std::string text;
};

/// Prompts that wait for a person's answer in this very program. Any thread may call.
class ManualExchange {
public:
    /// `changed` is called without a lock, on the thread that asks or is done asking, and must not block.
    explicit ManualExchange(std::function<void()> changed) : changed_(std::move(changed)) {}

    std::vector<ManualPrompt> waiting() const;
    /// What is not waiting any more is passed over.
    void answer(int number, std::string text);
    /// Whoever asked gets an error, which pauses a run.
    void giveUp(int number);

    enum class End { answered, given_up, stopped, late };
    struct Outcome {
        End end = End::stopped;
        std::string text;
    };
    /// Blocks until the prompt is answered or given up, `stop` is requested or the time is over.
    Outcome ask(std::string prompt, const std::stop_token& stop, std::chrono::steady_clock::time_point until);

private:
    struct Waiting {
        std::string prompt;
        std::optional<Outcome> outcome;
    };
    void settle(int number, Outcome outcome);

    std::function<void()> changed_;
    mutable std::mutex mutex_;
    std::condition_variable_any settled_;
    std::map<int, Waiting> waiting_;
    int last_number_ = 0;
};

}  // namespace cuco
