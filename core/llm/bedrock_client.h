// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/llm/http_chat.h"

namespace cuco {

struct BedrockSettings {
    ChatServer server;          ///< key_variable: of a Bedrock API key, which goes before AWS's credentials
    std::string region;         ///< "us-east-1"
    bool cache_prompts = true;  ///< cache points for models that are known to take them
};

/// Amazon Bedrock's Converse and ConverseStream. Requests are signed with AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and
/// AWS_SESSION_TOKEN (Signature Version 4) or bear a Bedrock API key. The marks of a request that say what comes again
/// become cache points, at most four.
class BedrockClient final : public ChatClient {
public:
    explicit BedrockClient(BedrockSettings settings);
    std::string provider() const override { return "bedrock"; }
    ChatResult complete(const ChatRequest& request, const CallControl& control) override;

    /// Nothing when there is a key.
    static std::optional<ChatError> missingKey(const ChatServer& server);

private:
    BedrockSettings settings_;
    HttpTransport transport_;
};

}  // namespace cuco
