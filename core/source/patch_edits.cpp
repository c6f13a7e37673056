// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/source/patch_apply.h"
#include "core/source/patch_lines.h"
#include "core/source/word_diff.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

namespace cuco {

namespace {

using namespace patch_text;

constexpr std::size_t max_fault_lines = 20;
/// Longer evolve blocks are not searched for a similar line, nor lines compared that are longer.
constexpr std::size_t max_similar_lines = 20'000, max_similar_bytes = 400;

/// "line 12", or who wrote the line when the model has not seen it there.
std::string placeOf(const PatchLine& line)
{
    return line.original > 0 ? fmt::format("line {}", line.original)
                             : fmt::format("a line that block {} wrote", line.written_by);
}

std::string blockPlaces(const PatchedLines& source)
{
    std::vector<std::string> places;
    for (const LineRange& block : source.blocks()) {
        // The markers around a block are lines of the original.
        places.push_back(
            fmt::format("{}–{}", source.lines()[block.first - 1].original + 1, source.lines()[block.end].original - 1));
    }
    return fmt::format("{}", fmt::join(places, ", "));
}

/// Applies one SEARCH/REPLACE block after the other.
class EditApplier {
public:
    EditApplier(const KernelSource& original, std::span<const SearchReplace> edits) : source_(original), edits_(edits)
    {
    }

    std::expected<PatchDraft, PatchFault> apply()
    {
        for (number_ = 1; number_ <= edits_.size(); ++number_) {
            if (auto applied = applyOne(edits_[number_ - 1]); !applied) {
                return std::unexpected(std::move(applied.error()));
            }
            if (source_.lines().size() > max_patched_lines) {
                return fault(PatchFaultKind::too_large,
                             fmt::format("The source would have more than {} lines.", max_patched_lines));
            }
        }
        return PatchDraft{source_.text(), std::move(applied_)};
    }

private:
    std::unexpected<PatchFault> fault(PatchFaultKind kind, std::string message,
                                      std::vector<std::size_t> lines = {}) const
    {
        std::erase(lines, std::size_t{0});
        return std::unexpected(
            PatchFault{kind, std::move(message), number_, edits_[number_ - 1].answer_line, std::move(lines)});
    }

    std::expected<void, PatchFault> applyOne(const SearchReplace& edit)
    {
        const auto wanted = source_.read(edit.search);
        const auto replacement = splitLines(edit.replace);
        if (auto checked = checkReplacement(wanted, replacement); !checked) {
            return checked;
        }
        if (isBlank(edit.search)) {
            return fillEmptyBlock(replacement);
        }
        for (const auto tolerance :
             {MatchTolerance::exact, MatchTolerance::trailing_blanks, MatchTolerance::indentation}) {
            const auto places = source_.find(wanted, tolerance);
            std::vector<std::size_t> inside;
            std::ranges::copy_if(places, std::back_inserter(inside), [&](std::size_t place) {
                return source_.blockOf({place, place + wanted.size()}).has_value();
            });
            if (inside.size() > 1) {
                return ambiguous(inside);
            }
            if (inside.size() == 1) {
                return applyAt(inside.front(), wanted, replacement, tolerance);
            }
            if (!places.empty()) {
                return frozen({places.front(), places.front() + wanted.size()});
            }
        }
        return notFound(wanted);
    }

    std::expected<void, PatchFault> checkReplacement(std::span<const PatchLine> wanted,
                                                     std::span<const std::string_view> replacement) const
    {
        // Of a line that SEARCH has too, its place in the source is the better fault.
        std::set<std::string_view> searched;
        for (const PatchLine& line : wanted) {
            if (markerOf(line.text) != MarkerLine::none || isElision(line.text)) {
                searched.insert(trim(line.text));
            }
        }
        for (const std::string_view line : replacement) {
            if (markerOf(line) != MarkerLine::none && !searched.contains(trim(line))) {
                return fault(PatchFaultKind::evolve_markers,
                             fmt::format("REPLACE has the evolve marker {}; markers are frozen.", quoted(line)));
            }
            if (isElision(line) && !searched.contains(trim(line))) {
                return fault(
                    PatchFaultKind::elided_code,
                    fmt::format("In REPLACE, {} stands for code; write the code, or leave it out of SEARCH too.",
                                quoted(line)));
            }
        }
        return {};
    }

    std::expected<void, PatchFault> fillEmptyBlock(std::span<const std::string_view> replacement)
    {
        std::vector<std::size_t> empty;
        for (std::size_t i = 0; i < source_.blocks().size(); ++i) {
            const auto [first, end] = source_.blocks()[i];
            const auto lines = std::span(source_.lines()).subspan(first, end - first);
            if (std::ranges::all_of(lines, &PatchLine::isBlank)) {
                empty.push_back(i);
            }
        }
        if (empty.size() != 1) {
            return fault(PatchFaultKind::empty_search,
                         empty.empty()
                             ? "SEARCH is empty, which says where only when an evolve block is empty. To insert, put "
                               "the line before or after the place into SEARCH, and repeat it in REPLACE."
                             : "SEARCH is empty, and several evolve blocks are.");
        }
        write(empty.front(), source_.blocks()[empty.front()], {replacement.begin(), replacement.end()},
              MatchTolerance::exact);
        return {};
    }

    std::expected<void, PatchFault> applyAt(std::size_t place, const std::vector<PatchLine>& wanted,
                                            std::span<const std::string_view> replacement, MatchTolerance tolerance)
    {
        const LineRange range{place, place + wanted.size()};
        std::vector<std::string> lines(replacement.begin(), replacement.end());
        if (tolerance == MatchTolerance::indentation && !shift(range, wanted, lines)) {
            return notFound(wanted);
        }
        write(*source_.blockOf(range), range, std::move(lines), tolerance);
        return {};
    }

    void write(std::size_t block, LineRange range, std::vector<std::string> lines, MatchTolerance tolerance)
    {
        applied_.push_back({block, range.first + 1, range.size(), lines.size(), tolerance});
        source_.replace(block, range, lines, number_);
    }

    /// Indents `lines` as the source is, against SEARCH. False when blanks and tabs do not agree, or when a line of
    /// REPLACE has less indentation than has to go.
    bool shift(LineRange range, std::span<const PatchLine> wanted, std::vector<std::string>& lines) const
    {
        std::optional<std::string_view> added, removed;
        for (std::size_t i = 0; i < wanted.size(); ++i) {
            const PatchLine& found = source_.lines()[range.first + i];
            const std::string_view here = found.indent(), there = wanted[i].indent();
            if (found.isBlank()) {
                continue;
            }
            if (here.size() >= there.size() ? !here.ends_with(there) : !there.ends_with(here)) {
                return false;
            }
            const auto more = here.substr(0, here.size() - std::min(here.size(), there.size()));
            const auto less = there.substr(0, there.size() - std::min(here.size(), there.size()));
            if (more != added.value_or(more) || less != removed.value_or(less)) {
                return false;
            }
            added = more;
            removed = less;
        }
        for (std::string& line : lines) {
            if (isBlank(line)) {
                continue;
            }
            if (!line.starts_with(*removed)) {
                return false;
            }
            line = std::string(*added) + line.substr(removed->size());
        }
        return true;
    }

    std::unexpected<PatchFault> ambiguous(std::span<const std::size_t> places) const
    {
        std::vector<std::size_t> lines;
        std::vector<std::string> names;
        for (const std::size_t place : places.first(std::min(places.size(), max_fault_lines))) {
            const PatchLine& line = source_.lines()[place];
            names.push_back(placeOf(line));
            if (line.original > 0) {
                lines.push_back(line.original);
            }
        }
        return fault(PatchFaultKind::ambiguous,
                     fmt::format("SEARCH is found {} times, at {}{}; take in lines around it that make it unique.",
                                 places.size(), fmt::join(names, ", "), places.size() > names.size() ? ", …" : ""),
                     std::move(lines));
    }

    std::unexpected<PatchFault> frozen(LineRange range) const
    {
        const auto is_outside = [&](std::size_t line) { return !source_.blockOf({line, line + 1}); };
        std::size_t outside = range.first;
        while (outside + 1 < range.end && !is_outside(outside)) {
            ++outside;
        }
        const PatchLine& line = source_.lines()[outside];
        return fault(PatchFaultKind::frozen_code,
                     fmt::format("SEARCH takes in {}, {}, which is frozen; only lines {} may change.", placeOf(line),
                                 quoted(line.text), blockPlaces(source_)),
                     {line.original});
    }

    std::unexpected<PatchFault> notFound(std::span<const PatchLine> wanted) const
    {
        const auto bareKeys = [](std::span<const PatchLine> lines) {
            std::vector<std::uint64_t> keys;
            std::ranges::transform(lines, std::back_inserter(keys), &PatchLine::bare);
            return keys;
        };
        const auto first = std::ranges::find_if_not(wanted, &PatchLine::isBlank);
        const auto written = wanted.subspan(static_cast<std::size_t>(first - wanted.begin()));
        const auto wanted_keys = bareKeys(written);
        PrefixMatch best;
        LineRange best_block;
        for (const LineRange& block : source_.blocks()) {
            const auto keys = bareKeys(std::span(source_.lines()).subspan(block.first, block.size()));
            if (const PrefixMatch match = longestPrefix(keys, wanted_keys); match.length > best.length) {
                best = {match.at + block.first, match.length};
                best_block = block;
            }
        }
        if (best.length == 0) {
            return nothingAlike(written.front());
        }
        const PatchLine& begin = source_.lines()[best.at];
        if (best.length == written.size()) {
            return fault(PatchFaultKind::not_found,
                         fmt::format("SEARCH is not in the evolve blocks as written. Its text is found from {} on, but "
                                     "blank lines or the indentation differ there, and not alike in all lines.",
                                     placeOf(begin)),
                         {begin.original});
        }
        const std::string_view asked = written[best.length].text;
        if (best.at + best.length >= best_block.end) {
            return fault(PatchFaultKind::frozen_code,
                         fmt::format("SEARCH fits from {} on, but the evolve block ends before its line {}.",
                                     placeOf(begin), quoted(asked)),
                         {begin.original});
        }
        const PatchLine& differs = source_.lines()[best.at + best.length];
        return fault(PatchFaultKind::not_found,
                     fmt::format("SEARCH is not in the evolve blocks. It fits from {} on until {}, which is {} where "
                                 "SEARCH has {}.",
                                 placeOf(begin), placeOf(differs), quoted(differs.text), quoted(asked)),
                     {begin.original, differs.original});
    }

    std::unexpected<PatchFault> nothingAlike(const PatchLine& wanted) const
    {
        const LineWords words = splitWords(shortened(wanted.text, max_similar_bytes));
        const PatchLine* nearest = nullptr;
        double best = 0.3;
        std::size_t compared = 0;
        for (const LineRange& block : source_.blocks()) {
            for (std::size_t i = block.first; i < block.end && compared < max_similar_lines; ++i, ++compared) {
                const PatchLine& line = source_.lines()[i];
                const double alike = similarity(words, splitWords(shortened(line.text, max_similar_bytes)));
                if (alike > best) {
                    best = alike;
                    nearest = &line;
                }
            }
        }
        const std::string what =
            fmt::format("SEARCH is not in the evolve blocks: they have no line {}.", quoted(wanted.text));
        if (!nearest) {
            return fault(PatchFaultKind::not_found, what + " Nothing there is like it.");
        }
        return fault(PatchFaultKind::not_found,
                     fmt::format("{} The nearest is {}, {}.", what, placeOf(*nearest), quoted(nearest->text)),
                     {nearest->original});
    }

    PatchedLines source_;
    std::span<const SearchReplace> edits_;
    std::size_t number_ = 1;
    std::vector<AppliedEdit> applied_;
};

}  // namespace

std::expected<PatchDraft, PatchFault> applyEdits(const KernelSource& original, std::span<const SearchReplace> edits)
{
    if (edits.size() > max_edits) {
        return std::unexpected(PatchFault{
            PatchFaultKind::too_large, fmt::format("The patch has more than {} blocks.", max_edits), 0, 0, {}});
    }
    return EditApplier(original, edits).apply();
}

}  // namespace cuco
