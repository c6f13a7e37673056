// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/error.h"

#include <string_view>
#include <utility>
#include <vector>

namespace cuco {

enum class DiffRowKind { equal, changed, removed, added };

/// Byte range inside one line.
struct TextSpan {
    int begin = 0, end = 0;
    bool operator==(const TextSpan&) const = default;
};

/// One row of a side-by-side view. A line number is 1-based, 0 where that side has no line.
struct DiffRow {
    DiffRowKind kind = DiffRowKind::equal;
    int left_line = 0, right_line = 0;
    std::string_view left, right;  ///< without line end; views into the inputs
    /// Intra-line differences of a `changed` row; none when only the line ends differ.
    std::vector<TextSpan> left_changes, right_changes;
};

struct DiffOptions {
    bool ignore_white_space = false;
};

struct LineDiff {
    std::vector<DiffRow> rows;
    std::vector<std::pair<int, int>> hunks;  ///< [first row, last row] of each run of non-equal rows
    int added = 0, removed = 0;              ///< lines
};

/// Line diff by libgit2 (patience), words within paired lines by our own LCS over tokens.
/// The result views into both texts, which must outlive it. Errors: a text of more than 64 MiB.
Result<LineDiff> diffLines(std::string_view left, std::string_view right, DiffOptions options = {});

/// The same as a unified diff with three lines of context; empty when the texts are equal.
Result<std::string> unifiedDiff(std::string_view left, std::string_view right, std::string_view left_name,
                                std::string_view right_name);

}  // namespace cuco
