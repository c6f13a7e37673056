// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/source/line_diff.h"
#include "core/source/patch_text.h"

#include <fmt/format.h>

#include <algorithm>

namespace cuco {

namespace {

using namespace patch_text;

constexpr std::size_t max_mark_length = 200;

/// Lines of the original [left, left_end) become lines of the changed source [right, right_end); all 0-based.
struct Change {
    std::size_t left = 0, left_end = 0, right = 0, right_end = 0;
};

/// The changes in one block, whose first line is `begin` of the original and `changed_begin` of the changed source.
std::vector<Change> changesOf(const LineDiff& diff, std::size_t begin, std::size_t changed_begin)
{
    std::vector<Change> changes;
    std::size_t left = begin, right = changed_begin;
    bool in_change = false;
    for (const DiffRow& row : diff.rows) {
        const std::size_t next_left = left + (row.left_line > 0 ? 1 : 0);
        const std::size_t next_right = right + (row.right_line > 0 ? 1 : 0);
        if (row.kind == DiffRowKind::equal) {
            in_change = false;
        } else if (in_change) {
            changes.back().left_end = next_left;
            changes.back().right_end = next_right;
        } else {
            changes.push_back({left, next_left, right, next_right});
            in_change = true;
        }
        left = next_left;
        right = next_right;
    }
    return changes;
}

/// Takes in up to `lines` equal lines around each change, as far as its block goes, and joins those that meet.
std::vector<Change> withContext(std::span<const Change> changes, const EvolveBlock& block, std::size_t lines)
{
    std::vector<Change> wide;
    for (Change change : changes) {
        const std::size_t before = std::min(lines, change.left - (block.first_line - 1));
        const std::size_t behind = std::min(lines, block.last_line - change.left_end);
        change = {change.left - before, change.left_end + behind, change.right - before, change.right_end + behind};
        if (!wide.empty() && change.left <= wide.back().left_end) {
            wide.back().left_end = change.left_end;
            wide.back().right_end = change.right_end;
        } else {
            wide.push_back(change);
        }
    }
    return wide;
}

/// The changes of each block; nothing when a block cannot be compared.
std::optional<std::vector<std::vector<Change>>> changesOf(const KernelSource& original, const KernelSource& changed)
{
    std::vector<std::vector<Change>> changes;
    for (std::size_t i = 0; i < original.blocks().size(); ++i) {
        changes.emplace_back();
        if (original.blockText(i) == changed.blockText(i)) {
            continue;
        }
        const auto diff = diffLines(original.blockText(i), changed.blockText(i));
        if (!diff) {
            return {};
        }
        changes.back() = changesOf(*diff, original.blocks()[i].first_line - 1, changed.blocks()[i].first_line - 1);
    }
    return changes;
}

/// Longer than any run of signs that begins a line of the code, so that no such line is taken for a mark.
std::size_t markLength(std::span<const std::string_view> lines)
{
    std::size_t length = 7;
    for (const std::string_view line : lines) {
        const std::string_view text = trim(line);
        if (!text.empty() && std::string_view("<=>").contains(text[0])) {
            length = std::max(length, std::min(text.find_first_not_of(text[0]), text.size()) + 1);
        }
    }
    return length;
}

}  // namespace

std::optional<std::string> writeSearchReplace(const KernelSource& original, const KernelSource& changed)
{
    if (!compareFrozen(original, changed) || original.text() == changed.text()) {
        return {};
    }
    const auto left = splitLines(original.text()), right = splitLines(changed.text());
    const std::size_t length = std::max(markLength(left), markLength(right));
    const auto changes = changesOf(original, changed);
    if (!changes || length > max_mark_length) {
        return {};
    }
    const auto side = [](std::span<const std::string_view> lines, std::size_t begin, std::size_t end) {
        return joinLines(lines.subspan(begin, end - begin));
    };
    for (const std::size_t context : {std::size_t{3}, std::size_t{10}, left.size()}) {
        std::string answer;
        for (std::size_t i = 0; i < changes->size(); ++i) {
            for (const Change& change : withContext((*changes)[i], original.blocks()[i], context)) {
                answer += fmt::format("{:<<{}} SEARCH\n{}{:=<{}}\n{}{:><{}} REPLACE\n", "", length,
                                      side(left, change.left, change.left_end), "", length,
                                      side(right, change.right, change.right_end), "", length);
            }
        }
        // Whether it is read and applied as meant is tried, not proved: a SEARCH may be found twice.
        const auto patch = readPatch(answer, PatchKind::diff);
        const auto patched = patch ? applyPatch(original, *patch) : std::unexpected(patch.error());
        if (patched && patched->source.text() == changed.text()) {
            return answer;
        }
    }
    return {};
}

}  // namespace cuco
