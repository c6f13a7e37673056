// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/llm/chat.h"

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

namespace cuco {

struct CommandSettings {
    std::vector<std::string> argv;             ///< no shell sees it
    std::vector<std::string> pass_variables;   ///< of our environment, such as the program's key; values
                                               ///< are redacted
    bool json_answer = false;                  ///< {"text", "stop_reason", "model", "usage"}
                                               ///< rather than the text alone
    std::chrono::milliseconds limit{600'000};  ///< where the caller has no deadline
    std::uint64_t output_bytes = 10u << 20;
};

/// The user's own program: toJson(ChatRequest) on its standard input, the
/// answer on its standard output. It gets the environment of
/// scrubbedEnvironment() and the variables that are named. The text arrives in
/// one piece.
class CommandClient final : public ChatClient {
public:
    explicit CommandClient(CommandSettings settings) : settings_(std::move(settings)) {}
    std::string provider() const override { return "command"; }
    ChatResult complete(const ChatRequest& request, const CallControl& control) override;

private:
    CommandSettings settings_;
};

}  // namespace cuco
