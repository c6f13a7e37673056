// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/shell/fuzzy_match.h"

#include <algorithm>
#include <vector>

namespace cuco::ui {

namespace {

constexpr int at_word_start = 8, after_match = 5, anywhere = 1;
constexpr int impossible = -1'000'000;

}  // namespace

std::optional<int> fuzzyScore(const QString& pattern, const QString& text)
{
    QString wanted = pattern.toLower();
    wanted.remove(QLatin1Char(' '));
    const QString searched = text.toLower();
    const auto length = static_cast<std::size_t>(searched.size());

    // best[i]: the highest score with the pattern so far placed and its last character at text position i.
    std::vector<int> best(length, 0), previous;
    bool first = true;
    for (const QChar character : wanted) {
        previous.swap(best);
        best.assign(length, impossible);
        int reachable = first ? 0 : impossible;  // best of all placements that end before i
        for (std::size_t i = 0; i < length; ++i) {
            const auto at = static_cast<qsizetype>(i);
            if (searched[at] == character) {
                const bool word_start = i == 0 || !searched[at - 1].isLetterOrNumber();
                int score = reachable + (word_start ? at_word_start : anywhere);
                if (!first && i > 0 && previous[i - 1] > impossible) {
                    score = std::max(score, previous[i - 1] + after_match);
                }
                best[i] = reachable <= impossible && score < 0 ? impossible : score;
            }
            if (!first) {
                reachable = std::max(reachable, previous[i]);
            }
        }
        first = false;
    }
    if (first) {
        return 0;
    }
    const auto highest = std::max_element(best.begin(), best.end());
    if (highest == best.end() || *highest < 0) {
        return std::nullopt;
    }
    // Of equally good ones the shorter text is the more likely meant.
    return *highest * 100 - static_cast<int>(std::min<std::size_t>(length, 99));
}

}  // namespace cuco::ui
