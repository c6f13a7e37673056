// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/source/patch_lines.h"

#include <algorithm>

namespace cuco::patch_text {

std::vector<std::uint64_t> keysOf(std::span<const PatchLine> lines, MatchTolerance tolerance)
{
    std::vector<std::uint64_t> keys;
    keys.reserve(lines.size());
    std::size_t before = 0;
    for (const PatchLine& line : lines) {
        std::uint64_t key = tolerance == MatchTolerance::exact             ? line.exact
                            : tolerance == MatchTolerance::trailing_blanks ? line.right
                                                                           : line.bare;
        if (tolerance == MatchTolerance::indentation && !line.isBlank()) {
            key = key << 32 | static_cast<std::uint32_t>(line.indentation - before);
            before = line.indentation;
        } else if (tolerance == MatchTolerance::indentation) {
            key <<= 32;
        }
        keys.push_back(key);
    }
    return keys;
}

namespace {

/// Places of lines that are all shifted alike. The first line that is not blank has no line before it to compare its
/// indentation with; what follows it has.
std::vector<std::size_t> findShifted(std::span<const PatchLine> text, std::span<const PatchLine> wanted)
{
    const auto first = std::ranges::find_if(wanted, [](const PatchLine& line) { return !line.isBlank(); });
    if (first == wanted.end()) {
        return {};
    }
    const auto lead = static_cast<std::size_t>(first - wanted.begin());
    std::vector<std::size_t> blank_lines(text.size() + 1, 0);  // that end before each line
    for (std::size_t i = 0; i < text.size(); ++i) {
        blank_lines[i + 1] = text[i].isBlank() ? blank_lines[i] + 1 : 0;
    }
    std::vector<std::size_t> places;
    const auto take = [&](std::size_t at) {
        if (text[at].bare == first->bare && blank_lines[at] >= lead) {
            places.push_back(at - lead);
        }
    };
    const auto keys = keysOf(text, MatchTolerance::indentation);
    const auto wanted_keys = keysOf(wanted, MatchTolerance::indentation);
    if (lead + 1 == wanted.size()) {
        for (std::size_t i = 0; i < text.size(); ++i) {
            take(i);
        }
    } else {
        for (const std::size_t next : findAll(keys, std::span(wanted_keys).subspan(lead + 1))) {
            if (next > 0) {
                take(next - 1);
            }
        }
    }
    return places;
}

}  // namespace

PatchedLines::PatchedLines(const KernelSource& original)
    : line_end_(lineEndOf(original.text())),
      original_(original.text()),
      ends_with_line_end_(original.text().ends_with('\n'))
{
    for (const std::string_view text : splitLines(original_)) {
        lines_.push_back(lineOf(text));
        lines_.back().original = lines_.size();
    }
    for (const EvolveBlock& block : original.blocks()) {
        blocks_.push_back({block.first_line - 1, block.last_line});
    }
}

std::optional<std::size_t> PatchedLines::blockOf(LineRange range) const
{
    const auto behind = std::ranges::upper_bound(blocks_, range.first, {}, &LineRange::first);
    const auto index = static_cast<std::size_t>(behind - blocks_.begin());
    return index > 0 && blocks_[index - 1].contains(range) ? std::optional(index - 1) : std::nullopt;
}

PatchLine PatchedLines::lineOf(std::string_view text)
{
    PatchLine line;
    line.text = text;
    line.exact = numbers_.of(text);
    line.right = numbers_.of(trimEnd(text));
    line.bare = numbers_.of(trim(text));
    line.indentation = std::min(text.find_first_not_of(blanks), text.size());
    return line;
}

std::vector<PatchLine> PatchedLines::read(std::string_view text)
{
    std::vector<PatchLine> lines;
    for (const std::string_view line : splitLines(text)) {
        lines.push_back(lineOf(line));
    }
    return lines;
}

std::vector<std::size_t> PatchedLines::find(std::span<const PatchLine> wanted, MatchTolerance tolerance) const
{
    if (tolerance == MatchTolerance::indentation) {
        return findShifted(lines_, wanted);
    }
    return findAll(keysOf(lines_, tolerance), keysOf(wanted, tolerance));
}

void PatchedLines::replace(std::size_t block, LineRange range, const std::vector<std::string>& lines,
                           std::size_t written_by)
{
    std::vector<PatchLine> fresh;
    for (const std::string& line : lines) {
        fresh.push_back(lineOf(written_.emplace_back(line)));
        fresh.back().written_by = written_by;
    }
    const auto at = [&](std::size_t index) { return lines_.begin() + static_cast<std::ptrdiff_t>(index); };
    const std::size_t kept = std::min(range.size(), fresh.size());
    std::copy_n(fresh.begin(), kept, at(range.first));
    if (kept < range.size()) {
        lines_.erase(at(range.first + kept), at(range.end));
    } else {
        lines_.insert(at(range.end), fresh.begin() + static_cast<std::ptrdiff_t>(kept), fresh.end());
    }
    const auto moved = [&](std::size_t index) { return index - range.size() + fresh.size(); };
    blocks_[block].end = moved(blocks_[block].end);
    for (std::size_t i = block + 1; i < blocks_.size(); ++i) {
        blocks_[i] = {moved(blocks_[i].first), moved(blocks_[i].end)};
    }
}

std::string PatchedLines::text() const
{
    std::string text;
    for (std::size_t i = 0; i < lines_.size(); ++i) {
        const PatchLine& line = lines_[i];
        text += line.text;
        if (line.original == 0) {
            text += line_end_;
        } else if (i + 1 < lines_.size() || ends_with_line_end_) {
            // An original line keeps its own end, whichever it is.
            const char* end = line.text.data() + line.text.size();
            text += *end == '\r' ? "\r\n" : "\n";
        }
    }
    return text;
}

}  // namespace cuco::patch_text
