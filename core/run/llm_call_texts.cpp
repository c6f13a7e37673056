// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/run/llm_call_texts.h"

#include <fmt/format.h>
#include <charconv>
#include <nlohmann/json.hpp>

namespace cuco {

namespace {

/// Around the number of a text. JSON has no such character.
constexpr char mark = '\x01';
/// Before a body that has the character all the same.
const std::string as_it_is(2, mark);
constexpr std::size_t shortest_repeated = 64;
constexpr std::size_t most_raw_bytes = 256u << 20;

ChatResponse& answerOf(LlmCall& call)
{
    return call.result ? *call.result : call.result.error().partial;
}

/// As a body of a request spells it, without the quotation marks.
std::string escaped(const std::string& text)
{
    const std::string json = dumpJson(text);
    return json.substr(1, json.size() - 2);
}

std::string withMarks(std::string raw, const std::vector<std::string>& texts)
{
    if (raw.empty())
        return raw;
    if (raw.find(mark) != std::string::npos)
        return as_it_is + raw;
    for (std::size_t i = 0; i < texts.size(); ++i) {
        if (texts[i].size() < shortest_repeated)
            continue;
        const std::string repeated = escaped(texts[i]);
        if (const std::size_t at = raw.find(repeated); at != std::string::npos)
            raw.replace(at, repeated.size(), fmt::format("{0}{1}{0}", mark, i));
    }
    return raw;
}

Result<std::string> withoutMarks(std::string_view raw, const std::vector<std::string>& texts)
{
    if (raw.starts_with(as_it_is))
        return std::string(raw.substr(as_it_is.size()));
    std::string whole;
    for (std::size_t at = raw.find(mark); at != std::string_view::npos; at = raw.find(mark)) {
        const char *const begin = raw.data() + at + 1, *const end = raw.data() + raw.size();
        std::size_t index = 0;
        const auto [after, error] = std::from_chars(begin, end, index);
        if (error != std::errc() || after == end || *after != mark || index >= texts.size())
            return failure("A stored request repeats a text that it does not have");
        whole.append(raw.substr(0, at)).append(escaped(texts[index]));
        if (whole.size() > most_raw_bytes)
            return failure("A stored request claims more than 256 MiB");
        raw.remove_prefix(static_cast<std::size_t>(after + 1 - raw.data()));
    }
    return whole.append(raw);
}

}  // namespace

LlmCallTexts takeTexts(LlmCall& call)
{
    LlmCallTexts texts;
    texts.asked.push_back(std::exchange(call.request.system, {}));
    for (ChatMessage& message : call.request.messages)
        texts.asked.push_back(std::exchange(message.text, {}));
    ChatResponse& answer = answerOf(call);
    texts.answer = std::exchange(answer.text, {});
    texts.raw_response = std::exchange(answer.raw_response, {});
    texts.raw_request = withMarks(std::exchange(answer.raw_request, {}), texts.asked);
    return texts;
}

Result<void> putTexts(LlmCallTexts texts, LlmCall& call)
{
    if (texts.asked.size() != call.request.messages.size() + 1)
        return failure("A stored request does not have one text for each message");
    auto raw_request = withoutMarks(texts.raw_request, texts.asked);
    if (!raw_request)
        return std::unexpected(raw_request.error());
    ChatResponse& answer = answerOf(call);
    answer.raw_request = std::move(*raw_request);
    answer.raw_response = std::move(texts.raw_response);
    answer.text = std::move(texts.answer);
    call.request.system = std::move(texts.asked[0]);
    for (std::size_t i = 0; i < call.request.messages.size(); ++i)
        call.request.messages[i].text = std::move(texts.asked[i + 1]);
    return {};
}

}  // namespace cuco
