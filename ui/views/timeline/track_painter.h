// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/style/theme.h"
#include "ui/views/timeline/timeline_layout.h"

#include <QBrush>
#include <QFont>
#include <QRect>

#include <array>
#include <optional>
#include <set>
#include <unordered_map>

class QPainter;

namespace cuco::ui {

/// The runs of rows for one range and width; kept until either changes, so that hovering and selecting
/// repaint without touching an interval.
class RunCache {
public:
    const std::vector<PaintedRun>& runs(const SpanRow& row, TimeRange range, int width);
    void clear() { runs_.clear(); }

private:
    TimeRange range_;
    int width_ = 0;
    std::unordered_map<const SpanRow*, std::vector<PaintedRun>> runs_;
};

/// Fills by activity that differ by colour and by pattern, so that a grey print reads.
class ActivityBrushes {
public:
    explicit ActivityBrushes(const Colors& colors);

    const QBrush& brush(Activity activity) const { return brushes_[static_cast<std::size_t>(activity)]; }
    /// For runs too narrow for a pattern.
    const QColor& color(Activity activity) const { return colors_[static_cast<std::size_t>(activity)]; }
    /// Black or white, whichever reads on the activity's colour.
    QColor textOn(Activity activity) const;

private:
    std::array<QBrush, 5> brushes_;
    std::array<QColor, 5> colors_;
};

/// What of a canvas is seen, and where the parts of it lie in pixels.
struct TrackView {
    TimeRange range;
    int label_width = 0, ruler_height = 0;
    QSize size;
    int scroll_y = 0;

    int tracksWidth() const { return size.width() - label_width; }
    QRect tracks() const { return {label_width, ruler_height, tracksWidth(), size.height() - ruler_height}; }
    double xOf(double ns) const;
    double timeAt(double x) const;
    int yOf(const Band& band) const { return ruler_height + band.y - scroll_y; }
};

/// Paints everything that hovering and selecting do not change: ruler, labels, lanes, overlap strips and the
/// line of the bound.
class TrackPainter {
public:
    TrackPainter(QPainter& painter, const TrackView& view, const Colors& colors, const ActivityBrushes& brushes,
                 RunCache& cache);

    void paint(const TimelineIndex& index, const TimelineLayout& layout, const std::set<int>& collapsed_ranks,
               std::optional<double> bound_ns);

private:
    void paintGrid();
    void paintRuler();
    void paintBand(const TimelineIndex& index, const Band& band, bool collapsed);
    void paintHeader(const TimelineIndex& index, const Band& band, bool collapsed);
    void paintLane(const TimelineIndex& index, const Band& band);
    void paintLabel(const TimelineIndex& index, const Band& band);
    void paintOverlap(const TimelineIndex& index, const Band& band);
    void paintBound(double bound_ns);

    QPainter& painter_;
    const TrackView& view_;
    const Colors& colors_;
    const ActivityBrushes& brushes_;
    RunCache& cache_;
    std::vector<RulerTick> ticks_;
    QFont small_, bold_;
};

}  // namespace cuco::ui
