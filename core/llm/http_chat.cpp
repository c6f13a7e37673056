// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/llm/http_chat.h"

#include "core/base/clock.h"
#include "core/llm/event_stream_parser.h"
#include "core/llm/sse_parser.h"

#include <curl/curl.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <ctime>

namespace cuco {

namespace {

using nlohmann::json;
using std::chrono::duration_cast;
using std::chrono::microseconds;

constexpr std::size_t longest_message = 600;

std::string remedy(ChatErrorKind kind, const ChatPost& post)
{
    switch (kind) {
        case ChatErrorKind::wrong_key:
            return post.key_variable.empty()
                       ? "The server wants a key: name the environment variable that "
                         "has it."
                       : fmt::format("Check the key in {} and what it may use.", post.key_variable);
        case ChatErrorKind::unknown_model:
            return fmt::format("Check the model's name (\"{}\") and the base URL.", post.model);
        case ChatErrorKind::budget:
            return "The provider's account has no credit left: add some there, or use "
                   "another provider.";
        case ChatErrorKind::rate_limit:
            return "Wait, or allow fewer calls at once.";
        case ChatErrorKind::server:
            return "Try again later; the provider's status page may say more.";
        case ChatErrorKind::network:
            return "Check the connection, the proxy settings in the environment, and "
                   "the base URL.";
        case ChatErrorKind::malformed:
            return "Check that the base URL is that of a server with this protocol.";
        case ChatErrorKind::too_large:
            return "Shorten the prompt or the answer that is asked for.";
        case ChatErrorKind::cut:
            return "Send the request again.";
        case ChatErrorKind::deadline:
            return "Allow more time, or ask for a shorter answer.";
        default:
            return "Check the provider's settings.";
    }
}

/// The provider's own sentence in an error body: {"error": {"type", "message"}}, or {"message"} of AWS.
struct ServerMessage {
    std::string type, text;
};

ServerMessage serverMessage(const json& body)
{
    ServerMessage message;
    if (!body.is_object())
        return message;
    if (!body.contains("error")) {
        for (const char* name : {"message", "Message"})
            if (body.contains(name) && body[name].is_string())
                message.text = body[name];
        return message;
    }
    const json& error = body["error"];
    const auto field = [&error](const char* name) -> std::string {
        return error.is_object() && error.contains(name) && error[name].is_string() ? error[name].get<std::string>()
                                                                                    : std::string();
    };
    message.text = error.is_string() ? error.get<std::string>() : field("message");
    message.type = field("code").empty() ? field("type") : field("code");
    return message;
}

std::string oneLine(std::string text)
{
    if (text.size() > longest_message)
        text = validUtf8(text.substr(0, longest_message)) + "…";
    std::ranges::replace_if(
        text, [](unsigned char c) { return c < ' ' || c == 0x7f; }, ' ');
    return text;
}

ChatError errorOf(ChatErrorKind kind, const std::string& what, const ChatPost& post)
{
    ChatError error;
    error.kind = kind;
    // Redacted before it is shortened: half a key is a secret too.
    error.error = {oneLine(post.request.redact(what)), post.request.url, remedy(kind, post)};
    return error;
}

/// Throws nlohmann's exceptions when the payload is no JSON.
std::string eventOf(const EventStreamMessage& message)
{
    const auto header = [&message](const char* name) {
        const auto found = message.headers.find(name);
        return found == message.headers.end() ? std::string() : found->second;
    };
    const std::string type = header(":message-type");
    json data = {{"event", header(":event-type")}, {"exception", type != "event"}};
    if (type == "error") {  // of the transport rather than the service
        data["event"] = header(":error-code");
        data["payload"] = {{"message", header(":error-message")}};
        return dumpJson(data);
    }
    if (type == "exception")
        data["event"] = header(":exception-type");
    data["payload"] = json::parse(message.payload);
    return dumpJson(data);
}

ChatError statusError(const HttpAnswer& answer, const ChatPost& post)
{
    ServerMessage message = serverMessage(json::parse(answer.body, nullptr, false));
    if (const auto type = answer.headers.find(post.error_type_header); type != answer.headers.end())
        message.type = type->second.substr(0, type->second.find(':'));
    if (answer.status >= 300 && answer.status < 400) {
        ChatError error = errorOf(
            ChatErrorKind::bad_request,
            fmt::format("{} answered with a redirect ({}), which is not followed.", post.provider_name, answer.status),
            post);
        error.error.remedy = "Set the base URL to where the server really is.";
        return error;
    }
    const ChatErrorKind kind = errorKind(answer.status, message.type);
    std::string what = fmt::format("{} refused the request with status {}", post.provider_name, answer.status);
    what += message.text.empty() ? "." : ": " + message.text;
    ChatError error = errorOf(kind, what, post);
    error.retryable = kind == ChatErrorKind::rate_limit || kind == ChatErrorKind::server;
    if (const auto header = answer.headers.find("retry-after"); header != answer.headers.end())
        error.retry_after = parseRetryAfter(header->second, unixTimeMs() / 1000);
    return error;
}

ChatError transportError(const HttpAnswer& answer, const ChatPost& post, const HttpLimits& limits)
{
    const std::string& name = post.provider_name;
    const bool began = answer.status != 0;
    const auto with_text = [&](const std::string& what) {
        return answer.fault_text.empty() ? what + "." : fmt::format("{}: {}.", what, answer.fault_text);
    };
    switch (answer.fault) {
        case HttpFault::refused_url:
            return errorOf(ChatErrorKind::bad_request, "The base URL cannot be used. " + answer.fault_text, post);
        case HttpFault::tls: {
            ChatError error = errorOf(ChatErrorKind::network, with_text(name + " could not prove who it is"), post);
            error.error.remedy =
                "Check the base URL, this machine's date and its "
                "certificate authorities.";
            return error;
        }
        case HttpFault::too_large:
            return errorOf(ChatErrorKind::too_large,
                           fmt::format("{} answered with more than {} bytes.", name, limits.response_bytes), post);
        case HttpFault::stalled:
            return errorOf(began ? ChatErrorKind::cut : ChatErrorKind::network,
                           fmt::format("{} sent nothing for {} s.", name, limits.stall.count()), post);
        case HttpFault::deadline:
            return errorOf(ChatErrorKind::deadline,
                           fmt::format("{} had not answered in full after {} s.", name,
                                       duration_cast<std::chrono::seconds>(answer.total).count()),
                           post);
        case HttpFault::cancelled:
            return cancelledError();
        case HttpFault::interrupted:
            return errorOf(began ? ChatErrorKind::cut : ChatErrorKind::network,
                           with_text("The connection to " + name + " broke off"), post);
        default: {
            ChatError error = errorOf(ChatErrorKind::network, with_text(name + " cannot be reached"), post);
            error.retryable = true;
            return error;
        }
    }
}

/// AWS's names, which begin with a capital in an answer and with a small letter in a stream.
std::optional<ChatErrorKind> awsErrorKind(std::string_view type)
{
    constexpr std::string_view end = "Exception";
    if (!type.ends_with(end))
        return std::nullopt;
    std::string name(type.substr(0, type.size() - end.size()));
    if (!name.empty())
        name.front() = static_cast<char>(std::toupper(static_cast<unsigned char>(name.front())));
    constexpr std::array<std::pair<std::string_view, ChatErrorKind>, 15> names{{
        {"Throttling", ChatErrorKind::rate_limit},
        {"TooManyRequests", ChatErrorKind::rate_limit},
        {"ServiceQuotaExceeded", ChatErrorKind::rate_limit},
        {"AccessDenied", ChatErrorKind::wrong_key},
        {"UnrecognizedClient", ChatErrorKind::wrong_key},
        {"InvalidSignature", ChatErrorKind::wrong_key},
        {"ExpiredToken", ChatErrorKind::wrong_key},
        {"ResourceNotFound", ChatErrorKind::unknown_model},
        {"Validation", ChatErrorKind::bad_request},
        {"ModelNotReady", ChatErrorKind::server},
        {"ModelTimeout", ChatErrorKind::server},
        {"ModelError", ChatErrorKind::server},
        {"ModelStreamError", ChatErrorKind::server},
        {"InternalServer", ChatErrorKind::server},
        {"ServiceUnavailable", ChatErrorKind::server},
    }};
    const auto found = std::ranges::find(names, name, [](const auto& entry) { return entry.first; });
    return found == names.end() ? std::nullopt : std::optional(found->second);
}

}  // namespace

void AnswerReader::text(const std::string& piece)
{
    if (piece.empty())
        return;
    if (response.text.empty())
        response.first_text = duration_cast<microseconds>(std::chrono::steady_clock::now() - start_);
    response.text += piece;
    if (control_->on_text)
        control_->on_text(piece);
}

ChatResult postChat(HttpTransport& transport, const ChatPost& post, AnswerReader& reader, const CallControl& control)
{
    std::string malformed;
    const auto read = [&](std::string_view text, bool streamed) {
        try {
            const json data = json::parse(text);
            streamed ? reader.event(data) : reader.whole(data);
        } catch (const json::exception&) {
            malformed =
                fmt::format("{} answered with something that is not of its protocol: {}", post.provider_name, text);
        }
        return malformed.empty() && !reader.fault;
    };
    SseParser events([&](std::string_view, std::string_view data) {
        if (data == "[DONE]") {
            reader.done();
            return true;
        }
        return read(data, true);
    });
    std::string event_lines;
    EventStreamParser messages([&](const EventStreamMessage& message) {
        try {
            const std::string data = eventOf(message);
            event_lines += data + "\n";
            return read(data, true);
        } catch (const json::exception&) {
            malformed = post.provider_name + " sent an event that is no JSON.";
            return false;
        }
    });
    const bool binary = post.framing == StreamFraming::aws_event_stream && post.request.streamed;
    // Behind the answer's end nothing counts any more, but the connection can be
    // used again when it is read.
    const HttpReceiver receive = [&](std::string_view piece) {
        return !post.request.streamed || (binary ? messages.feed(piece) : events.feed(piece));
    };
    HttpAnswer answer = transport.post(post.request, receive, control.stop, control.deadline);
    const bool status_ok = answer.status == 200;
    if (!messages.fault().empty())
        malformed = fmt::format("{} sent {}.", post.provider_name, messages.fault());
    // Some servers and proxies answer a request for a stream in one piece.
    const auto type = answer.headers.find("content-type");
    const bool one_piece = !post.request.streamed || (!binary && type != answer.headers.end() && !reader.complete() &&
                                                      type->second.starts_with("application/json"));
    if (answer.fault == HttpFault::none && status_ok && one_piece)
        read(answer.body, false);

    ChatResponse& response = reader.response;
    response.raw_request = post.request.redact(post.request.body);
    response.raw_response = post.request.redact(binary && status_ok ? event_lines : answer.body);
    response.text = post.request.redact(response.text);
    response.first_byte = answer.first_byte;
    response.total = answer.total;
    if (const auto header = answer.headers.find(post.request_id_header); header != answer.headers.end())
        response.request_id = post.request.redact(header->second);

    std::optional<ChatError> error;
    if (reader.fault) {
        error = errorOf(reader.fault->kind, fmt::format("{} reports: {}", post.provider_name, reader.fault->error.what),
                        post);
        error->retryable = reader.fault->retryable;
    } else if (!malformed.empty()) {
        error = errorOf(ChatErrorKind::malformed, malformed, post);
    } else if (answer.fault != HttpFault::none && !(status_ok && reader.complete())) {
        error = transportError(answer, post, transport.limits());
    } else if (!status_ok) {
        error = statusError(answer, post);
    } else if (!reader.complete()) {
        error = errorOf(ChatErrorKind::cut, post.provider_name + " ended its answer before the answer's end.", post);
    }
    if (!error)
        return response;
    error->http_status = answer.status;
    error->billable = answer.sent && (status_ok || answer.status == 0);
    const StopReason reason = error->kind == ChatErrorKind::cancelled ? StopReason::cancelled : StopReason::unfinished;
    error->partial = std::move(response);
    error->partial.stop_reason = reason;
    return std::unexpected(std::move(*error));
}

std::string joinUrl(std::string base, const std::string& path)
{
    while (base.ends_with('/'))
        base.pop_back();
    return base + path;
}

ChatError noKeyError(const ChatServer& settings, const std::string& provider_name)
{
    ChatError error;
    error.kind = ChatErrorKind::no_key;
    error.error = {fmt::format("There is no key for {}.", provider_name), settings.key_variable,
                   fmt::format("Set the environment variable {} to your key.", settings.key_variable)};
    return error;
}

ChatErrorKind errorKind(int http_status, std::string_view type)
{
    if (const auto kind = awsErrorKind(type))
        return *kind;
    if (type == "insufficient_quota" || type == "billing_error" || http_status == 402)
        return ChatErrorKind::budget;
    if (type == "model_not_found")
        return ChatErrorKind::unknown_model;
    if (http_status == 429 || type == "rate_limit_error" || type == "rate_limit_exceeded")
        return ChatErrorKind::rate_limit;
    if (http_status == 401 || http_status == 403 || type == "authentication_error" || type == "permission_error")
        return ChatErrorKind::wrong_key;
    if (http_status == 404 || type == "not_found_error")
        return ChatErrorKind::unknown_model;
    if (http_status == 413 || type == "request_too_large" || type == "context_length_exceeded")
        return ChatErrorKind::too_large;
    if (http_status >= 500 || http_status == 408 || http_status == 0 || type == "api_error" ||
        type == "overloaded_error")
        return ChatErrorKind::server;
    return ChatErrorKind::bad_request;
}

std::optional<std::chrono::milliseconds> parseRetryAfter(const std::string& value, std::int64_t now_unix_s)
{
    constexpr std::int64_t longest_s = 86'400;
    std::int64_t seconds = 0;
    const char* const end = value.data() + value.size();
    if (const auto parsed = std::from_chars(value.data(), end, seconds);
        parsed.ec != std::errc() || parsed.ptr != end) {
        const std::time_t date = curl_getdate(value.c_str(), nullptr);
        if (date < 0)
            return std::nullopt;
        seconds = static_cast<std::int64_t>(date) - now_unix_s;
    }
    return std::chrono::seconds(std::clamp<std::int64_t>(seconds, 0, longest_s));
}

std::int64_t tokenCount(const json& usage, const char* name)
{
    constexpr std::int64_t most = 1'000'000'000;
    if (!usage.is_object() || !usage.contains(name) || usage[name].is_null())
        return 0;
    const auto count = usage[name].get<std::int64_t>();
    if (count < 0 || count > most)
        throw json::other_error::create(500, "no count of tokens", &usage);
    return count;
}

}  // namespace cuco
