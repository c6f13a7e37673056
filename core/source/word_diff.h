// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/source/line_diff.h"

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace cuco {

/// A line cut into words, runs of white space and single other bytes.
struct LineWords {
    struct Word {
        int begin = 0, end = 0;
        bool blank = false;
    };
    std::string_view text;
    std::vector<Word> words;
    std::vector<std::size_t> hashes;  ///< of the words that are not blank, sorted

    std::string_view at(std::size_t index) const
    {
        return text.substr(static_cast<std::size_t>(words[index].begin),
                           static_cast<std::size_t>(words[index].end - words[index].begin));
    }
};

LineWords splitWords(std::string_view line);

/// Share of words that both lines have, in any order: 0 … 1.
double similarity(const LineWords& left, const LineWords& right);

struct WordChanges {
    std::vector<TextSpan> left, right;
};

/// What is left of both lines after their longest common subsequence of words. `budget` is the number of table
/// cells that may still be computed, and is drawn down; without it all between the common ends counts as changed.
WordChanges changedWords(const LineWords& left, const LineWords& right, bool ignore_white_space, std::int64_t& budget);

}  // namespace cuco
