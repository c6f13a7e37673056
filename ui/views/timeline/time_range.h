// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QString>

#include <vector>

namespace cuco::ui {

/// A stretch of a timeline's clock in nanoseconds. Fractions keep zooming steady below one nanosecond a pixel.
struct TimeRange {
    double begin_ns = 0, end_ns = 0;

    double length() const { return end_ns - begin_ns; }
    bool contains(double ns) const { return ns >= begin_ns && ns < end_ns; }
    bool operator==(const TimeRange&) const = default;
};

/// The shortest range a view shows.
inline constexpr double shortest_range_ns = 1.0;

/// `factor` > 1 shows more time; what is at `anchor_ns` stays where it is on the screen.
TimeRange zoomed(TimeRange range, double factor, double anchor_ns);
TimeRange moved(TimeRange range, double by_ns);
/// Shortened and moved until it lies within `extent`.
TimeRange clamped(TimeRange range, TimeRange extent);

/// "820 ns", "12.4 µs", "3.07 ms": four significant digits at most, in the unit that suits.
QString formatDuration(double ns);
QString formatBytes(double bytes);  ///< "4.00 MiB"

struct RulerTick {
    double at_ns = 0;
    QString label;
};
/// Ticks at 1, 2 or 5 times a power of ten, at least `smallest_gap` pixels apart, all in one unit.
std::vector<RulerTick> rulerTicks(TimeRange range, int width, int smallest_gap);

}  // namespace cuco::ui
