// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/llm/http_chat.h"

namespace cuco {

struct OpenAiSettings {
    ChatServer server{"https://api.openai.com/v1", "OPENAI_API_KEY"};
    std::string provider = "openai";  ///< another name for another server, so that
                                      ///< it has its own prices
    /// OpenAI's own name; servers with the older protocol want "max_tokens".
    std::string token_limit_field = "max_completion_tokens";
};

/// OpenAI's chat completions, which vLLM, llama.cpp, Ollama, LiteLLM and others
/// also have.
class OpenAiClient final : public ChatClient {
public:
    explicit OpenAiClient(OpenAiSettings settings = {});
    std::string provider() const override { return settings_.provider; }
    ChatResult complete(const ChatRequest& request, const CallControl& control) override;

private:
    OpenAiSettings settings_;
    HttpTransport transport_;
};

}  // namespace cuco
