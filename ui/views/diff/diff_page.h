// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/source/line_diff.h"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace cuco::ui {

enum class PageKind { left, right, unified };

/// One line as an editor shows it.
struct PageLine {
    DiffRowKind kind = DiffRowKind::equal;  ///< on a unified page never `changed`
    bool filler = false;                    ///< stands where only the other side has a line
    bool evolvable = false;                 ///< within an evolve block
    int left_line = 0, right_line = 0;      ///< 1-based; 0: not a line of that side
    std::string_view text;
    std::vector<TextSpan> changes;
};

/// What one editor shows of a diff. Left and right page have as many lines as the diff has rows.
struct DiffPage {
    PageKind kind = PageKind::left;
    std::vector<PageLine> lines;
    std::vector<std::pair<int, int>> hunks;  ///< [first, last] line of each change
    std::vector<std::pair<int, int>> folds;  ///< [first, last] unchanged lines to hide; never line 0
};

/// A line that the verdict is about.
struct DiffFault {
    int line = 0;      ///< 1-based
    std::string text;  ///< what is wrong there, one sentence
};

/// One side of a diff.
struct DiffSide {
    std::string name;  ///< for people
    std::string text;
    std::vector<DiffFault> faults;  ///< none, one, or the two sides of a race
};

/// Of the side's line; nullptr when the verdict is not about it.
const DiffFault* faultAt(const DiffSide& side, int line);

/// Unchanged lines kept in sight around a change or a fault.
inline constexpr int context_lines = 3;

DiffPage pageOf(const LineDiff& diff, const DiffSide& left, const DiffSide& right, PageKind kind);

}  // namespace cuco::ui
