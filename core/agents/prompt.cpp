// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/agents/prompt.h"

#include "core/base/files.h"
#include "core/llm/chat.h"

#include <fmt/format.h>

#include <algorithm>

namespace cuco {

namespace {

constexpr std::uint64_t most_prompt_bytes = 256u << 10;

bool isName(std::string_view name)
{
    return !name.empty() && std::ranges::all_of(name, [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
    });
}

/// All <!-- … --> before the first other line.
std::string_view withoutLeadingComments(std::string_view text)
{
    for (;;) {
        const auto begin = text.find_first_not_of(" \t\r\n");
        if (begin == text.npos || !text.substr(begin).starts_with("<!--"))
            return begin == text.npos ? std::string_view() : text.substr(begin);
        const auto end = text.find("-->", begin);
        if (end == text.npos)
            return text;
        text.remove_prefix(end + 3);
    }
}

std::string withoutBlankRuns(std::string_view text)
{
    std::string out;
    out.reserve(text.size());
    for (const char c : text)
        if (c != '\n' || !out.ends_with("\n\n"))
            out += c;
    return out;
}

std::string readable(std::string_view text)
{
    std::string out = validUtf8(std::string(text));
    std::erase_if(out, [](char c) { return (c >= 0 && c < 0x20 && c != '\n' && c != '\t') || c == 0x7f; });
    return out;
}

/// The beginning and the end, whole lines where there are some.
std::string shortened(std::string text, std::size_t most_bytes)
{
    if (text.size() <= most_bytes)
        return text;
    std::size_t head = most_bytes / 3 * 2, tail = text.size() - most_bytes / 3;
    if (const auto end = text.rfind('\n', head); end != text.npos)
        head = end + 1;
    if (const auto begin = text.find('\n', tail); begin != text.npos)
        tail = begin + 1;
    return validUtf8(
        fmt::format("{}[… {} bytes left out …]\n{}", text.substr(0, head), tail - head, text.substr(tail)));
}

}  // namespace

Result<PromptTemplate> PromptTemplate::parse(std::string text, const std::string& where)
{
    PromptTemplate made;
    made.text_ = withoutLeadingComments(text);
    made.where_ = where;
    const std::string_view rest = made.text_;
    for (auto at = rest.find("{{"); at != rest.npos; at = rest.find("{{", at)) {
        const auto end = rest.find("}}", at);
        const auto name = rest.substr(at + 2, end == rest.npos ? 0 : end - at - 2);
        if (!isName(name))
            return failure("A prompt has a place without a proper name.", where,
                           "Write {{name}} with lower-case letters, digits and underscores.");
        if (std::ranges::find(made.names_, name) == made.names_.end())
            made.names_.emplace_back(name);
        at = end + 2;
    }
    return made;
}

Result<std::string> PromptTemplate::render(const PromptValues& values) const
{
    // Blank runs go from the prompt's own text around an empty value, never from a value.
    std::size_t bytes = text_.size();
    for (const auto& [name, value] : values)
        bytes += value.size();
    std::string out;
    out.reserve(bytes);
    std::size_t at = 0;
    const auto addText = [&](std::string_view text) {
        while (text.starts_with('\n') && (out.empty() || out.ends_with("\n\n")))
            text.remove_prefix(1);
        out += withoutBlankRuns(text);
    };
    for (auto begin = text_.find("{{"); begin != text_.npos; begin = text_.find("{{", at)) {
        const auto end = text_.find("}}", begin);
        const auto name = text_.substr(begin + 2, end - begin - 2);
        const auto value = values.find(name);
        if (value == values.end())
            return failure(fmt::format("A prompt has the place {{{{{}}}}}, for which there is no value.", name), where_,
                           "Take the prompt as it came with the program.");
        addText(std::string_view(text_).substr(at, begin - at));
        const auto last = value->second.find_last_not_of('\n');
        out += std::string_view(value->second).substr(0, last == std::string::npos ? 0 : last + 1);
        at = end + 2;
    }
    addText(std::string_view(text_).substr(at));
    while (out.ends_with('\n'))
        out.pop_back();
    out += '\n';
    return out;
}

Result<std::string> PromptLibrary::render(const std::string& prompt, const PromptValues& values) const
{
    const auto path = resources_ / "prompts" / (prompt + ".md");
    auto text = readFile(path, most_prompt_bytes);
    if (!text)
        return std::unexpected(text.error());
    const auto parsed = PromptTemplate::parse(std::move(*text), path.string());
    if (!parsed)
        return std::unexpected(parsed.error());
    return parsed->render(values);
}

Result<std::string> PromptLibrary::notes(const std::vector<std::string>& names) const
{
    std::string all;
    for (const auto& name : names) {
        const auto text = readFile(resources_ / "api_notes" / (name + ".md"), most_prompt_bytes);
        if (!text)
            return std::unexpected(text.error());
        all += all.empty() ? "" : "\n";
        all += withoutLeadingComments(*text);
    }
    return all;
}

std::string fenced(std::string_view text, std::string_view language, std::size_t most_bytes)
{
    if (text.empty())
        return {};
    std::string body = shortened(readable(text), most_bytes);
    if (!body.ends_with('\n'))
        body += '\n';
    std::size_t longest = 0, run = 0;
    for (std::size_t at = body.find('`'); at != std::string::npos; at = body.find('`', at + run)) {
        run = std::min(body.find_first_not_of('`', at), body.size()) - at;
        longest = std::max(longest, run);
    }
    const std::string fence(std::max<std::size_t>(3, longest + 1), '`');
    return body.insert(0, fmt::format("{}{}\n", fence, language)).append(fence);
}

}  // namespace cuco
