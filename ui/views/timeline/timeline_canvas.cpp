// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/timeline/timeline_canvas.h"

#include <QEvent>
#include <QFontMetrics>
#include <QPainter>
#include <QScrollBar>

#include <algorithm>
#include <cmath>

namespace cuco::ui {

namespace {

constexpr int bar_steps = 1'000'000;
constexpr int narrowest_label = 12 * grid, widest_label = 22 * grid;

}  // namespace

TimelineCanvas::TimelineCanvas(QWidget* parent) : QAbstractScrollArea(parent)
{
    setFrameShape(QFrame::NoFrame);
    setFocusPolicy(Qt::StrongFocus);
    setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOn);
    setVerticalScrollBarPolicy(Qt::ScrollBarAlwaysOn);  // two that share a time axis stay as wide
    viewport()->setMouseTracking(true);
    viewport()->setAttribute(Qt::WA_OpaquePaintEvent);
    setAccessibleName(tr("Timeline"));
    ruler_height_ = 3 * grid;
    label_width_ = narrowest_label;
}

TimelineCanvas::~TimelineCanvas() = default;

void TimelineCanvas::setTimeline(std::shared_ptr<const Timeline> timeline)
{
    cache_.clear();
    index_ = timeline ? std::make_unique<TimelineIndex>(std::move(timeline)) : nullptr;
    hovered_.reset();
    flow_.clear();
    selected_.reset();
    selected_range_.reset();
    marks_.clear();
    collapsed_.clear();
    label_width_ = narrowest_label;
    if (index_) {
        const QFontMetrics metrics(textFont(-1));
        for (const Lane& lane : index_->timeline().lanes)
            label_width_ = std::max(
                label_width_, metrics.horizontalAdvance(QString::fromStdString(lane.name.substr(0, 64))) + 4 * grid);
        label_width_ = std::min(label_width_, widest_label);
    }
    layOutBands();
    setExtent(index_ ? index_->extent() : TimeRange{0, shortest_range_ns});
    fit();
    invalidate();
    Q_EMIT selectedChanged();
    Q_EMIT selectedRangeChanged();
}

void TimelineCanvas::setBound(std::optional<double> bound_ns)
{
    bound_ns_ = bound_ns;
    invalidate();
}

void TimelineCanvas::setExtent(TimeRange extent)
{
    // A little air, so that the last end is seen to be one.
    extent_ = {extent.begin_ns, extent.end_ns + 0.01 * extent.length()};
    setRange(range_);
    updateScrollBars();
}

void TimelineCanvas::setLabelWidth(int width)
{
    label_width_ = width;
    updateScrollBars();
    invalidate();
}

void TimelineCanvas::setRange(TimeRange range)
{
    range = clamped(range, extent_);
    if (range == range_)
        return;
    range_ = range;
    updateScrollBars();
    invalidate();
    Q_EMIT rangeChanged(range_);
}

void TimelineCanvas::select(std::optional<IntervalRef> ref)
{
    selected_ = ref;
    flow_.clear();
    if (ref) {
        flow_ = index_->flowOf(*ref);
        const Interval& interval = index_->interval(*ref);
        const double begin = static_cast<double>(interval.begin_ns), end = static_cast<double>(interval.end_ns);
        if (end <= range_.begin_ns || begin >= range_.end_ns)
            setRange(moved(range_, (begin + end) / 2 - (range_.begin_ns + range_.end_ns) / 2));
        if (collapsed_.erase(index_->lane(*ref).rank) > 0)
            layOutBands();
        if (const Band* band = bands_.bandOfLane(ref->lane)) {
            const int page = viewport()->height() - ruler_height_;
            QScrollBar* bar = verticalScrollBar();
            if (band->y < bar->value())
                bar->setValue(band->y);
            else if (band->y + band->height > bar->value() + page)
                bar->setValue(band->y + band->height - page);
        }
    }
    viewport()->update();
    Q_EMIT selectedChanged();
}

void TimelineCanvas::setSelectedRange(std::optional<TimeRange> range)
{
    if (range == selected_range_)
        return;
    selected_range_ = range;
    viewport()->update();
    Q_EMIT selectedRangeChanged();
}

void TimelineCanvas::toggleMark()
{
    std::optional<TimeRange> range = selected_range_;
    if (!range && selected_) {
        const Interval& interval = index_->interval(*selected_);
        range = TimeRange{static_cast<double>(interval.begin_ns), static_cast<double>(interval.end_ns)};
    }
    if (!range)
        return;
    if (const auto same = std::ranges::find(marks_, *range); same != marks_.end())
        marks_.erase(same);
    else
        marks_.push_back(*range);
    viewport()->update();
}

TrackView TimelineCanvas::view() const
{
    return {range_, label_width_, ruler_height_, viewport()->size(), verticalScrollBar()->value()};
}

std::optional<QRect> TimelineCanvas::rectOf(IntervalRef ref) const
{
    const Band* band = bands_.bandOfLane(ref.lane);
    if (!band)
        return std::nullopt;
    const Interval& interval = index_->interval(ref);
    const auto& rows = index_->rowsOf(ref.lane).rows;
    const double middle = (static_cast<double>(interval.begin_ns) + static_cast<double>(interval.end_ns)) / 2;
    for (std::size_t level = 0; level < rows.size(); ++level) {
        const auto at = rows[level].at(middle);
        if (!at || rows[level][*at].item != ref.interval)
            continue;
        const TrackView seen = view();
        const double left = std::max(seen.xOf(static_cast<double>(interval.begin_ns)), label_width_ - 4.0);
        const double right = std::min(seen.xOf(static_cast<double>(interval.end_ns)), seen.size.width() + 4.0);
        const int x = static_cast<int>(std::lround(left));
        const int width = std::max(static_cast<int>(std::lround(right)) - x, 1);
        return QRect(x, seen.yOf(*band) + static_cast<int>(level) * TimelineLayout::level_height, width,
                     TimelineLayout::level_height - 2);
    }
    return std::nullopt;
}

std::optional<IntervalRef> TimelineCanvas::intervalAt(QPoint position) const
{
    const TrackView seen = view();
    if (!index_ || !seen.tracks().contains(position))
        return std::nullopt;
    const int y = position.y() - ruler_height_ + seen.scroll_y;
    const Band* band = bands_.bandAt(y);
    if (!band || band->kind != Band::Kind::lane)
        return std::nullopt;
    const auto& rows = index_->rowsOf(band->lane).rows;
    const auto level = static_cast<std::size_t>((y - band->y) / TimelineLayout::level_height);
    if (level >= rows.size())
        return std::nullopt;
    const SpanRow& row = rows[level];
    if (const auto exact = row.at(seen.timeAt(position.x() + 0.5)))
        return IntervalRef{band->lane, row[*exact].item};
    // What is painted as this pixel: the longest that begins in it.
    const double begin = seen.timeAt(position.x()), end = seen.timeAt(position.x() + 1);
    const std::size_t first = row.firstBeginningAt(begin), last = row.firstBeginningAt(end, first);
    if (first == last)
        return std::nullopt;
    return IntervalRef{band->lane, row[row.longest(first, last)].item};
}

void TimelineCanvas::invalidate()
{
    base_valid_ = false;
    viewport()->update();
}

void TimelineCanvas::layOutBands()
{
    bands_ = index_ ? TimelineLayout(*index_, collapsed_, 3 * grid) : TimelineLayout();
    updateScrollBars();
    invalidate();
}

void TimelineCanvas::updateScrollBars()
{
    syncing_bars_ = true;
    const int page = std::max(viewport()->height() - ruler_height_, 1);
    verticalScrollBar()->setPageStep(page);
    verticalScrollBar()->setSingleStep(TimelineLayout::level_height);
    verticalScrollBar()->setRange(0, std::max(bands_.height() - page, 0));

    const double share = range_.length() / extent_.length();
    const int page_steps = static_cast<int>(std::lround(share * bar_steps));
    horizontalScrollBar()->setPageStep(page_steps);
    horizontalScrollBar()->setSingleStep(std::max(page_steps / 10, 1));
    horizontalScrollBar()->setRange(0, bar_steps - page_steps);
    horizontalScrollBar()->setValue(
        static_cast<int>(std::lround((range_.begin_ns - extent_.begin_ns) / extent_.length() * bar_steps)));
    syncing_bars_ = false;
}

void TimelineCanvas::scrollContentsBy(int dx, int)
{
    if (!syncing_bars_ && dx != 0) {
        const double begin =
            extent_.begin_ns + extent_.length() * horizontalScrollBar()->value() / static_cast<double>(bar_steps);
        setRange({begin, begin + range_.length()});
    }
    invalidate();
}

void TimelineCanvas::resizeEvent(QResizeEvent* event)
{
    QAbstractScrollArea::resizeEvent(event);
    updateScrollBars();
    invalidate();
}

void TimelineCanvas::changeEvent(QEvent* event)
{
    QAbstractScrollArea::changeEvent(event);
    if (event->type() == QEvent::PaletteChange || event->type() == QEvent::FontChange) {
        colors_.reset();
        brushes_.reset();
        invalidate();
    }
}

void TimelineCanvas::paintEvent(QPaintEvent*)
{
    if (!colors_ || !brushes_) {
        colors_ = colorsFor(palette());
        brushes_.emplace(*colors_);
    }
    const qreal ratio = devicePixelRatioF();
    const QSize pixels = viewport()->size() * ratio;
    if (!base_valid_ || base_.size() != pixels) {
        if (base_.size() != pixels)
            base_ = QPixmap(pixels);
        base_.setDevicePixelRatio(ratio);
        QPainter painter(&base_);
        const TrackView seen = view();
        if (index_)
            TrackPainter(painter, seen, *colors_, *brushes_, cache_).paint(*index_, bands_, collapsed_, bound_ns_);
        else
            painter.fillRect(QRect(QPoint(0, 0), seen.size), colors_->background);
        base_valid_ = true;
    }
    QPainter painter(viewport());
    painter.drawPixmap(0, 0, base_);
    if (index_)
        paintOverlays(painter);
}

}  // namespace cuco::ui
