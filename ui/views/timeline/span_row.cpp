// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/timeline/span_row.h"

#include <algorithm>
#include <cmath>

namespace cuco::ui {

namespace {

constexpr std::size_t block_size = 16;

std::int64_t lengthOf(const Span& span)
{
    return span.end_ns - span.begin_ns;
}

}  // namespace

std::size_t SpanRow::longer(std::size_t a, std::size_t b) const
{
    return lengthOf(spans_[b]) > lengthOf(spans_[a]) ? b : a;
}

void SpanRow::finish()
{
    longest_of_block_.clear();
    std::size_t below = spans_.size();
    while (below > block_size) {
        const std::size_t blocks = (below + block_size - 1) / block_size;
        std::vector<std::uint32_t> level(blocks);
        const auto* const previous = longest_of_block_.empty() ? nullptr : &longest_of_block_.back();
        for (std::size_t block = 0; block < blocks; ++block) {
            const auto spanOf = [&](std::size_t i) { return previous ? (*previous)[i] : i; };
            std::size_t best = spanOf(block * block_size);
            const std::size_t end = std::min(below, (block + 1) * block_size);
            for (std::size_t i = block * block_size + 1; i < end; ++i)
                best = longer(best, spanOf(i));
            level[block] = static_cast<std::uint32_t>(best);
        }
        longest_of_block_.push_back(std::move(level));
        below = blocks;
    }
}

std::size_t SpanRow::firstEndingAfter(double ns) const
{
    const auto found =
        std::ranges::partition_point(spans_, [&](const Span& s) { return static_cast<double>(s.end_ns) <= ns; });
    return static_cast<std::size_t>(found - spans_.begin());
}

std::size_t SpanRow::firstBeginningAt(double ns, std::size_t from) const
{
    const auto before = [&](const Span& s) { return static_cast<double>(s.begin_ns) < ns; };
    std::size_t low = from, step = 1;
    while (low + step < spans_.size() && before(spans_[low + step])) {
        low += step;
        step *= 2;
    }
    const auto first = spans_.begin() + static_cast<std::ptrdiff_t>(std::min(low, spans_.size()));
    const auto last = spans_.begin() + static_cast<std::ptrdiff_t>(std::min(low + step, spans_.size()));
    return static_cast<std::size_t>(std::partition_point(first, last, before) - spans_.begin());
}

std::size_t SpanRow::longest(std::size_t first, std::size_t last) const
{
    std::size_t best = first;
    std::size_t i = first;
    while (i < last) {
        // The largest whole block that begins here and fits.
        std::size_t span = 1, level = 0;
        while (level < longest_of_block_.size() && i % (span * block_size) == 0 && i + span * block_size <= last) {
            span *= block_size;
            ++level;
        }
        best = longer(best, level == 0 ? i : longest_of_block_[level - 1][i / span]);
        i += span;
    }
    return best;
}

std::optional<std::size_t> SpanRow::at(double ns) const
{
    const std::size_t index = firstEndingAfter(ns);
    if (index < spans_.size() && static_cast<double>(spans_[index].begin_ns) <= ns)
        return index;
    return std::nullopt;
}

std::vector<PaintedRun> layOut(const SpanRow& row, TimeRange range, int width)
{
    std::vector<PaintedRun> runs;
    if (width <= 0 || range.length() <= 0)
        return runs;
    const double pixels_per_ns = width / range.length();
    const auto xOf = [&](std::int64_t ns) { return (static_cast<double>(ns) - range.begin_ns) * pixels_per_ns; };
    const auto narrow = [&](const Span& s) { return static_cast<double>(lengthOf(s)) * pixels_per_ns < 1; };

    std::size_t i = row.firstEndingAfter(range.begin_ns);
    while (i < row.size() && static_cast<double>(row[i].begin_ns) < range.end_ns) {
        const Span& span = row[i];
        if (!narrow(span)) {
            const int left = static_cast<int>(std::lround(std::max(xOf(span.begin_ns), 0.0)));
            const int right = static_cast<int>(std::lround(std::min(xOf(span.end_ns), static_cast<double>(width))));
            runs.push_back({left, std::max(right - left, 1), span.kind, false, i});
            ++i;
            continue;
        }
        const int x = std::clamp(static_cast<int>(std::floor(xOf(span.begin_ns))), 0, width - 1);
        std::size_t next = std::max(row.firstBeginningAt(range.begin_ns + (x + 1) / pixels_per_ns, i), i + 1);
        // Only the last that begins in this pixel can be wider than it: the spans are disjoint.
        if (next - i > 1 && !narrow(row[next - 1]))
            --next;
        const std::size_t widest = row.longest(i, next);
        const std::uint8_t kind = row[widest].kind;
        PaintedRun* const last = runs.empty() ? nullptr : &runs.back();
        if (last != nullptr && last->merged && last->kind == kind && last->x + last->width >= x) {
            last->width = std::max(last->width, x + 1 - last->x);
            if (lengthOf(row[widest]) > lengthOf(row[last->span]))
                last->span = widest;
        } else {
            runs.push_back({x, 1, kind, true, widest});
        }
        i = next;
    }
    return runs;
}

}  // namespace cuco::ui
