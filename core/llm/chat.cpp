// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/llm/chat.h"

#include "core/source/kernel_source.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <condition_variable>
#include <cstdint>
#include <cstring>
#include <mutex>
#include <utility>

namespace cuco {

namespace {

template <class T>
using Name = std::pair<T, std::string_view>;

constexpr std::array<Name<ChatRole>, 2> roles{{{ChatRole::user, "user"}, {ChatRole::assistant, "assistant"}}};

constexpr std::array<Name<StopReason>, 8> stop_reasons{{
    {StopReason::finished, "finished"},
    {StopReason::token_limit, "token_limit"},
    {StopReason::context_limit, "context_limit"},
    {StopReason::stop_sequence, "stop_sequence"},
    {StopReason::refusal, "refusal"},
    {StopReason::cancelled, "cancelled"},
    {StopReason::unfinished, "unfinished"},
    {StopReason::other, "other"},
}};

constexpr std::array<Name<ChatErrorKind>, 16> error_kinds{{
    {ChatErrorKind::no_key, "no_key"},
    {ChatErrorKind::wrong_key, "wrong_key"},
    {ChatErrorKind::unknown_model, "unknown_model"},
    {ChatErrorKind::bad_request, "bad_request"},
    {ChatErrorKind::no_price, "no_price"},
    {ChatErrorKind::budget, "budget"},
    {ChatErrorKind::rate_limit, "rate_limit"},
    {ChatErrorKind::server, "server"},
    {ChatErrorKind::network, "network"},
    {ChatErrorKind::malformed, "malformed"},
    {ChatErrorKind::too_large, "too_large"},
    {ChatErrorKind::cut, "cut"},
    {ChatErrorKind::program, "program"},
    {ChatErrorKind::not_recorded, "not_recorded"},
    {ChatErrorKind::cancelled, "cancelled"},
    {ChatErrorKind::deadline, "deadline"},
}};

template <class Names, class T>
std::string nameOf(const Names& names, T value)
{
    return std::string(std::ranges::find(names, value, [](const auto& entry) { return entry.first; })->second);
}

template <class T, std::size_t n>
std::optional<T> valueOf(const std::array<Name<T>, n>& names, std::string_view name)
{
    const auto found = std::ranges::find(names, name, [](const auto& entry) { return entry.second; });
    return found == names.end() ? std::nullopt : std::optional(found->first);
}

}  // namespace

std::string toString(ChatRole role)
{
    return nameOf(roles, role);
}

std::string toString(StopReason reason)
{
    return nameOf(stop_reasons, reason);
}

std::string toString(ChatErrorKind kind)
{
    return nameOf(error_kinds, kind);
}

std::optional<ChatRole> chatRoleFromString(std::string_view name)
{
    return valueOf(roles, name);
}

std::optional<StopReason> stopReasonFromString(std::string_view name)
{
    return valueOf(stop_reasons, name);
}

std::optional<ChatErrorKind> chatErrorKindFromString(std::string_view name)
{
    return valueOf(error_kinds, name);
}

nlohmann::json toJson(const ChatRequest& request)
{
    nlohmann::json messages = nlohmann::json::array();
    for (const ChatMessage& message : request.messages)
        messages.push_back({{"role", toString(message.role)}, {"text", message.text}});
    nlohmann::json json = {{"format", 1},
                           {"model", request.model},
                           {"system", request.system},
                           {"messages", std::move(messages)},
                           {"max_output_tokens", request.max_output_tokens}};
    if (request.temperature)
        json["temperature"] = *request.temperature;
    return json;
}

std::string requestSha256(const ChatRequest& request)
{
    return sha256Hex(dumpJson(toJson(request)));
}

namespace {

/// Of the eight bytes from here on.
bool isAscii(std::string_view text, std::size_t at)
{
    std::uint64_t bytes = 0;
    if (text.size() - at < sizeof bytes)
        return false;
    std::memcpy(&bytes, text.data() + at, sizeof bytes);
    return (bytes & 0x8080808080808080u) == 0;
}

/// Unicode 15, table 3-7: no surrogates, nothing longer than it must be.
bool isValidUtf8(std::string_view text)
{
    for (std::size_t at = 0; at < text.size();) {
        const auto lead = static_cast<unsigned char>(text[at]);
        if (lead < 0x80) {
            at += isAscii(text, at) ? 8 : 1;
            continue;
        }
        const std::size_t length = lead < 0xc2 ? 0 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : lead < 0xf5 ? 4 : 0;
        if (length == 0 || length > text.size() - at)
            return false;
        for (std::size_t i = 1; i < length; ++i)
            if ((static_cast<unsigned char>(text[at + i]) & 0xc0) != 0x80)
                return false;
        const auto second = static_cast<unsigned char>(text[at + 1]);
        if ((lead == 0xe0 && second < 0xa0) || (lead == 0xed && second > 0x9f) || (lead == 0xf0 && second < 0x90) ||
            (lead == 0xf4 && second > 0x8f))
            return false;
        at += length;
    }
    return true;
}

/// Whether none of the eight bytes from here on is escaped: a control character, a quotation mark, a backslash.
bool isPlain(std::string_view text, std::size_t at)
{
    std::uint64_t bytes = 0;
    if (text.size() - at < sizeof bytes)
        return false;
    std::memcpy(&bytes, text.data() + at, sizeof bytes);
    constexpr std::uint64_t ones = 0x0101010101010101u, tops = 0x8080808080808080u;
    const auto below = [](std::uint64_t value, std::uint64_t least) { return (value - ones * least) & ~value; };
    return ((below(bytes, 0x20) | below(bytes ^ (ones * '"'), 1) | below(bytes ^ (ones * '\\'), 1)) & tops) == 0;
}

/// Long texts are most of what is dumped, and nlohmann's writer looks at each byte of them on its own.
void appendString(std::string& out, const std::string& text)
{
    if (!isValidUtf8(text)) {
        out += nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
        return;
    }
    out.reserve(out.size() + text.size() + text.size() / 16 + 2);
    out += '"';
    std::size_t plain = 0;
    for (std::size_t at = 0; at < text.size(); ++at) {
        while (isPlain(text, at))
            at += 8;
        if (at == text.size())
            break;
        const auto byte = static_cast<unsigned char>(text[at]);
        if (byte >= 0x20 && byte != '"' && byte != '\\')
            continue;
        out.append(text, plain, at - plain);
        plain = at + 1;
        switch (text[at]) {
            case '"':
                out += "\\\"";
                break;
            case '\\':
                out += "\\\\";
                break;
            case '\b':
                out += "\\b";
                break;
            case '\f':
                out += "\\f";
                break;
            case '\n':
                out += "\\n";
                break;
            case '\r':
                out += "\\r";
                break;
            case '\t':
                out += "\\t";
                break;
            default:
                out += fmt::format("\\u{:04x}", byte);
        }
    }
    out.append(text, plain);
    out += '"';
}

void appendJson(std::string& out, const nlohmann::json& json)
{
    if (json.is_string()) {
        appendString(out, json.get_ref<const std::string&>());
    } else if (json.is_structured() && !json.empty()) {
        const bool object = json.is_object();
        char before = object ? '{' : '[';
        for (auto item = json.begin(); item != json.end(); ++item) {
            out += std::exchange(before, ',');
            if (object) {
                appendString(out, item.key());
                out += ':';
            }
            appendJson(out, *item);
        }
        out += object ? '}' : ']';
    } else {
        out += json.dump();
    }
}

}  // namespace

std::string dumpJson(const nlohmann::json& json)
{
    std::string out;
    appendJson(out, json);
    return out;
}

std::string validUtf8(const std::string& text)
{
    if (isValidUtf8(text))
        return text;
    return nlohmann::json::parse(dumpJson(text)).get<std::string>();
}

bool sleepUntil(std::chrono::steady_clock::time_point then, const std::stop_token& stop)
{
    std::mutex mutex;
    std::condition_variable_any never;
    std::unique_lock lock(mutex);
    never.wait_until(lock, stop, then, [] { return false; });
    return !stop.stop_requested();
}

ChatError cancelledError()
{
    ChatError error;
    error.kind = ChatErrorKind::cancelled;
    error.error = {"The call was cancelled.", {}, {}};
    error.partial.stop_reason = StopReason::cancelled;
    return error;
}

}  // namespace cuco
