// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/llm/chat.h"
#include "core/llm/http_transport.h"
#include "core/llm/key_source.h"

#include <nlohmann/json_fwd.hpp>

namespace cuco {

/// Where a provider is, and which key goes there.
struct ChatServer {
    std::string base_url;
    std::string key_variable;  ///< empty: the server wants no key
    HttpLimits limits{};
    KeySource keys = environmentKey;
};

/// Understands one protocol's answers. Functions may throw nlohmann's
/// exceptions: the answer is then malformed.
class AnswerReader {
public:
    explicit AnswerReader(const CallControl& control) : control_(&control) {}
    virtual ~AnswerReader() = default;
    virtual void event(const nlohmann::json& data) = 0;  ///< one of a stream
    virtual void done() {}                               ///< the stream's "[DONE]"
    virtual void whole(const nlohmann::json& body) = 0;  ///< an answer that is no stream
    virtual bool complete() const = 0;                   ///< the answer came to its end

    ChatResponse response;
    std::optional<ChatError> fault;  ///< the server reports one inside its answer

protected:
    void text(const std::string& piece);

private:
    const CallControl* control_;
    std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

enum class StreamFraming { server_sent_events, aws_event_stream };

/// A request to `path` below the base URL. `request.key`, the headers and the
/// body are the provider's to set.
struct ChatPost {
    HttpRequest request;
    std::string provider_name;  ///< for sentences: "Anthropic"
    std::string key_variable;
    std::string model;
    std::string request_id_header;
    std::string error_type_header;  ///< where the provider's word for a failure is not in the body
    /// Of aws_event_stream, AnswerReader::event() gets {"event": name, "exception": bool, "payload"}, and the raw
    /// response has an event on each line.
    StreamFraming framing = StreamFraming::server_sent_events;
};

ChatResult postChat(HttpTransport& transport, const ChatPost& post, AnswerReader& reader, const CallControl& control);

std::string joinUrl(std::string base, const std::string& path);
ChatError noKeyError(const ChatServer& settings, const std::string& provider_name);

/// What a provider's own word for a failure means, in a stream or as the status
/// of an answer.
ChatErrorKind errorKind(int http_status, std::string_view type);

/// `Retry-After`: seconds or a date of HTTP. Nothing when it is neither.
std::optional<std::chrono::milliseconds> parseRetryAfter(const std::string& value, std::int64_t now_unix_s);

/// A count of tokens; 0 where absent or null. Throws when it is no count.
std::int64_t tokenCount(const nlohmann::json& usage, const char* name);

}  // namespace cuco
