// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/source/source_hunks.h"

#include "core/source/line_diff.h"

#include <algorithm>

namespace cuco {

namespace {

std::vector<std::string> linesOf(std::string_view text)
{
    std::vector<std::string> lines;
    while (!text.empty()) {
        const auto end = text.find('\n');
        const auto length = end == text.npos ? text.size() : end + 1;
        lines.emplace_back(text.substr(0, length));
        text.remove_prefix(length);
    }
    return lines;
}

std::string trimmed(std::string_view line)
{
    const auto begin = line.find_first_not_of(" \t\r\n");
    if (begin == line.npos)
        return {};
    return std::string(line.substr(begin, line.find_last_not_of(" \t\r\n") - begin + 1));
}

/// The first line with something in it.
std::string firstOf(const std::vector<std::string>& lines, int first, int count)
{
    for (int i = 0; i < count; ++i)
        if (auto text = trimmed(lines.at(static_cast<std::size_t>(first - 1 + i))); !text.empty())
            return text;
    return {};
}

}  // namespace

Result<SourceHunks> SourceHunks::between(std::string_view old_text, std::string_view new_text)
{
    const auto diff = diffLines(old_text, new_text);
    if (!diff)
        return std::unexpected(diff.error());
    SourceHunks made;
    made.old_lines_ = linesOf(old_text);
    made.new_lines_ = linesOf(new_text);
    int next_old = 1, next_new = 1;
    std::size_t row = 0;
    const auto advanceTo = [&](int end, SourceHunk* hunk) {
        for (; row < static_cast<std::size_t>(end); ++row) {
            const int old_lines = diff->rows[row].left_line > 0 ? 1 : 0,
                      new_lines = diff->rows[row].right_line > 0 ? 1 : 0;
            next_old += old_lines;
            next_new += new_lines;
            if (hunk) {
                hunk->old_lines += old_lines;
                hunk->new_lines += new_lines;
            }
        }
    };
    for (const auto& [first_row, last_row] : diff->hunks) {
        advanceTo(first_row, nullptr);
        SourceHunk hunk;
        hunk.old_first = next_old;
        hunk.new_first = next_new;
        advanceTo(last_row + 1, &hunk);
        hunk.first_line = firstOf(made.new_lines_, hunk.new_first, hunk.new_lines);
        if (hunk.first_line.empty())
            hunk.first_line = firstOf(made.old_lines_, hunk.old_first, hunk.old_lines);
        made.hunks_.push_back(std::move(hunk));
    }
    return made;
}

std::string SourceHunks::without(std::size_t first, std::size_t last) const
{
    std::string text;
    const auto add = [&](const std::vector<std::string>& lines, int from, int count) {
        for (int i = 0; i < count; ++i) {
            if (!text.empty() && !text.ends_with('\n'))
                text += '\n';  // what was the last line of a text without a line end
            text += lines.at(static_cast<std::size_t>(from - 1 + i));
        }
    };
    int next = 1;
    for (std::size_t i = first; i <= last && i < hunks_.size(); ++i) {
        const SourceHunk& hunk = hunks_[i];
        add(new_lines_, next, hunk.new_first - next);
        add(old_lines_, hunk.old_first, hunk.old_lines);
        next = hunk.new_first + hunk.new_lines;
    }
    add(new_lines_, next, static_cast<int>(new_lines_.size()) + 1 - next);
    return text;
}

}  // namespace cuco
