// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/llm/http_chat.h"
#include "core/llm/provider.h"
#include "core/llm/retrying_client.h"

#include <atomic>

namespace cuco {

struct EmbeddingRequest {
    std::string model;
    std::vector<std::string> texts;
    int dimensions = 0;  ///< 0: as many as the model has
};

struct EmbeddingResponse {
    std::vector<std::vector<float>> vectors;  ///< one for each text, all of one length, finite
    std::string model;                        ///< as the server names it
    TokenUsage usage;                         ///< of all batches
};

using EmbeddingResult = std::expected<EmbeddingResponse, ChatError>;

class EmbeddingClient {
public:
    virtual ~EmbeddingClient() = default;
    virtual std::string provider() const = 0;
    /// Blocks; several threads may call at once. CallControl::on_text is not called. When a batch fails, those before
    /// it are lost.
    virtual EmbeddingResult embed(const EmbeddingRequest& request, const CallControl& control) = 0;
};

struct EmbeddingSettings {
    ChatServer server{"https://api.openai.com/v1", "OPENAI_API_KEY"};
    std::string provider = "openai";
    RetryPolicy retry{};
    std::size_t batch_texts = 64, batch_bytes = 512u << 10, text_bytes = 128u << 10;
};

/// OpenAI's embeddings, which vLLM, llama.cpp, Ollama, LiteLLM and others also have. Texts go in batches; each attempt
/// of a batch is reserved in the budget.
class OpenAiEmbeddingClient final : public EmbeddingClient {
public:
    OpenAiEmbeddingClient(EmbeddingSettings settings, Spending spending);
    std::string provider() const override { return settings_.provider; }
    EmbeddingResult embed(const EmbeddingRequest& request, const CallControl& control) override;

private:
    EmbeddingSettings settings_;
    Spending spending_;
    HttpTransport transport_;
    std::atomic<std::uint64_t> batches_ = 0;
};

/// The client for ProviderSettings::embedding_model. Errors: no such model, a provider without embeddings, a missing
/// key.
Result<std::unique_ptr<EmbeddingClient>> makeEmbeddingClient(const ProviderSettings& settings, const KeySource& keys,
                                                             const Spending& spending = {});

}  // namespace cuco
