// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
// TimelineCanvas: keys, wheel and mouse.
#include "ui/views/timeline/interval_text.h"
#include "ui/views/timeline/timeline_canvas.h"

#include <QApplication>
#include <QKeyEvent>
#include <QMouseEvent>
#include <QScrollBar>
#include <QToolTip>
#include <QWheelEvent>

#include <algorithm>
#include <cmath>

namespace cuco::ui {

namespace {

constexpr double zoom_of_a_key = 0.7;
constexpr double pan_of_a_key = 0.1;
constexpr double wheel_notch = 120;

}  // namespace

void TimelineCanvas::zoomAt(double factor, double anchor_ns)
{
    setRange(zoomed(range_, factor, anchor_ns));
}

void TimelineCanvas::panBy(double share)
{
    setRange(moved(range_, share * range_.length()));
}

void TimelineCanvas::keyPressEvent(QKeyEvent* event)
{
    if (event->modifiers() & (Qt::ControlModifier | Qt::AltModifier | Qt::MetaModifier)) {
        QAbstractScrollArea::keyPressEvent(event);
        return;
    }
    const double anchor =
        cursor_ns_ && range_.contains(*cursor_ns_) ? *cursor_ns_ : range_.begin_ns + range_.length() / 2;
    const QString text = event->text();
    if (text == QLatin1String(".")) {
        stepInLane(+1);
    } else if (text == QLatin1String(",")) {
        stepInLane(-1);
    } else if (text == QLatin1String("/")) {
        Q_EMIT searchRequested();
    } else if (text == QLatin1String("?")) {
        Q_EMIT helpRequested();
    } else {
        switch (event->key()) {
            case Qt::Key_W:
                zoomAt(zoom_of_a_key, anchor);
                break;
            case Qt::Key_S:
                zoomAt(1 / zoom_of_a_key, anchor);
                break;
            case Qt::Key_A:
            case Qt::Key_Left:
                panBy(-pan_of_a_key);
                break;
            case Qt::Key_D:
            case Qt::Key_Right:
                panBy(pan_of_a_key);
                break;
            case Qt::Key_F:
                if (event->modifiers() & Qt::ShiftModifier && selected_range_)
                    setRange(*selected_range_);
                else
                    fit();
                break;
            case Qt::Key_M:
                toggleMark();
                break;
            case Qt::Key_Escape:
                clearOne();
                break;
            default:
                QAbstractScrollArea::keyPressEvent(event);
                return;
        }
    }
    event->accept();
}

void TimelineCanvas::clearOne()
{
    if (selected_ || selected_range_) {
        select(std::nullopt);
        setSelectedRange(std::nullopt);
    } else if (!marks_.empty()) {
        marks_.clear();
        viewport()->update();
    } else {
        Q_EMIT cleared();
    }
}

void TimelineCanvas::stepInLane(int direction)
{
    if (!selected_)
        return;
    const auto count = static_cast<std::int64_t>(index_->lane(*selected_).intervals.size());
    const std::int64_t next = static_cast<std::int64_t>(selected_->interval) + direction;
    if (next >= 0 && next < count)
        select(IntervalRef{selected_->lane, static_cast<std::uint32_t>(next)});
}

void TimelineCanvas::wheelEvent(QWheelEvent* event)
{
    const double vertical = event->angleDelta().y() / wheel_notch, horizontal = event->angleDelta().x() / wheel_notch;
    if (event->modifiers() & Qt::ControlModifier) {
        zoomAt(std::pow(zoom_of_a_key, vertical), view().timeAt(event->position().x()));
    } else if (event->modifiers() & Qt::ShiftModifier) {
        panBy(-pan_of_a_key * (vertical + horizontal));
    } else {
        if (horizontal != 0)
            panBy(-pan_of_a_key * horizontal);
        QScrollBar* bar = verticalScrollBar();
        bar->setValue(bar->value() - static_cast<int>(std::lround(vertical * 3 * TimelineLayout::level_height)));
    }
    event->accept();
}

void TimelineCanvas::mousePressEvent(QMouseEvent* event)
{
    drag_from_ = event->pos();
    range_at_press_ = range_;
    if (event->button() == Qt::MiddleButton) {
        drag_ = Drag::pan;
        return;
    }
    if (event->button() != Qt::LeftButton || !index_)
        return;
    const Band* band = event->pos().y() >= ruler_height_
                           ? bands_.bandAt(event->pos().y() - ruler_height_ + verticalScrollBar()->value())
                           : nullptr;
    if (band && band->kind == Band::Kind::rank_header) {
        const int rank = index_->ranks()[band->group].rank;
        if (collapsed_.erase(rank) == 0)
            collapsed_.insert(rank);
        layOutBands();
        return;
    }
    if (event->pos().x() >= label_width_)
        drag_ = Drag::undecided;
}

void TimelineCanvas::mouseMoveEvent(QMouseEvent* event)
{
    const TrackView seen = view();
    if (drag_ == Drag::undecided &&
        std::abs(event->pos().x() - drag_from_.x()) >= QApplication::startDragDistance() / 2)
        drag_ = Drag::range;
    if (drag_ == Drag::range) {
        const auto timeAt = [&](int x) { return std::clamp(seen.timeAt(x), range_.begin_ns, range_.end_ns); };
        const double from = timeAt(drag_from_.x()), to = timeAt(event->pos().x());
        setSelectedRange(TimeRange{std::min(from, to), std::max(from, to)});
    } else if (drag_ == Drag::pan) {
        const double ns_per_pixel = range_.length() / std::max(seen.tracksWidth(), 1);
        setRange(moved(range_at_press_, (drag_from_.x() - event->pos().x()) * ns_per_pixel));
    }
    hover(event->pos());
}

void TimelineCanvas::mouseReleaseEvent(QMouseEvent* event)
{
    if (drag_ == Drag::undecided && event->button() == Qt::LeftButton) {
        setSelectedRange(std::nullopt);
        select(intervalAt(event->pos()));
    }
    drag_ = Drag::none;
}

void TimelineCanvas::mouseDoubleClickEvent(QMouseEvent* event)
{
    const auto ref = intervalAt(event->pos());
    if (!ref) {
        mousePressEvent(event);
        return;
    }
    const Interval& interval = index_->interval(*ref);
    const double length = std::max(static_cast<double>(interval.end_ns - interval.begin_ns), shortest_range_ns);
    setRange({static_cast<double>(interval.begin_ns) - length / 4, static_cast<double>(interval.end_ns) + length / 4});
}

void TimelineCanvas::hover(QPoint position)
{
    const TrackView seen = view();
    cursor_ns_ = position.x() >= label_width_ ? std::optional(seen.timeAt(position.x())) : std::nullopt;
    const auto before = hovered_;
    hovered_ = drag_ == Drag::none ? intervalAt(position) : std::nullopt;
    if (hovered_ != before)
        showTooltip(position, viewport()->mapToGlobal(position));
    viewport()->update();
}

void TimelineCanvas::showTooltip(QPoint position, QPoint global)
{
    if (hovered_) {
        QToolTip::showText(global, intervalTooltip(*index_, *hovered_), viewport());
        return;
    }
    QString text;
    if (index_ && position.x() < label_width_ && position.y() >= ruler_height_) {
        const Band* band = bands_.bandAt(position.y() - ruler_height_ + verticalScrollBar()->value());
        if (band && band->kind == Band::Kind::lane) {
            const std::size_t too_deep = index_->rowsOf(band->lane).too_deep;
            text = laneTitle(index_->timeline().lanes[band->lane]);
            if (too_deep > 0)
                text += tr("\n%1 intervals nested deeper than %2 levels are not shown.")
                            .arg(too_deep)
                            .arg(TimelineIndex::deepest_level);
        } else if (band && band->kind == Band::Kind::overlap) {
            text =
                tr("Blue: computing. Blue over orange: communication hidden under it. "
                   "Orange with a red edge: exposed communication.");
        } else if (band) {
            text = tr("Click to collapse or expand this rank.");
        }
    }
    if (text.isEmpty())
        QToolTip::hideText();
    else
        QToolTip::showText(global, text, viewport());
}

bool TimelineCanvas::viewportEvent(QEvent* event)
{
    if (event->type() == QEvent::Leave) {
        hovered_.reset();
        cursor_ns_.reset();
        viewport()->update();
    } else if (event->type() == QEvent::ToolTip) {
        const auto* help = static_cast<QHelpEvent*>(event);
        showTooltip(help->pos(), help->globalPos());
        return true;
    }
    return QAbstractScrollArea::viewportEvent(event);
}

}  // namespace cuco::ui
