// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/source/word_diff.h"

#include <algorithm>
#include <functional>

namespace cuco {

namespace {

/// A line with more words is generated text, where words help nobody.
constexpr std::size_t max_words = 2'000;
constexpr std::int64_t max_cells_per_line = 256 * 256;

enum class ByteKind { word, blank, other };

ByteKind kindOf(char c)
{
    const bool is_word = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
                         (c & 0x80) != 0;  // bytes of one UTF-8 character stay together
    const bool is_blank = c == ' ' || (c >= '\t' && c <= '\r');
    return is_word ? ByteKind::word : is_blank ? ByteKind::blank : ByteKind::other;
}

/// Indices of the words that take part in the comparison.
std::vector<std::size_t> comparedWords(const LineWords& line, bool ignore_white_space)
{
    std::vector<std::size_t> indices;
    for (std::size_t i = 0; i < line.words.size(); ++i) {
        if (!ignore_white_space || !line.words[i].blank) {
            indices.push_back(i);
        }
    }
    return indices;
}

/// The words that `changed` marks, neighbours joined.
std::vector<TextSpan> spansOf(const LineWords& line, const std::vector<bool>& changed)
{
    std::vector<TextSpan> spans;
    for (std::size_t i = 0; i < changed.size(); ++i) {
        if (!changed[i]) {
            continue;
        }
        const TextSpan span{line.words[i].begin, line.words[i].end};
        if (!spans.empty() && spans.back().end == span.begin) {
            spans.back().end = span.end;
        } else {
            spans.push_back(span);
        }
    }
    return spans;
}

/// Clears the marks of a longest common subsequence of the words that `left` and `right` index.
class Subsequence {
public:
    Subsequence(const LineWords& left_line, const LineWords& right_line, std::vector<std::size_t> left,
                std::vector<std::size_t> right)
        : left_line_(left_line),
          right_line_(right_line),
          left_(std::move(left)),
          right_(std::move(right)),
          width_(right_.size() + 1),
          lengths_((left_.size() + 1) * width_)
    {
    }

    void clearMarks(std::vector<bool>& left_changed, std::vector<bool>& right_changed)
    {
        for (std::size_t i = left_.size(); i-- > 0;) {
            for (std::size_t j = right_.size(); j-- > 0;) {
                length(i, j) = equal(i, j) ? length(i + 1, j + 1) + 1 : std::max(length(i + 1, j), length(i, j + 1));
            }
        }
        for (std::size_t i = 0, j = 0; i < left_.size() && j < right_.size();) {
            if (equal(i, j)) {
                left_changed[left_[i++]] = false;
                right_changed[right_[j++]] = false;
            } else {
                ++(length(i + 1, j) >= length(i, j + 1) ? i : j);
            }
        }
    }

private:
    bool equal(std::size_t i, std::size_t j) const { return left_line_.at(left_[i]) == right_line_.at(right_[j]); }
    /// Of the longest common subsequence from these words on.
    std::uint32_t& length(std::size_t i, std::size_t j) { return lengths_[i * width_ + j]; }

    const LineWords& left_line_;
    const LineWords& right_line_;
    std::vector<std::size_t> left_, right_;
    std::size_t width_;
    std::vector<std::uint32_t> lengths_;
};

}  // namespace

LineWords splitWords(std::string_view line)
{
    LineWords split{line, {}, {}};
    for (std::size_t begin = 0; begin < line.size();) {
        const ByteKind kind = kindOf(line[begin]);
        std::size_t end = begin + 1;
        if (split.words.size() >= max_words) {
            end = line.size();
        }
        while (kind != ByteKind::other && end < line.size() && kindOf(line[end]) == kind) {
            ++end;
        }
        split.words.push_back({static_cast<int>(begin), static_cast<int>(end), kind == ByteKind::blank});
        if (kind != ByteKind::blank) {
            split.hashes.push_back(std::hash<std::string_view>()(line.substr(begin, end - begin)));
        }
        begin = end;
    }
    std::ranges::sort(split.hashes);
    return split;
}

double similarity(const LineWords& left, const LineWords& right)
{
    if (left.hashes.empty() && right.hashes.empty()) {
        return 1;
    }
    std::size_t common = 0;
    for (auto a = left.hashes.begin(), b = right.hashes.begin(); a != left.hashes.end() && b != right.hashes.end();) {
        if (*a == *b) {
            ++common, ++a, ++b;
        } else {
            ++(*a < *b ? a : b);
        }
    }
    return 2.0 * static_cast<double>(common) / static_cast<double>(left.hashes.size() + right.hashes.size());
}

WordChanges changedWords(const LineWords& left, const LineWords& right, bool ignore_white_space, std::int64_t& budget)
{
    std::vector<std::size_t> left_words = comparedWords(left, ignore_white_space);
    std::vector<std::size_t> right_words = comparedWords(right, ignore_white_space);
    const auto equal = [&](std::size_t a, std::size_t b) { return left.at(a) == right.at(b); };
    const auto trim = [&](auto a, auto a_end, auto b, auto b_end) {
        return std::mismatch(a, a_end, b, b_end, equal).first - a;
    };
    const auto prefix = trim(left_words.begin(), left_words.end(), right_words.begin(), right_words.end());
    left_words.erase(left_words.begin(), left_words.begin() + prefix);
    right_words.erase(right_words.begin(), right_words.begin() + prefix);
    const auto suffix = trim(left_words.rbegin(), left_words.rend(), right_words.rbegin(), right_words.rend());
    left_words.resize(left_words.size() - static_cast<std::size_t>(suffix));
    right_words.resize(right_words.size() - static_cast<std::size_t>(suffix));

    std::vector<bool> left_changed(left.words.size()), right_changed(right.words.size());
    for (const std::size_t word : left_words) {
        left_changed[word] = true;
    }
    for (const std::size_t word : right_words) {
        right_changed[word] = true;
    }
    const auto cells = static_cast<std::int64_t>(left_words.size() * right_words.size());
    if (cells > 0 && cells <= std::min(max_cells_per_line, budget)) {
        budget -= cells;
        Subsequence(left, right, std::move(left_words), std::move(right_words)).clearMarks(left_changed, right_changed);
    }
    return {spansOf(left, left_changed), spansOf(right, right_changed)};
}

}  // namespace cuco
