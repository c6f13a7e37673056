// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/timeline/time_range.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace cuco::ui {

namespace {

struct Unit {
    double ns;
    const char16_t* name;
};
constexpr std::array<Unit, 4> units{{{1e9, u"s"}, {1e6, u"ms"}, {1e3, u"µs"}, {1, u"ns"}}};

const Unit& unitFor(double ns)
{
    const auto unit = std::ranges::find_if(units, [&](const Unit& u) { return std::abs(ns) >= u.ns; });
    return unit == units.end() ? units.back() : *unit;
}

QString withUnit(const QString& number, const char16_t* unit)
{
    return number + QChar(u'\u202f') + QString::fromUtf16(unit);
}

}  // namespace

TimeRange zoomed(TimeRange range, double factor, double anchor_ns)
{
    const double length = std::max(range.length() * factor, shortest_range_ns);
    const double share = range.length() > 0 ? (anchor_ns - range.begin_ns) / range.length() : 0.5;
    const double begin = anchor_ns - share * length;
    return {begin, begin + length};
}

TimeRange moved(TimeRange range, double by_ns)
{
    return {range.begin_ns + by_ns, range.end_ns + by_ns};
}

TimeRange clamped(TimeRange range, TimeRange extent)
{
    const double length = std::min(std::max(range.length(), shortest_range_ns), extent.length());
    const double begin = std::clamp(range.begin_ns, extent.begin_ns, extent.end_ns - length);
    return {begin, begin + length};
}

QString formatDuration(double ns)
{
    const Unit& unit = unitFor(ns);
    const double value = ns / unit.ns;
    const double size = std::abs(value);
    int decimals = size >= 100 ? 1 : size >= 10 ? 2 : 3;
    if (unit.ns == 1)
        decimals = value == std::round(value) ? 0 : 1;
    return withUnit(QString::number(value, 'f', decimals), unit.name);
}

QString formatBytes(double bytes)
{
    static constexpr std::array<const char16_t*, 5> names{u"B", u"KiB", u"MiB", u"GiB", u"TiB"};
    std::size_t step = 0;
    while (bytes >= 1024 && step + 1 < names.size()) {
        bytes /= 1024;
        ++step;
    }
    return withUnit(QString::number(bytes, 'f', step == 0 ? 0 : 2), names[step]);
}

std::vector<RulerTick> rulerTicks(TimeRange range, int width, int smallest_gap)
{
    std::vector<RulerTick> ticks;
    if (width <= 0 || smallest_gap <= 0 || range.length() <= 0)
        return ticks;
    const double wanted = range.length() * smallest_gap / width;
    const double power = std::pow(10.0, std::floor(std::log10(wanted)));
    double step = 10 * power;
    for (const double multiple : {1.0, 2.0, 5.0}) {
        if (multiple * power >= wanted) {
            step = multiple * power;
            break;
        }
    }
    const Unit& unit = unitFor(std::max(std::abs(range.begin_ns), std::abs(range.end_ns)));
    const int decimals = std::max(0, static_cast<int>(std::ceil(-std::log10(step / unit.ns) - 1e-9)));
    const double first = std::ceil(range.begin_ns / step - 1e-9);
    const double last = std::floor(range.end_ns / step + 1e-9);
    for (double n = first; n <= last; ++n)
        ticks.push_back({n * step, withUnit(QString::number(n * step / unit.ns, 'f', decimals), unit.name)});
    return ticks;
}

}  // namespace cuco::ui
