// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/llm/http_chat.h"

namespace cuco {

/// Embeddings travel as calls, so that budget, attempts, trace, recordings and remembered answers are those of chats:
/// the one message is the text, and the text of the answer is its vector as a JSON array.
ChatRequest embeddingRequest(std::string model, std::string text);
/// Errors: no array of finite numbers, more than 16,384 of them.
Result<std::vector<float>> embeddingOf(const ChatResponse& response);

struct EmbeddingSettings {
    ChatServer server{"https://api.openai.com/v1", "OPENAI_API_KEY"};
    std::string provider = "openai";
    std::size_t text_bytes = 128u << 10;
};

/// OpenAI's embeddings, which vLLM, llama.cpp, Ollama, LiteLLM and others also have. Takes what embeddingRequest()
/// makes; CallControl::on_text is not called.
class OpenAiEmbeddingClient final : public ChatClient {
public:
    explicit OpenAiEmbeddingClient(EmbeddingSettings settings);
    std::string provider() const override { return settings_.provider; }
    ChatResult complete(const ChatRequest& request, const CallControl& control) override;

private:
    EmbeddingSettings settings_;
    HttpTransport transport_;
};

}  // namespace cuco
