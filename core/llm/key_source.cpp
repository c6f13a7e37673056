// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/llm/key_source.h"

#include <algorithm>

namespace cuco {

Secret environmentKey(const std::string& name)
{
    return Secret::fromEnvironment(name);
}

std::vector<KeyName> keyNames(std::string_view provider)
{
    if (provider == "anthropic")
        return {{"ANTHROPIC_API_KEY", "API key"}};
    if (provider == "openai")
        return {{"OPENAI_API_KEY", "API key"}};
    if (provider == "bedrock")
        return {{"AWS_BEARER_TOKEN_BEDROCK", "Bedrock API key (in place of the others)", false},
                {"AWS_ACCESS_KEY_ID", "Access key ID"},
                {"AWS_SECRET_ACCESS_KEY", "Secret access key"},
                {"AWS_SESSION_TOKEN", "Session token, of temporary keys", false}};
    return {};
}

bool isKeyName(std::string_view text)
{
    constexpr std::size_t longest = 128;
    const auto is_letter = [](char c) { return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '_'; };
    return !text.empty() && text.size() <= longest && is_letter(text.front()) &&
           std::ranges::all_of(text, [&](char c) { return is_letter(c) || (c >= '0' && c <= '9'); });
}

}  // namespace cuco
