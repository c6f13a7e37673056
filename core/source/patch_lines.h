// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/source/patch_text.h"

#include <deque>

namespace cuco::patch_text {

/// A line as it is compared.
struct PatchLine {
    std::string_view text;  ///< without line end
    std::uint32_t exact = 0, right = 0,
                  bare = 0;       ///< numbers of the text whole, without trailing, without outer blanks
    std::size_t indentation = 0;  ///< bytes
    std::size_t original = 0;     ///< 1-based line of the original; 0 for a line that a patch wrote
    std::size_t written_by = 0;   ///< 1-based block that wrote it

    bool isBlank() const { return indentation == text.size(); }
    std::string_view indent() const { return text.substr(0, indentation); }
};

/// Lines [first, end), 0-based.
struct LineRange {
    std::size_t first = 0, end = 0;
    std::size_t size() const { return end - first; }
    bool contains(LineRange other) const { return first <= other.first && other.end <= end; }
};

/// A source while edits are applied to it. What edits wrote is kept here, so that all lines are views.
class PatchedLines {
public:
    explicit PatchedLines(const KernelSource& original);

    const std::vector<PatchLine>& lines() const { return lines_; }
    const std::vector<LineRange>& blocks() const { return blocks_; }
    /// The evolve block that holds all of the range.
    std::optional<std::size_t> blockOf(LineRange range) const;

    /// `text` as lines to look for; it must outlive this object.
    std::vector<PatchLine> read(std::string_view text);
    /// Every place of `wanted`, in linear time.
    std::vector<std::size_t> find(std::span<const PatchLine> wanted, MatchTolerance tolerance) const;
    /// Puts lines in the place of a range inside evolve block `block`.
    void replace(std::size_t block, LineRange range, const std::vector<std::string>& lines, std::size_t written_by);
    std::string text() const;

private:
    PatchLine lineOf(std::string_view text);

    std::vector<PatchLine> lines_;
    std::vector<LineRange> blocks_;
    std::string_view line_end_, original_;
    bool ends_with_line_end_ = false;
    TextNumbers numbers_;
    std::deque<std::string> written_;
};

/// Lines by the numbers that a tolerance compares; `indentation` says how much deeper than the line before.
std::vector<std::uint64_t> keysOf(std::span<const PatchLine> lines, MatchTolerance tolerance);

}  // namespace cuco::patch_text
