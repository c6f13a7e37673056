// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/source/patch_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

namespace cuco {

namespace {

using namespace patch_text;

constexpr std::size_t max_name_bytes = 120, max_description_bytes = 4000;

std::unexpected<PatchFault> fault(PatchFaultKind kind, std::string message, std::size_t block = 0,
                                  std::size_t answer_line = 0)
{
    return std::unexpected(PatchFault{kind, std::move(message), block, answer_line, {}});
}

/// A line of three or more '<', '=' or '>', as around and between SEARCH and REPLACE.
struct Mark {
    char sign = 0;
    std::size_t count = 0;
    bool named = false;  ///< followed by a word that can only mean a mark
    std::size_t line = 0;

    /// Code may have a line of three of these, a launch for example; five alone on a line are a mark anywhere.
    bool isStrong() const { return named || count >= 5; }
};

std::optional<Mark> markOf(std::string_view line, std::size_t number)
{
    line = trim(line);
    if (line.size() < 3 || !std::string_view("<=>").contains(line[0])) {
        return {};
    }
    Mark mark{line[0], std::min(line.find_first_not_of(line[0]), line.size()), false, number};
    const std::string_view rest = line.substr(mark.count);
    const std::string_view words = trim(rest);
    constexpr std::array<std::string_view, 3> openers{"SEARCH", "ORIGINAL", "HEAD"};
    constexpr std::array<std::string_view, 3> closers{"REPLACE", "UPDATED", "END"};
    const auto begins = [&](std::string_view word) { return startsWithIgnoringCase(words, word); };
    mark.named = (mark.sign == '<' && std::ranges::any_of(openers, begins)) ||
                 (mark.sign == '>' && std::ranges::any_of(closers, begins));
    const bool may_have_words = mark.count >= 6 && blanks.contains(rest.empty() ? ' ' : rest[0]);
    if (mark.count < 3 || (!words.empty() && !mark.named && !may_have_words)) {
        return {};
    }
    return mark;
}

/// Indices into the marks of one block.
struct BlockMarks {
    std::size_t opener = 0, divider = 0, closer = 0;
};

/// The divider and closer that follow the opener. `counts` says whether a mark takes part; another is code.
template <class Counts>
std::expected<BlockMarks, std::string> completeBlock(std::span<const Mark> marks, std::size_t opener, Counts counts)
{
    BlockMarks block{opener, 0, 0};
    for (std::size_t i = opener + 1; i < marks.size(); ++i) {
        const Mark& mark = marks[i];
        if (!counts(mark)) {
            continue;
        }
        if (mark.sign == '<') {
            return std::unexpected(
                fmt::format("it is not closed by \">>>>>>> REPLACE\" before the next begins in line {}", mark.line));
        }
        if (mark.sign == '=' && block.divider > 0) {
            return std::unexpected(
                fmt::format("it has two \"=======\" lines, {} and {}; where code holds such a line, "
                            "use more signs in the marks than in the code",
                            marks[block.divider].line, mark.line));
        }
        if (mark.sign == '=') {
            block.divider = i;
        } else if (block.divider == 0) {
            return std::unexpected(
                fmt::format("there is no \"=======\" between SEARCH and the closing mark in line {}", mark.line));
        } else {
            block.closer = i;
            return block;
        }
    }
    return std::unexpected("");
}

std::expected<BlockMarks, std::string> findBlock(std::span<const Mark> marks, std::size_t opener)
{
    // Marks of one length belong together whatever code they hold; only then are careless lengths taken.
    const std::size_t length = marks[opener].count;
    if (auto block = completeBlock(marks, opener, [&](const Mark& mark) { return mark.count == length; })) {
        return block;
    }
    return completeBlock(marks, opener, [&](const Mark& mark) { return mark.isStrong() || length < 5; });
}

/// One side of a block, without a code fence around all of it.
std::string sideOf(std::span<const std::string_view> lines)
{
    const auto is_written = [](std::string_view line) { return !isBlank(line); };
    const auto first = std::ranges::find_if(lines, is_written);
    const auto last = std::ranges::find_if(lines.rbegin(), lines.rend(), is_written).base();
    if (last - first >= 2 && isFenceLine(*first) && isFenceLine(*(last - 1)) &&
        trim(*(last - 1)).find_first_not_of("`~") == std::string_view::npos) {
        lines = std::span(first + 1, last - 1);
    }
    return joinLines(lines);
}

/// The answer's lines and which of them are prose.
struct Answer {
    std::vector<std::string_view> lines;
    std::size_t begin = 0;  ///< the first line behind a model's own thinking
    std::vector<bool> is_code;

    std::span<const std::string_view> between(std::size_t first, std::size_t end) const
    {
        return std::span(lines).subspan(first, end - first);
    }
    void markCode(std::size_t first, std::size_t end)
    {
        std::fill(is_code.begin() + static_cast<std::ptrdiff_t>(first),
                  is_code.begin() + static_cast<std::ptrdiff_t>(end), true);
    }
};

/// Models that reason in the open put it first, between tags; drafts in there are not the answer.
std::expected<std::size_t, PatchFault> skipThinking(std::span<const std::string_view> lines)
{
    const auto first = std::ranges::find_if(lines, [](std::string_view line) { return !isBlank(line); });
    if (first == lines.end()) {
        return 0;
    }
    for (const std::string_view tag : {std::string_view("think"), std::string_view("thinking")}) {
        if (startsWithIgnoringCase(trim(*first), fmt::format("<{}>", tag))) {
            const std::string end = fmt::format("</{}>", tag);
            const auto last =
                std::find_if(first, lines.end(), [&](std::string_view line) { return line.contains(end); });
            if (last == lines.end()) {
                return fault(PatchFaultKind::cut_off, "The answer ends before its thinking does: it holds no patch.");
            }
            return static_cast<std::size_t>(last - lines.begin()) + 1;
        }
    }
    return 0;
}

std::expected<std::vector<SearchReplace>, PatchFault> readEdits(Answer& answer)
{
    std::vector<Mark> marks;
    for (std::size_t i = answer.begin; i < answer.lines.size(); ++i) {
        if (const auto mark = markOf(answer.lines[i], i + 1)) {
            marks.push_back(*mark);
        }
    }
    std::vector<SearchReplace> edits;
    for (std::size_t i = 0; i < marks.size(); ++i) {
        if (marks[i].sign != '<') {
            continue;
        }
        const auto block = findBlock(marks, i);
        if (!block && !marks[i].isStrong()) {
            continue;
        }
        if (edits.size() == max_edits) {
            return fault(PatchFaultKind::too_large,
                         fmt::format("The answer has more than {} SEARCH/REPLACE blocks.", max_edits), max_edits + 1);
        }
        if (!block) {
            const bool is_cut = block.error().empty();
            return fault(is_cut ? PatchFaultKind::cut_off : PatchFaultKind::malformed_block,
                         fmt::format("The block that begins in line {} of the answer is not whole: {}.", marks[i].line,
                                     is_cut ? "the answer ends before its \">>>>>>> REPLACE\"" : block.error()),
                         edits.size() + 1, marks[i].line);
        }
        const std::size_t opener = marks[i].line, divider = marks[block->divider].line;
        const std::size_t closer = marks[block->closer].line;
        edits.push_back(
            {sideOf(answer.between(opener, divider - 1)), sideOf(answer.between(divider, closer - 1)), opener});
        answer.markCode(opener - 1, closer);
        i = block->closer;
    }
    return edits;
}

bool isUnifiedDiff(std::span<const std::string_view> lines)
{
    return std::ranges::any_of(
        lines, [](std::string_view line) { return line.starts_with("@@ -") && line.substr(4).contains(" @@"); });
}

bool hasMarkers(std::span<const std::string_view> lines)
{
    const auto has = [&](MarkerLine marker) {
        return std::ranges::any_of(lines, [&](std::string_view line) { return markerOf(line) == marker; });
    };
    return has(MarkerLine::start) && has(MarkerLine::end);
}

/// Whether a fence may hold the rewrite: by its language, by how its lines look, or by its markers.
bool isPlausible(const Fence& fence, std::span<const std::string_view> content)
{
    static const std::set<std::string, std::less<>> languages{"cuda", "cu", "cuh", "c++", "cpp",  "cxx",
                                                              "cc",   "c",  "h",   "hpp", "c/c++"};
    if (std::ranges::all_of(content, isBlank)) {
        return false;
    }
    return languages.contains(fence.tag) || hasMarkers(content) || (fence.tag.empty() && looksLikeCode(content));
}

/// The fence with markers, else the largest; of equals the last.
std::expected<std::optional<Fence>, PatchFault> chooseFence(const Answer& answer, std::span<const Fence> fences)
{
    std::optional<Fence> best;
    std::pair<bool, std::size_t> best_rank;
    for (const Fence& fence : fences) {
        const auto content = answer.between(fence.begin, fence.end);
        if (!isPlausible(fence, content)) {
            continue;
        }
        std::size_t bytes = 0;
        for (const std::string_view line : content) {
            bytes += line.size() + 1;
        }
        if (const std::pair rank{hasMarkers(content), bytes}; !best || rank >= best_rank) {
            best = fence;
            best_rank = rank;
        }
    }
    if (best && !best->closed && !best_rank.first) {
        return fault(
            PatchFaultKind::cut_off,
            fmt::format("The code fence that opens in line {} is not closed: the answer was cut off.", best->begin), 0,
            best->begin);
    }
    return best;
}

std::expected<void, PatchFault> readCode(Answer& answer, Patch& patch)
{
    const auto lines = answer.between(answer.begin, answer.lines.size());
    std::vector<Fence> fences = findFences(lines);
    for (Fence& fence : fences) {
        fence.begin += answer.begin;
        fence.end += answer.begin;
        answer.markCode(fence.begin - 1, std::min(fence.end + 1, answer.lines.size()));
    }
    const auto chosen = chooseFence(answer, fences);
    if (!chosen) {
        return std::unexpected(chosen.error());
    }
    if (*chosen) {
        patch.code = joinLines(answer.between((*chosen)->begin, (*chosen)->end));
        patch.answer_line = (*chosen)->begin + 1;
        patch.fenced = true;
        return {};
    }
    if (isUnifiedDiff(lines)) {
        return fault(PatchFaultKind::unified_diff,
                     "This is a unified diff, which is not taken: write SEARCH/REPLACE blocks or the whole code.");
    }
    if (!fences.empty() || (!hasMarkers(lines) && !looksLikeCode(lines))) {
        return fault(PatchFaultKind::no_patch,
                     "The answer has neither SEARCH/REPLACE blocks nor CUDA code in a code fence.");
    }
    patch.code = joinLines(lines);
    patch.answer_line = answer.begin + 1;
    return {};
}

/// The text between <tag> and </tag>, in any case of letters.
std::string_view element(std::string_view prose, std::string_view tag)
{
    const auto find = [&](const std::string& what, std::size_t from) {
        for (std::size_t at = prose.find('<', from); at != std::string_view::npos; at = prose.find('<', at + 1)) {
            if (startsWithIgnoringCase(prose.substr(at), what)) {
                return at;
            }
        }
        return std::string_view::npos;
    };
    const std::size_t open = find(fmt::format("<{}>", tag), 0);
    if (open == std::string_view::npos) {
        return {};
    }
    const std::size_t begin = open + tag.size() + 2;
    const std::size_t end = find(fmt::format("</{}>", tag), begin);
    return end == std::string_view::npos ? std::string_view{} : prose.substr(begin, end - begin);
}

/// The rest of a line "Name: …", however it is emphasised.
std::string_view labelled(std::span<const std::string_view> prose, std::string_view label)
{
    constexpr std::string_view emphasis = "*_#- \t";
    for (std::string_view line : prose) {
        line.remove_prefix(std::min(line.find_first_not_of(emphasis), line.size()));
        if (startsWithIgnoringCase(line, label)) {
            line.remove_prefix(label.size());
            const std::size_t first = line.find_first_not_of(emphasis);
            if (first != std::string_view::npos && line[first] == ':') {
                line.remove_prefix(first + 1);
                line.remove_prefix(std::min(line.find_first_not_of(emphasis), line.size()));
                return line.substr(0, line.find_last_not_of(emphasis) + 1);
            }
        }
    }
    return {};
}

void readNames(const Answer& answer, Patch& patch)
{
    std::vector<std::string_view> prose;
    for (std::size_t i = answer.begin; i < answer.lines.size(); ++i) {
        if (!answer.is_code[i]) {
            prose.push_back(answer.lines[i]);
        }
    }
    const std::string text = joinLines(prose);
    const auto read = [&](std::string_view tag, std::size_t bytes) {
        std::string_view value = trim(element(text, tag));
        value = value.empty() ? labelled(prose, tag) : value;
        while (value.starts_with('\n')) {
            value = trim(value.substr(1));
        }
        while (value.ends_with('\n')) {
            value = trim(value.substr(0, value.size() - 1));
        }
        return std::string(shortened(value, bytes));
    };
    patch.name = read("name", max_name_bytes);
    patch.description = read("description", max_description_bytes);
    for (const std::string_view line : prose) {
        if (const std::size_t at = line.find("cuco: "); at != std::string_view::npos && line.contains('=')) {
            const std::string_view directive = line.substr(at + 6);
            patch.directive = shortened(trim(directive.substr(0, directive.find('`'))), max_name_bytes);
            break;
        }
    }
}

}  // namespace

std::expected<Patch, PatchFault> readPatch(std::string_view text, PatchKind asked)
{
    if (text.size() > max_answer_bytes) {
        return fault(PatchFaultKind::too_large,
                     fmt::format("The answer has {} bytes; at most {} are taken.", text.size(), max_answer_bytes));
    }
    Answer answer{splitLines(text), 0, {}};
    answer.is_code.resize(answer.lines.size());
    const auto begin = skipThinking(answer.lines);
    if (!begin) {
        return std::unexpected(begin.error());
    }
    answer.begin = *begin;
    Patch patch;
    auto edits = readEdits(answer);
    if (!edits) {
        return std::unexpected(edits.error());
    }
    patch.edits = std::move(*edits);
    if (patch.edits.empty()) {
        if (auto read = readCode(answer, patch); !read) {
            return std::unexpected(std::move(read.error()));
        }
    }
    patch.kind = asked == PatchKind::crossover ? asked : patch.edits.empty() ? PatchKind::full : PatchKind::diff;
    readNames(answer, patch);
    return patch;
}

}  // namespace cuco
