// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/error.h"

#include <nlohmann/json_fwd.hpp>

#include <chrono>
#include <cstdint>
#include <expected>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

namespace cuco {

enum class ChatRole { user, assistant };

struct ChatMessage {
    ChatRole role = ChatRole::user;
    std::string text;
    bool cacheable = false;  ///< all up to the end of this message comes again in
                             ///< later requests
};

struct ChatRequest {
    std::string model, system;
    bool cache_system = false;  ///< the system text comes again in later requests
    std::vector<ChatMessage> messages;
    std::int64_t max_output_tokens = 4096;
    std::optional<double> temperature;  ///< the provider's own where none is given
    bool stream = true;                 ///< how the answer travels; no part of what is asked
};

/// What is asked, without how it travels: what a recording is matched by.
nlohmann::json toJson(const ChatRequest& request);
std::string requestSha256(const ChatRequest& request);

enum class StopReason {
    finished,
    token_limit,    ///< max_output_tokens
    context_limit,  ///< the model's context is full
    stop_sequence,
    refusal,     ///< the model or the provider's filter declines
    cancelled,   ///< by the stop token; in ChatError::partial only
    unfinished,  ///< the answer broke off; in ChatError::partial only
    other,
};

struct TokenUsage {
    std::int64_t input = 0;   ///< neither read from nor written to the provider's cache
    std::int64_t output = 0;  ///< reasoning included
    std::int64_t cache_read = 0, cache_write = 0;
    std::int64_t reasoning = 0;  ///< part of output, where the provider says
    bool reported = false;       ///< the provider gave final figures
};

struct ChatResponse {
    std::string text;
    StopReason stop_reason = StopReason::unfinished;
    std::string model;       ///< as the provider names what answered
    std::string request_id;  ///< the provider's, for its support
    TokenUsage usage;
    std::chrono::microseconds first_byte{}, first_text{}, total{};  ///< since the (last) attempt began; 0: never
    int attempts = 1;
    std::string raw_request,
        raw_response;  ///< bodies as they travelled, keys redacted
};

enum class ChatErrorKind {
    no_key,
    wrong_key,
    unknown_model,
    bad_request,  ///< also a configuration that cannot work
    no_price,     ///< under a budget, a model whose price nobody gave
    budget,       ///< ours, or the provider's account is out of credit
    rate_limit,
    server,
    network,
    malformed,
    too_large,
    cut,  ///< the answer broke off
    program,
    not_recorded,
    cancelled,
    deadline,
};

struct ChatError {
    ChatErrorKind kind = ChatErrorKind::server;
    Error error;                                           ///< a sentence, and what to do
    int http_status = 0;                                   ///< 0: no answer
    bool retryable = false;                                ///< the same request may succeed later, and this one
                                                           ///< certainly cost nothing
    bool billable = false;                                 ///< the provider may have worked, so this may have
                                                           ///< cost up to the worst case
    std::optional<std::chrono::milliseconds> retry_after;  ///< as the server asks
    ChatResponse partial;                                  ///< what was there when it failed
};

using ChatResult = std::expected<ChatResponse, ChatError>;

/// How one call is accompanied.
struct CallControl {
    std::function<void(std::string_view)> on_text;  ///< pieces of the answer, on the calling thread
    std::stop_token stop;
    std::optional<std::chrono::steady_clock::time_point> deadline;  ///< over all attempts; else the client's limit
    bool retry_after_text = false;                                  ///< an answer that broke off is asked for
                                                                    ///< anew, after on_text had its beginning
};

class ChatClient {
public:
    virtual ~ChatClient() = default;
    /// "anthropic", "openai": gen_ai.provider.name of OpenTelemetry where there
    /// is one.
    virtual std::string provider() const = 0;
    /// Blocks; several threads may call at once.
    virtual ChatResult complete(const ChatRequest& request, const CallControl& control) = 0;
};

// Spellings in files: "token_limit", "rate_limit".
std::string toString(ChatRole role);
std::string toString(StopReason reason);
std::string toString(ChatErrorKind kind);
std::optional<ChatRole> chatRoleFromString(std::string_view name);
std::optional<StopReason> stopReasonFromString(std::string_view name);
std::optional<ChatErrorKind> chatErrorKindFromString(std::string_view name);

/// Dumps texts that are no valid UTF-8 with replacement characters rather than
/// throwing.
std::string dumpJson(const nlohmann::json& json);
/// The same text in valid UTF-8.
std::string validUtf8(const std::string& text);

/// Waits until then; false when stop was requested meanwhile.
bool sleepUntil(std::chrono::steady_clock::time_point then, const std::stop_token& stop);

ChatError cancelledError();

}  // namespace cuco
