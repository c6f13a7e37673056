// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
// TimelineCanvas: what is painted over the kept picture.
#include "ui/views/timeline/timeline_canvas.h"

#include <QPainter>
#include <QPainterPath>

#include <algorithm>
#include <cmath>

namespace cuco::ui {

namespace {

constexpr std::size_t most_flow_curves = 200;

}  // namespace

void TimelineCanvas::paintOverlays(QPainter& painter)
{
    const TrackView seen = view();
    paintRanges(painter, seen);
    painter.save();
    painter.setClipRect(seen.tracks());
    paintFlows(painter);
    const auto outline = [&](IntervalRef ref, const QColor& color, int width) {
        if (const auto rect = rectOf(ref)) {
            painter.setPen(QPen(color, width, Qt::SolidLine, Qt::SquareCap, Qt::MiterJoin));
            painter.setBrush(Qt::NoBrush);
            painter.drawRect(rect->adjusted(0, 0, -1, -1));
        }
    };
    if (hovered_)
        outline(*hovered_, colors_->text, 1);
    if (selected_) {
        outline(*selected_, colors_->background, 4);
        outline(*selected_, colors_->readable(colors_->selected), 2);
    }
    painter.restore();
    if (cursor_ns_) {
        const int x = static_cast<int>(seen.xOf(*cursor_ns_));
        painter.setPen(colors_->secondary);
        painter.drawLine(x, 0, x, seen.ruler_height);
        const QString label = formatDuration(*cursor_ns_);
        painter.setFont(textFont(-1));
        const int width = painter.fontMetrics().horizontalAdvance(label) + grid;
        const QRect box(std::min(x + 1, seen.size.width() - width), 2, width, seen.ruler_height - 5);
        painter.fillRect(box, colors_->raised);
        painter.setPen(colors_->text);
        painter.drawText(box, Qt::AlignCenter, label);
    }
}

void TimelineCanvas::paintRanges(QPainter& painter, const TrackView& seen)
{
    painter.save();
    painter.setClipRect(QRect(seen.label_width, 0, seen.tracksWidth(), seen.size.height()));
    const auto band = [&](TimeRange range, const QColor& hue, int alpha) {
        const int left = static_cast<int>(std::lround(std::clamp(seen.xOf(range.begin_ns), -10.0, 1e6)));
        const int right = static_cast<int>(std::lround(std::clamp(seen.xOf(range.end_ns), -10.0, 1e6)));
        QColor fill = hue;
        fill.setAlpha(alpha);
        painter.fillRect(QRect(left, seen.ruler_height, right - left, seen.size.height()), fill);
        const QColor line = colors_->readable(hue);
        painter.setPen(line);
        painter.drawLine(left, 0, left, seen.size.height());
        painter.drawLine(right, 0, right, seen.size.height());
        const QRect box(left, 0, std::max(right - left, 1), seen.ruler_height - 1);
        painter.fillRect(box.adjusted(0, box.height() - 3, 0, 0), line);
        const QString label = formatDuration(range.length());
        painter.setFont(textFont(-1));
        if (painter.fontMetrics().horizontalAdvance(label) + grid < box.width()) {
            painter.fillRect(box.adjusted(1, 0, 0, -3), colors_->surface);
            painter.setPen(colors_->text);
            painter.drawText(box, Qt::AlignCenter, label);
        }
    };
    for (const TimeRange& mark : marks_)
        band(mark, colors_->reference, 28);
    if (selected_range_)
        band(*selected_range_, colors_->selected, 48);
    painter.restore();
}

void TimelineCanvas::paintFlows(QPainter& painter)
{
    if (!selected_ || flow_.empty())
        return;
    const auto from = rectOf(*selected_);
    if (!from)
        return;
    painter.setRenderHint(QPainter::Antialiasing);
    const std::size_t shown = std::min(flow_.size(), most_flow_curves);
    for (std::size_t i = 0; i < shown; ++i) {
        const auto to = rectOf(flow_[i]);
        if (!to)
            continue;
        // From the earlier one's end to the later one's begin; where they overlap, straight across.
        const bool forward = index_->interval(*selected_).begin_ns <= index_->interval(flow_[i]).begin_ns;
        const QRect &first = forward ? *from : *to, &second = forward ? *to : *from;
        const QPointF begin(std::min(first.right(), second.left()), first.center().y());
        const QPointF end(second.left(), second.center().y());
        const QPointF bend(std::min((end.x() - begin.x()) / 2, 160.0), 0);
        QPainterPath path(begin);
        path.cubicTo(begin + bend, end - bend, end);
        painter.setBrush(Qt::NoBrush);
        painter.setPen(QPen(colors_->background, 4));
        painter.drawPath(path);
        painter.setPen(QPen(colors_->readable(colors_->selected), 1.6));
        painter.drawPath(path);
        painter.setBrush(colors_->readable(colors_->selected));
        painter.drawEllipse(end, 2.5, 2.5);
    }
    painter.setRenderHint(QPainter::Antialiasing, false);
}

}  // namespace cuco::ui
