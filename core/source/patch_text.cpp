// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/source/patch_text.h"

#include <algorithm>
#include <array>

namespace cuco::patch_text {

namespace {

char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

bool isLetter(char c)
{
    return lower(c) >= 'a' && lower(c) <= 'z';
}

bool contains(std::string_view text, std::string_view word)
{
    return !std::ranges::search(text, word, {}, lower, lower).empty();
}

/// What counts as code at a glance: how lines of C++ begin or end.
bool isCodeLine(std::string_view line)
{
    const std::string_view text = trim(line);
    if (text.empty() || (text.starts_with('<') && !text.starts_with("<<<"))) {
        return false;
    }
    return std::string_view(";{},()\\>").contains(text.back()) || std::string_view("#}{*").contains(text.front()) ||
           text.starts_with("//") || text.starts_with("/*") || text.ends_with("*/") || text == "public:" ||
           text == "private:";
}

/// For each length of a matched beginning, the longest shorter one that still matches.
std::vector<std::size_t> failureTable(std::span<const std::uint64_t> pattern)
{
    std::vector<std::size_t> table(pattern.size() + 1, 0);
    for (std::size_t i = 1, matched = 0; i < pattern.size(); ++i) {
        while (matched > 0 && pattern[i] != pattern[matched]) {
            matched = table[matched];
        }
        matched += pattern[i] == pattern[matched] ? 1 : 0;
        table[i + 1] = matched;
    }
    return table;
}

/// Knuth, Morris and Pratt: calls `visit(end, matched)` behind every element.
template <class Visit>
void scan(std::span<const std::uint64_t> text, std::span<const std::uint64_t> pattern, Visit visit)
{
    const auto table = failureTable(pattern);
    std::size_t matched = 0;
    for (std::size_t i = 0; i < text.size(); ++i) {
        while (matched > 0 && (matched == pattern.size() || text[i] != pattern[matched])) {
            matched = table[matched];
        }
        matched += text[i] == pattern[matched] ? 1 : 0;
        visit(i + 1, matched);
    }
}

/// The run of backquotes or tildes that opens or closes a fence; 0 for other lines.
std::size_t fenceRun(std::string_view trimmed)
{
    if (trimmed.empty() || (trimmed[0] != '`' && trimmed[0] != '~')) {
        return 0;
    }
    const std::size_t run = std::min(trimmed.find_first_not_of(trimmed[0]), trimmed.size());
    return run >= 3 ? run : 0;
}

std::string tagOf(std::string_view information)
{
    information = trim(information);
    information = information.substr(0, information.find_first_of(" \t:,{"));
    if (const std::size_t dot = information.rfind('.'); dot != std::string_view::npos) {
        information.remove_prefix(dot + 1);
    }
    std::string tag(shortened(information, 32));
    std::ranges::transform(tag, tag.begin(), lower);
    return tag;
}

}  // namespace

std::string_view trimEnd(std::string_view text)
{
    return text.substr(0, text.find_last_not_of(blanks) + 1);
}

std::string_view trim(std::string_view text)
{
    text = trimEnd(text);
    return text.substr(std::min(text.find_first_not_of(blanks), text.size()));
}

bool isBlank(std::string_view text)
{
    return text.find_first_not_of(" \t\r\f\v\n") == std::string_view::npos;
}

bool equalIgnoringCase(std::string_view left, std::string_view right)
{
    return std::ranges::equal(left, right, {}, lower, lower);
}

bool startsWithIgnoringCase(std::string_view text, std::string_view start)
{
    return text.size() >= start.size() && equalIgnoringCase(text.substr(0, start.size()), start);
}

std::vector<std::string_view> splitLines(std::string_view text)
{
    std::vector<std::string_view> lines;
    while (!text.empty()) {
        const std::size_t end = std::min(text.find('\n'), text.size());
        std::string_view line = text.substr(0, end);
        if (end < text.size() && line.ends_with('\r')) {
            line.remove_suffix(1);
        }
        lines.push_back(line);
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return lines;
}

std::string joinLines(std::span<const std::string_view> lines, std::string_view line_end)
{
    std::string text;
    for (const std::string_view line : lines) {
        text += line;
        text += line_end;
    }
    return text;
}

std::string_view lineEndOf(std::string_view text)
{
    const std::size_t end = text.find('\n');
    return end != std::string_view::npos && end > 0 && text[end - 1] == '\r' ? "\r\n" : "\n";
}

std::string_view shortened(std::string_view text, std::size_t bytes)
{
    if (text.size() <= bytes) {
        return text;
    }
    while (bytes > 0 && (static_cast<unsigned char>(text[bytes]) & 0xC0) == 0x80) {
        --bytes;
    }
    return text.substr(0, bytes);
}

std::string quoted(std::string_view line)
{
    line = trim(line);
    const std::string_view part = shortened(line, 100);
    return "`" + std::string(part) + (part.size() < line.size() ? "…" : "") + "`";
}

MarkerLine markerOf(std::string_view line)
{
    line = trim(line);
    line.remove_prefix(std::min(line.find_first_not_of("/#* \t"), line.size()));
    for (const auto& [word, marker] : {std::pair{std::string_view("EVOLVE-BLOCK-START"), MarkerLine::start},
                                       std::pair{std::string_view("EVOLVE-BLOCK-END"), MarkerLine::end}}) {
        if (line.starts_with(word) && (line.size() == word.size() || !isLetter(line[word.size()]))) {
            return marker;
        }
    }
    return MarkerLine::none;
}

bool isElision(std::string_view line)
{
    line = trim(line);
    if (!line.starts_with("//") && !line.starts_with("/*")) {
        return false;
    }
    line.remove_prefix(2);
    if (line.ends_with("*/")) {
        line.remove_suffix(2);
    }
    line = trim(line);
    while (!line.empty() && std::string_view("()[]<>").contains(line.front())) {
        line.remove_prefix(1);
    }
    while (!line.empty() && std::string_view("()[]<>").contains(line.back())) {
        line.remove_suffix(1);
    }
    const auto has = [&](const char* word) { return contains(line, word); };
    if (!line.starts_with("...") && !line.starts_with("…")) {
        return line.size() < 80 && (has("unchanged") || has("omitted")) && (has("rest") || has("code"));
    }
    constexpr std::array words{"unchanged", "existing", "same",  "rest",     "remain",
                               "before",    "omitted",  "your ", "previous", "original"};
    return line.size() <= 3 || std::ranges::any_of(words, has);
}

bool looksLikeCode(std::span<const std::string_view> lines)
{
    std::size_t written = 0, code = 0;
    bool first = false, last = false, has_statement = false;
    for (const std::string_view line : lines) {
        if (isBlank(line)) {
            continue;
        }
        last = isCodeLine(line);
        first = written == 0 ? last : first;
        ++written;
        code += last ? 1 : 0;
        has_statement = has_statement || line.contains(';') || line.contains('}');
    }
    return first && last && has_statement && code * 10 >= written * 6;
}

bool isFenceLine(std::string_view line)
{
    return fenceRun(trim(line)) > 0;
}

std::vector<Fence> findFences(std::span<const std::string_view> lines)
{
    std::vector<Fence> fences;
    std::size_t run = 0;  // of the open fence; none when 0
    char sign = 0;        // '<' for an element
    for (std::size_t i = 0; i < lines.size(); ++i) {
        const std::string_view line = trim(lines[i]);
        if (run > 0) {
            const bool closes = sign == '<' ? equalIgnoringCase(line, "</CODE>")
                                            : fenceRun(line) >= run && line.front() == sign &&
                                                  line.find_first_not_of(sign) == std::string_view::npos;
            if (closes) {
                fences.back().end = i;
                fences.back().closed = true;
                run = 0;
            } else if (sign == '<' && fenceRun(line) > 0 && i == fences.back().begin) {
                // A fence directly inside the element: the fence counts.
                run = fenceRun(line);
                sign = line.front();
                fences.back().tag = tagOf(line.substr(run));
                fences.back().begin = i + 1;
            }
            continue;
        }
        const std::size_t opened = fenceRun(line);
        if (opened > 0 && !line.substr(opened).contains('`')) {
            fences.push_back({tagOf(line.substr(opened)), i + 1, lines.size(), false});
            run = opened;
            sign = line.front();
        } else if (equalIgnoringCase(line, "<CODE>")) {
            fences.push_back({"cuda", i + 1, lines.size(), false});
            run = 1;
            sign = '<';
        }
    }
    return fences;
}

std::uint32_t TextNumbers::of(std::string_view text)
{
    return numbers_.emplace(text, static_cast<std::uint32_t>(numbers_.size())).first->second;
}

std::vector<std::size_t> findAll(std::span<const std::uint64_t> text, std::span<const std::uint64_t> pattern)
{
    std::vector<std::size_t> places;
    if (!pattern.empty()) {
        scan(text, pattern, [&](std::size_t end, std::size_t matched) {
            if (matched == pattern.size()) {
                places.push_back(end - matched);
            }
        });
    }
    return places;
}

PrefixMatch longestPrefix(std::span<const std::uint64_t> text, std::span<const std::uint64_t> pattern)
{
    PrefixMatch best;
    if (!pattern.empty()) {
        scan(text, pattern, [&](std::size_t end, std::size_t matched) {
            if (matched > best.length) {
                best = {end - matched, matched};
            }
        });
    }
    return best;
}

}  // namespace cuco::patch_text
