// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/views/timeline/track_painter.h"

#include <QAbstractScrollArea>
#include <QPixmap>

#include <memory>
#include <optional>
#include <set>
#include <vector>

namespace cuco::ui {

/// All lanes of a timeline in one viewport-sized widget. Ranks group lanes and collapse; time is zoomed and
/// panned with keys and wheel as in Perfetto and Tracy. Everything that hovering and selecting do not change
/// is kept as a picture and made again only for another range, size or scroll position.
class TimelineCanvas : public QAbstractScrollArea {
    Q_OBJECT

public:
    explicit TimelineCanvas(QWidget* parent = nullptr);
    ~TimelineCanvas() override;

    /// Shows all of it; null shows nothing. Ends selection and marks.
    void setTimeline(std::shared_ptr<const Timeline> timeline);
    const TimelineIndex* index() const { return index_.get(); }
    /// The least time the workload can take; drawn as a line.
    void setBound(std::optional<double> bound_ns);
    /// What can be scrolled to: for two canvases that share a time axis the longer of both.
    void setExtent(TimeRange extent);
    TimeRange extent() const { return extent_; }
    /// Pixels of the lanes' names; setTimeline makes it fit them.
    int labelWidth() const { return label_width_; }
    void setLabelWidth(int width);

    TimeRange range() const { return range_; }
    void setRange(TimeRange range);
    void fit() { setRange(extent_); }

    std::optional<IntervalRef> selected() const { return selected_; }
    /// Also brings it into sight.
    void select(std::optional<IntervalRef> ref);
    std::optional<TimeRange> selectedRange() const { return selected_range_; }
    void setSelectedRange(std::optional<TimeRange> range);
    const std::vector<TimeRange>& marks() const { return marks_; }
    /// Marks the selected range or interval; a range that is marked already loses its mark.
    void toggleMark();

    /// Where things are, in viewport pixels.
    TrackView view() const;
    std::optional<QRect> rectOf(IntervalRef ref) const;
    std::optional<IntervalRef> intervalAt(QPoint position) const;
    const TimelineLayout& layoutOfBands() const { return bands_; }

Q_SIGNALS:
    void rangeChanged(cuco::ui::TimeRange range);
    void selectedChanged();
    void selectedRangeChanged();
    void searchRequested();
    void helpRequested();
    void cleared();  ///< Escape with nothing left to clear here

protected:
    void paintEvent(QPaintEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    void changeEvent(QEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    void wheelEvent(QWheelEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void mouseReleaseEvent(QMouseEvent* event) override;
    void mouseDoubleClickEvent(QMouseEvent* event) override;
    bool viewportEvent(QEvent* event) override;
    void scrollContentsBy(int dx, int dy) override;

private:
    enum class Drag { none, undecided, range, pan };

    void invalidate();
    void layOutBands();
    void updateScrollBars();
    void zoomAt(double factor, double anchor_ns);
    void panBy(double share);
    void stepInLane(int direction);
    void clearOne();
    void hover(QPoint position);
    void showTooltip(QPoint position, QPoint global);
    void paintOverlays(QPainter& painter);
    void paintRanges(QPainter& painter, const TrackView& seen);
    void paintFlows(QPainter& painter);

    std::unique_ptr<TimelineIndex> index_;
    std::optional<double> bound_ns_;
    TimeRange extent_{0, shortest_range_ns}, range_{0, shortest_range_ns};
    TimelineLayout bands_;
    std::set<int> collapsed_;
    int label_width_ = 0, ruler_height_ = 0;

    std::optional<IntervalRef> selected_, hovered_;
    std::vector<IntervalRef> flow_;
    std::optional<TimeRange> selected_range_;
    std::vector<TimeRange> marks_;
    std::optional<double> cursor_ns_;

    Drag drag_ = Drag::none;
    QPoint drag_from_;
    TimeRange range_at_press_;

    RunCache cache_;
    std::optional<Colors> colors_;
    std::optional<ActivityBrushes> brushes_;
    QPixmap base_;
    bool base_valid_ = false, syncing_bars_ = false;
};

}  // namespace cuco::ui
