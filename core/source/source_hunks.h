// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/error.h"

#include <string>
#include <string_view>
#include <vector>

namespace cuco {

/// Lines that one text has in place of other lines of another.
struct SourceHunk {
    int old_first = 0, old_lines = 0;  ///< 1-based; without lines, the one that would follow
    int new_first = 0, new_lines = 0;
    std::string first_line;  ///< of the new text, or when it has none of the old one, without white space around it
};

/// The difference of two texts as parts that can be taken back one by one.
class SourceHunks {
public:
    /// Errors: as diffLines.
    static Result<SourceHunks> between(std::string_view old_text, std::string_view new_text);

    const std::vector<SourceHunk>& hunks() const { return hunks_; }
    /// The new text with the old lines in place of hunks `first` to `last`, counted from 0.
    std::string without(std::size_t first, std::size_t last) const;

private:
    std::vector<std::string> old_lines_, new_lines_;  ///< with their line ends
    std::vector<SourceHunk> hunks_;
};

}  // namespace cuco
