// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/source/patch_apply.h"
#include "core/source/patch_frozen.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <unordered_set>

namespace cuco {

namespace {

using namespace patch_text;

std::size_t lineAt(std::string_view text, std::size_t offset)
{
    return 1 + static_cast<std::size_t>(std::ranges::count(text.substr(0, offset), '\n'));
}

std::string_view lineAround(std::string_view text, std::size_t offset)
{
    offset = std::min(offset, text.size());
    const std::size_t before = offset == 0 ? std::string_view::npos : text.rfind('\n', offset - 1);
    const std::size_t begin = before == std::string_view::npos ? 0 : before + 1;
    return text.substr(begin, std::min(text.find('\n', begin), text.size()) - begin);
}

/// Fits a rewrite into the evolve blocks of the original.
class Rewriter {
public:
    Rewriter(const KernelSource& original, const Patch& patch)
        : original_(original), patch_(patch), code_(patch.code), frozen_(frozenParts(original))
    {
    }

    std::expected<PatchDraft, PatchFault> apply()
    {
        std::vector<std::pair<std::size_t, std::size_t>> markers;  // the byte ranges of marker lines
        bool starts = true;
        std::size_t begin = 0;
        for (const std::string_view line : splitLines(code_)) {
            const std::size_t end = std::min(code_.find('\n', begin), code_.size() - 1) + 1;
            if (const MarkerLine marker = markerOf(line); marker != MarkerLine::none) {
                if ((marker == MarkerLine::start) != starts) {
                    return fault(PatchFaultKind::evolve_markers,
                                 fmt::format("EVOLVE-BLOCK-START and EVOLVE-BLOCK-END do not take turns in the answer, "
                                             "from its line {} on.",
                                             answerLine(begin)),
                                 begin);
                }
                starts = !starts;
                markers.emplace_back(begin, end);
            }
            begin = end;
        }
        if (!starts) {
            return fault(PatchFaultKind::cut_off, "The answer's last EVOLVE-BLOCK-START has no EVOLVE-BLOCK-END.",
                         markers.back().first);
        }
        auto insides = markers.empty() ? insideWithoutMarkers() : insidesBetween(markers);
        return insides ? assemble(*insides) : std::unexpected(std::move(insides.error()));
    }

private:
    using Insides = std::vector<std::string_view>;

    std::size_t answerLine(std::size_t offset) const { return patch_.answer_line + lineAt(code_, offset) - 1; }

    std::unexpected<PatchFault> fault(PatchFaultKind kind, std::string message, std::size_t offset,
                                      std::vector<std::size_t> lines = {}) const
    {
        return std::unexpected(PatchFault{kind, std::move(message), 0, answerLine(offset), std::move(lines)});
    }

    std::unexpected<PatchFault> frozenChanged(std::string_view frozen_line, std::string message, std::size_t at) const
    {
        const auto offset = static_cast<std::size_t>(frozen_line.data() - original_.text().data());
        return fault(PatchFaultKind::frozen_code, std::move(message), at, {lineAt(original_.text(), offset)});
    }

    std::expected<Insides, PatchFault> insidesBetween(
        std::span<const std::pair<std::size_t, std::size_t>> markers) const
    {
        const std::size_t blocks = markers.size() / 2;
        if (blocks != original_.blocks().size()) {
            return fault(
                PatchFaultKind::evolve_markers,
                fmt::format("The answer has {} evolve blocks, the source {}.", blocks, original_.blocks().size()),
                markers.front().first);
        }
        Insides insides;
        for (std::size_t i = 0; i <= blocks; ++i) {
            const std::size_t begin = i == 0 ? 0 : markers[2 * i - 1].second;
            const std::size_t end = i == blocks ? code_.size() : markers[2 * i].first;
            if (auto same = checkFrozen(i, begin, end); !same) {
                return std::unexpected(std::move(same.error()));
            }
            if (i < blocks) {
                const std::size_t inside = markers[2 * i].second;
                insides.push_back(code_.substr(inside, markers[2 * i + 1].first - inside));
            }
        }
        return insides;
    }

    /// Whether the code in [begin, end) is frozen part `index`, white space left out, or left out altogether.
    std::expected<void, PatchFault> checkFrozen(std::size_t index, std::size_t begin, std::size_t end) const
    {
        const std::string_view copy = code_.substr(begin, end - begin), frozen = frozen_[index].text;
        const Agreement at = agreement(frozen, copy);
        if (at.left == frozen.size() && at.right == copy.size()) {
            return {};
        }
        const bool is_first = index == 0, is_last = index + 1 == frozen_.size();
        if (!patch_.fenced && (is_first || is_last)) {
            const auto prose = is_first ? withoutEnd(copy, frozen) : withoutStart(copy, frozen);
            const auto changed = changedCopy(copy, frozen, original_);
            if (prose || !changed) {
                return {};
            }
            return frozenChanged(*changed, differs(*changed), begin);
        }
        if (!hasCode(copy)) {
            return {};
        }
        const std::string_view here = lineAround(frozen, at.left), there = lineAround(copy, at.right);
        return frozenChanged(
            here,
            fmt::format("Code outside the evolve blocks is frozen: line {} is {}, but the answer has {} in its line "
                        "{}. Leave that code out or repeat it as it is.",
                        lineAt(original_.text(), frozen_[index].offset + at.left),
                        isBlank(here) ? "the end of it" : quoted(here), isBlank(there) ? "nothing" : quoted(there),
                        answerLine(begin + at.right)),
            begin + at.right);
    }

    std::string differs(std::string_view frozen_line) const
    {
        const auto offset = static_cast<std::size_t>(frozen_line.data() - original_.text().data());
        return fmt::format(
            "The answer repeats code outside the evolve blocks with changes; that code is frozen, from "
            "line {} on: {}. Leave it out or repeat it as it is.",
            lineAt(original_.text(), offset), quoted(lineAround(frozen_line, 0)));
    }

    /// Without markers the code is the block's inside, or a whole source that has lost them.
    std::expected<Insides, PatchFault> insideWithoutMarkers() const
    {
        if (original_.blocks().size() > 1) {
            return fault(PatchFaultKind::evolve_markers,
                         fmt::format("The source has {} evolve blocks: keep their marker lines, so that it is clear "
                                     "which code goes where.",
                                     original_.blocks().size()),
                         0);
        }
        std::string_view inside = code_;
        const std::string_view head = frozen_.front().text, tail = frozen_.back().text;
        const auto behind_head = withoutStart(inside, head), before_tail = withoutEnd(inside, tail);
        for (const auto& [rest, part] : {std::pair(behind_head, head), std::pair(before_tail, tail)}) {
            if (const auto changed = rest ? std::nullopt : changedCopy(inside, part, original_)) {
                return frozenChanged(*changed, differs(*changed), 0);
            }
        }
        // One brace may end the inside as well as the source: only both parts, or a long one, tell a whole source.
        const bool is_whole = behind_head && before_tail && hasCode(head) && hasCode(tail);
        const auto is_long = [](std::string_view part) { return squeezedSize(part) >= 40; };
        if (behind_head && (is_whole || is_long(head))) {
            inside = *behind_head;
        }
        if (before_tail && (is_whole || is_long(tail))) {
            inside = withoutEnd(inside, tail).value_or(inside);
        }
        return Insides{inside.size() < code_.size() ? withoutBlankEnds(inside) : inside};
    }

    std::expected<PatchDraft, PatchFault> assemble(const Insides& insides) const
    {
        PatchDraft draft;
        const auto segments = original_.frozenSegments();
        const std::string_view line_end = lineEndOf(original_.text());
        bool has_code = false;
        std::size_t line = 1;
        for (std::size_t i = 0; i < insides.size(); ++i) {
            const auto lines = splitLines(insides[i]);
            const auto before = splitLines(original_.blockText(i));
            if (auto whole = checkElisions(lines, before); !whole) {
                return std::unexpected(std::move(whole.error()));
            }
            has_code = has_code || !isBlank(insides[i]);
            draft.text += segments[i];
            line += lineAt(segments[i], segments[i].size()) - 1;
            // Lines that are the same keep their bytes, whatever their ends are.
            if (lines == before) {
                draft.text += original_.blockText(i);
            } else {
                draft.text += joinLines(lines, line_end);
                draft.edits.push_back({i, line, before.size(), lines.size(), MatchTolerance::exact});
            }
            line += lines.size();
        }
        draft.text += segments.back();
        if (!has_code) {
            return fault(PatchFaultKind::no_patch, "The answer has no code for the evolve blocks.", 0);
        }
        return draft;
    }

    std::expected<void, PatchFault> checkElisions(std::span<const std::string_view> lines,
                                                  std::span<const std::string_view> before) const
    {
        std::unordered_set<std::string_view> known;  // made for the first one that looks like an elision
        const auto isKnown = [&](std::string_view line) {
            if (known.empty()) {
                std::ranges::transform(before, std::inserter(known, known.end()), trim);
            }
            return known.contains(trim(line));
        };
        for (const std::string_view line : lines) {
            if (isElision(line) && !isKnown(line)) {
                return fault(PatchFaultKind::elided_code,
                             fmt::format("{} stands for code; write the evolve block whole, or answer with "
                                         "SEARCH/REPLACE blocks.",
                                         quoted(line)),
                             static_cast<std::size_t>(line.data() - code_.data()));
            }
        }
        return {};
    }

    const KernelSource& original_;
    const Patch& patch_;
    std::string_view code_;
    std::vector<FrozenPart> frozen_;
};

}  // namespace

std::expected<PatchDraft, PatchFault> applyRewrite(const KernelSource& original, const Patch& patch)
{
    if (isBlank(patch.code)) {
        return std::unexpected(
            PatchFault{PatchFaultKind::no_patch, "The answer has no code.", 0, patch.answer_line, {}});
    }
    if (std::ranges::count(patch.code, '\n') > static_cast<std::ptrdiff_t>(max_patched_lines)) {
        return std::unexpected(PatchFault{PatchFaultKind::too_large,
                                          fmt::format("The answer has more than {} lines of code.", max_patched_lines),
                                          0,
                                          patch.answer_line,
                                          {}});
    }
    return Rewriter(original, patch).apply();
}

}  // namespace cuco
