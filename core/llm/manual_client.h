// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/llm/manual_exchange.h"

#include <chrono>
#include <filesystem>
#include <memory>

namespace cuco {

struct ManualSettings {
    std::filesystem::path folder;
    std::chrono::milliseconds look_every{500};
    std::chrono::milliseconds patience{std::chrono::hours(24)};  ///< where the caller has no deadline
};

/// A person answers: the prompt is written to NUMBER.prompt.md in the folder,
/// and NUMBER.answer.md is waited for. It is taken when it has not changed
/// between two looks.
class ManualClient final : public ChatClient {
public:
    explicit ManualClient(ManualSettings settings) : settings_(std::move(settings)) {}
    std::string provider() const override { return "manual"; }
    ChatResult complete(const ChatRequest& request, const CallControl& control) override;

private:
    ManualSettings settings_;
};

/// A person answers in this program, where the exchange shows the prompt.
class ExchangeClient final : public ChatClient {
public:
    explicit ExchangeClient(std::shared_ptr<ManualExchange> exchange,
                            std::chrono::milliseconds patience = std::chrono::hours(24))
        : exchange_(std::move(exchange)), patience_(patience)
    {
    }
    std::string provider() const override { return "manual"; }
    ChatResult complete(const ChatRequest& request, const CallControl& control) override;

private:
    std::shared_ptr<ManualExchange> exchange_;
    std::chrono::milliseconds patience_;
};

/// The request as a person or a chat window reads it.
std::string promptText(const ChatRequest& request);

}  // namespace cuco
