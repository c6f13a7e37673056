// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/source/patch.h"

#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

/// What reading and applying patches share: lines, marks and the shapes of code.
namespace cuco::patch_text {

inline constexpr std::string_view blanks = " \t\r\f\v";

std::string_view trim(std::string_view text);
std::string_view trimEnd(std::string_view text);
bool isBlank(std::string_view text);
bool equalIgnoringCase(std::string_view left, std::string_view right);
bool startsWithIgnoringCase(std::string_view text, std::string_view start);

/// Without line ends, of either kind. A text that ends with a line end has no further, empty line.
std::vector<std::string_view> splitLines(std::string_view text);
std::string joinLines(std::span<const std::string_view> lines, std::string_view line_end = "\n");
/// "\r\n" when the first line ends so.
std::string_view lineEndOf(std::string_view text);

/// The line in backquotes, without outer blanks, at most about 100 bytes, cut between characters.
std::string quoted(std::string_view line);
/// At most `bytes` bytes, cut between UTF-8 characters.
std::string_view shortened(std::string_view text, std::size_t bytes);

enum class MarkerLine { none, start, end };
/// An evolve marker as models spell it: other blanks or comment signs before the words do not matter.
MarkerLine markerOf(std::string_view line);

/// A comment like "// ... rest unchanged": it stands for code that was left out.
bool isElision(std::string_view line);
/// Whether lines look like C++ and not like prose: most of them, the first and the last.
bool looksLikeCode(std::span<const std::string_view> lines);

/// A code fence of Markdown, or a <CODE> element.
struct Fence {
    std::string tag;                 ///< language in lower case; a file name's extension
    std::size_t begin = 0, end = 0;  ///< lines of its content, 0-based, `end` excluded
    bool closed = false;
};
std::vector<Fence> findFences(std::span<const std::string_view> lines);
bool isFenceLine(std::string_view line);

/// Equal texts get equal numbers.
class TextNumbers {
public:
    std::uint32_t of(std::string_view text);  ///< a view that outlives this object

private:
    std::unordered_map<std::string_view, std::uint32_t> numbers_;
};

/// Every place where `pattern` begins in `text`, in linear time. An empty pattern is nowhere.
std::vector<std::size_t> findAll(std::span<const std::uint64_t> text, std::span<const std::uint64_t> pattern);

struct PrefixMatch {
    std::size_t at = 0, length = 0;
};
/// The longest beginning of `pattern` that occurs in `text`, the first of them; in linear time.
PrefixMatch longestPrefix(std::span<const std::uint64_t> text, std::span<const std::uint64_t> pattern);

}  // namespace cuco::patch_text
