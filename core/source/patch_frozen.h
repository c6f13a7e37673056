// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/source/patch_text.h"

/// A model's copy of frozen code: white space in it does not matter, everything else does.
namespace cuco::patch_text {

/// Frozen code between two blocks, without their marker lines, and where it stands in the source.
struct FrozenPart {
    std::string_view text;
    std::size_t offset = 0;
};
std::vector<FrozenPart> frozenParts(const KernelSource& source);

/// How far two texts agree when white space is left out.
struct Agreement {
    std::size_t left = 0, right = 0;  ///< the first bytes that differ, or the sizes
};
Agreement agreement(std::string_view left, std::string_view right);

/// What is left of `text` behind `start`, white space left out; nothing when it does not begin so.
std::optional<std::string_view> withoutStart(std::string_view text, std::string_view start);
/// What is left of `text` before `end`.
std::optional<std::string_view> withoutEnd(std::string_view text, std::string_view end);
/// Without lines at either end that are blank.
std::string_view withoutBlankEnds(std::string_view text);

/// Anything but comments and white space.
bool hasCode(std::string_view text);
/// Bytes that are no white space.
std::size_t squeezedSize(std::string_view text);

/// A line of `frozen` that `text` lacks although it has most of the others: then `text` is a copy of frozen code that
/// was changed, not code beside it. All of `frozen` when `text` has every line, in another order or with more between.
/// Short lines and those that evolve blocks of `source` have too say nothing.
std::optional<std::string_view> changedCopy(std::string_view text, std::string_view frozen, const KernelSource& source);

}  // namespace cuco::patch_text
