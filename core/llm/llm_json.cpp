// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/llm/llm_json.h"

#include "core/base/json.h"

#include <nlohmann/json.hpp>

namespace cuco {

nlohmann::json toJson(const TokenUsage& usage)
{
    return {{"input", usage.input},           {"output", usage.output},
            {"cache_read", usage.cache_read}, {"cache_write", usage.cache_write},
            {"reasoning", usage.reasoning},   {"reported", usage.reported}};
}

nlohmann::json toJson(const ChatResponse& response)
{
    return {{"text", validUtf8(response.text)},
            {"stop_reason", toString(response.stop_reason)},
            {"model", response.model},
            {"request_id", validUtf8(response.request_id)},
            {"usage", toJson(response.usage)},
            {"first_byte_us", response.first_byte.count()},
            {"first_text_us", response.first_text.count()},
            {"total_us", response.total.count()},
            {"attempts", response.attempts}};
}

nlohmann::json toJson(const ChatError& error)
{
    nlohmann::json json = {{"kind", toString(error.kind)},
                           {"what", validUtf8(error.error.what)},
                           {"where", validUtf8(error.error.where)},
                           {"remedy", validUtf8(error.error.remedy)},
                           {"http_status", error.http_status},
                           {"retryable", error.retryable},
                           {"billable", error.billable},
                           {"partial", toJson(error.partial)}};
    if (error.retry_after)
        json["retry_after_ms"] = error.retry_after->count();
    return json;
}

Result<void> readAnswer(const nlohmann::json& json, const std::string& where, ChatResponse& response)
{
    std::string reason = toString(StopReason::finished);
    std::int64_t first_byte = response.first_byte.count(), first_text = response.first_text.count(),
                 total = response.total.count();
    JsonReader reader(json, where);
    reader.required("text", response.text)
        .optional("stop_reason", reason)
        .optional("model", response.model)
        .optional("request_id", response.request_id)
        .optional("first_byte_us", first_byte)
        .optional("first_text_us", first_text)
        .optional("total_us", total)
        .optional("attempts", response.attempts);
    if (reader.present("usage")) {
        TokenUsage& usage = response.usage;
        usage.reported = true;
        JsonReader counts(json["usage"], where, "usage");
        counts.optional("input", usage.input)
            .optional("output", usage.output)
            .optional("cache_read", usage.cache_read)
            .optional("cache_write", usage.cache_write)
            .optional("reasoning", usage.reasoning)
            .optional("reported", usage.reported);
        for (const auto& [name, count] :
             {std::pair{"input", usage.input}, std::pair{"output", usage.output},
              std::pair{"cache_read", usage.cache_read}, std::pair{"cache_write", usage.cache_write}})
            if (count < 0)
                counts.fault(name, "must not be negative");
        if (auto done = counts.finish(); !done)
            return done;
    }
    if (const auto known = stopReasonFromString(reason))
        response.stop_reason = *known;
    else
        reader.fault("stop_reason", "is none that is known");
    response.first_byte = std::chrono::microseconds(first_byte);
    response.first_text = std::chrono::microseconds(first_text);
    response.total = std::chrono::microseconds(total);
    return reader.finish();
}

Result<void> readError(const nlohmann::json& json, const std::string& where, ChatError& error)
{
    std::string kind;
    std::optional<std::int64_t> retry_after;
    JsonReader reader(json, where);
    reader.required("kind", kind)
        .required("what", error.error.what)
        .optional("where", error.error.where)
        .optional("remedy", error.error.remedy)
        .optional("http_status", error.http_status)
        .optional("retryable", error.retryable)
        .optional("billable", error.billable)
        .optional("retry_after_ms", retry_after);
    if (const auto known = chatErrorKindFromString(kind))
        error.kind = *known;
    else
        reader.fault("kind", "is none that is known");
    if (retry_after)
        error.retry_after = std::chrono::milliseconds(*retry_after);
    if (reader.present("partial"))
        if (auto partial = readAnswer(json["partial"], where, error.partial); !partial)
            return partial;
    return reader.finish();
}

}  // namespace cuco
