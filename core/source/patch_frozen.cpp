// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/source/patch_frozen.h"

#include "core/source/cuda_lexer.h"

#include <algorithm>
#include <iterator>
#include <unordered_map>

namespace cuco::patch_text {

namespace {

constexpr std::string_view white = " \t\r\f\v\n";

/// Into `to`, whose memory is used again.
void squeeze(std::string_view line, std::string& to)
{
    to.clear();
    std::ranges::copy_if(line, std::back_inserter(to), [](char c) { return !white.contains(c); });
}

}  // namespace

std::vector<FrozenPart> frozenParts(const KernelSource& source)
{
    std::vector<FrozenPart> parts;
    const auto segments = source.frozenSegments();
    for (std::size_t i = 0; i < segments.size(); ++i) {
        std::string_view text = segments[i];
        if (i > 0) {
            text.remove_prefix(std::min(text.find('\n'), text.size() - 1) + 1);
        }
        if (i + 1 < segments.size()) {
            const std::size_t line = text.size() < 2 ? std::string_view::npos : text.rfind('\n', text.size() - 2);
            text = text.substr(0, line == std::string_view::npos ? 0 : line + 1);
        }
        parts.push_back({text, static_cast<std::size_t>(text.data() - source.text().data())});
    }
    return parts;
}

Agreement agreement(std::string_view left, std::string_view right)
{
    Agreement at;
    for (;; ++at.left, ++at.right) {
        at.left = std::min(left.find_first_not_of(white, at.left), left.size());
        at.right = std::min(right.find_first_not_of(white, at.right), right.size());
        if (at.left == left.size() || at.right == right.size() || left[at.left] != right[at.right]) {
            return at;
        }
    }
}

std::optional<std::string_view> withoutStart(std::string_view text, std::string_view start)
{
    const Agreement at = agreement(start, text);
    if (at.left < start.size()) {
        return {};
    }
    // The code behind keeps its first line's indentation.
    const std::size_t line = text.substr(0, at.right).rfind('\n');
    const std::size_t begin = line == std::string_view::npos ? 0 : line + 1;
    const bool is_own_line = isBlank(text.substr(begin, at.right - begin));
    return text.substr(is_own_line ? begin : at.right);
}

std::optional<std::string_view> withoutEnd(std::string_view text, std::string_view end)
{
    std::size_t left = text.size(), right = end.size();
    const auto back = [](std::string_view of, std::size_t from) {
        return of.substr(0, from).find_last_not_of(white) + 1;
    };
    for (right = back(end, right); right > 0; right = back(end, right - 1)) {
        left = back(text, left);
        if (left == 0 || text[left - 1] != end[right - 1]) {
            return {};
        }
        --left;
    }
    const std::size_t line = text.substr(0, left).rfind('\n');
    const std::size_t begin = line == std::string_view::npos ? 0 : line + 1;
    return text.substr(0, isBlank(text.substr(begin, left - begin)) ? begin : left);
}

bool hasCode(std::string_view text)
{
    CudaLexer lexer(text);
    for (Lexeme token = lexer.next(); token.kind != LexemeKind::end; token = lexer.next()) {
        if (token.kind != LexemeKind::comment) {
            return true;
        }
    }
    return false;
}

std::optional<std::string_view> changedCopy(std::string_view text, std::string_view frozen, const KernelSource& source)
{
    constexpr std::size_t least = 8, telling = 24;  // bytes
    std::string bare;
    std::unordered_map<std::string, bool> in_text;  // of the frozen lines that say something
    for (const std::string_view line : splitLines(frozen)) {
        squeeze(line, bare);
        if (bare.size() >= least) {
            in_text.emplace(bare, false);
        }
    }
    for (std::size_t block = 0; block < source.blocks().size() && !in_text.empty(); ++block) {
        for (const std::string_view line : splitLines(source.blockText(block))) {
            squeeze(line, bare);
            in_text.erase(bare);
        }
    }
    if (in_text.empty()) {
        return std::nullopt;
    }
    for (const std::string_view line : splitLines(text)) {
        squeeze(line, bare);
        if (const auto found = in_text.find(bare); found != in_text.end()) {
            found->second = true;
        }
    }
    std::size_t lines = 0, found = 0;
    bool has_telling = false;
    std::optional<std::string_view> missing;
    for (const std::string_view line : splitLines(frozen)) {
        squeeze(line, bare);
        const auto known = in_text.find(bare);
        if (known == in_text.end()) {
            continue;
        }
        ++lines;
        if (known->second) {
            ++found;
            has_telling = has_telling || bare.size() >= telling;
        } else if (!missing) {
            missing = line;
        }
    }
    const bool is_copy = (found >= 2 || has_telling) && found * 2 >= lines;
    return is_copy ? std::optional(missing.value_or(frozen)) : std::nullopt;
}

std::string_view withoutBlankEnds(std::string_view text)
{
    const std::size_t first = text.find_first_not_of(white), last = text.find_last_not_of(white);
    if (first == std::string_view::npos) {
        return {};
    }
    const std::size_t line = text.substr(0, first).rfind('\n');
    const std::size_t begin = line == std::string_view::npos ? 0 : line + 1;
    return text.substr(begin, std::min(text.find('\n', last), text.size() - 1) + 1 - begin);
}

std::size_t squeezedSize(std::string_view text)
{
    return static_cast<std::size_t>(std::ranges::count_if(text, [](char c) { return !white.contains(c); }));
}

}  // namespace cuco::patch_text
