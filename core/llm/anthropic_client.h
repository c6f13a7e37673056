// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/llm/http_chat.h"

namespace cuco {

/// Anthropic's Messages API, version 2023-06-01. The marks of a request that
/// say what comes again become cache_control breakpoints, at most the four that
/// the API takes.
class AnthropicClient final : public ChatClient {
public:
    explicit AnthropicClient(ChatServer settings = {"https://api.anthropic.com", "ANTHROPIC_API_KEY"});
    std::string provider() const override { return "anthropic"; }
    ChatResult complete(const ChatRequest& request, const CallControl& control) override;

private:
    ChatServer settings_;
    HttpTransport transport_;
};

}  // namespace cuco
