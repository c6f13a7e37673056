// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/views/timeline/time_range.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace cuco::ui {

struct Span {
    std::int64_t begin_ns = 0, end_ns = 0;  ///< half-open
    std::uint32_t item = 0;                 ///< what it stands for: an interval's index in its lane
    std::uint8_t kind = 0;                  ///< how it is painted: an Activity or an OverlapKind
};

/// Disjoint spans in order of time: one nesting level of a lane, or the overlap strip of a rank. Finds the
/// longest of a run without visiting it, so that painting costs by the pixel and not by the interval.
class SpanRow {
public:
    void append(Span span) { spans_.push_back(span); }
    void finish();  ///< after the last append

    std::size_t size() const { return spans_.size(); }
    bool empty() const { return spans_.empty(); }
    const Span& operator[](std::size_t index) const { return spans_[index]; }
    const Span& back() const { return spans_.back(); }

    std::size_t firstEndingAfter(double ns) const;
    /// First index ≥ `from` that begins at or after `ns`; fast when it is near `from`.
    std::size_t firstBeginningAt(double ns, std::size_t from = 0) const;
    /// Index of the longest of [first, last), which is not empty; the earliest of equals.
    std::size_t longest(std::size_t first, std::size_t last) const;
    std::optional<std::size_t> at(double ns) const;

private:
    std::size_t longer(std::size_t a, std::size_t b) const;

    std::vector<Span> spans_;
    std::vector<std::vector<std::uint32_t>> longest_of_block_;  ///< level k: blocks of 16^(k+1) spans
};

/// A filled run of pixels. Spans narrower than a pixel that begin in the same pixel are one run, which has the
/// kind of its longest span; neighbouring runs of one kind join.
struct PaintedRun {
    int x = 0, width = 0;
    std::uint8_t kind = 0;
    bool merged = false;
    std::size_t span = 0;  ///< the span, or the longest of those merged
};

/// What a row looks like when `range` fills `width` pixels.
std::vector<PaintedRun> layOut(const SpanRow& row, TimeRange range, int width);

}  // namespace cuco::ui
