// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/population/fitness_chart.h"
#include "ui/style/theme.h"

#include <QChart>
#include <QPainter>

#include <algorithm>

namespace cuco::ui {

void FitnessChart::drawForeground(QPainter* painter, const QRectF& rect)
{
    QChartView::drawForeground(painter, rect);
    const QRectF plot = chart()->plotArea();
    painter->setRenderHint(QPainter::Antialiasing);
    drawPoints(*painter, plot);
    drawLineLabels(*painter, plot);
    if (points_.empty() && baseline_us_ <= 0) {
        painter->setFont(textFont());
        painter->setPen(colorsFor(palette()).secondary);
        painter->drawText(plot, Qt::AlignCenter | Qt::TextWordWrap, tr("Nothing has been timed yet."));
    }
}

void FitnessChart::drawPoints(QPainter& painter, const QRectF& plot) const
{
    const Colors colors = colorsFor(palette());
    painter.setPen(QPen(colors.readable(colors.failed), 1.25));
    for (const int number : failed_) {
        const QPointF at(xToPixel(number), plot.bottom() - 5);
        painter.drawLine(at + QPointF(-2.5, -2.5), at + QPointF(2.5, 2.5));
        painter.drawLine(at + QPointF(-2.5, 2.5), at + QPointF(2.5, -2.5));
    }
    for (const Point& point : points_) {
        const QColor hue = colors.island(point.island);
        const QPointF at(xToPixel(point.number), yToPixel(point.us.value));
        if (point.us.halfWidth() > 0) {
            painter.setPen(QPen(hue, 1));
            painter.drawLine(QPointF(at.x(), yToPixel(point.us.low)), QPointF(at.x(), yToPixel(point.us.high)));
        }
        const bool is_primary = point.id == session_->primary(), is_second = point.id == session_->secondary();
        if (is_primary || is_second) {
            painter.setPen(QPen(colors.readable(is_primary ? colors.selected : colors.communication), 2));
            painter.setBrush(colors.background);
            painter.drawEllipse(at, 7, 7);
        }
        painter.setPen(Qt::NoPen);
        painter.setBrush(hue);
        painter.drawEllipse(at, 3.5, 3.5);
    }
}

void FitnessChart::drawLineLabels(QPainter& painter, const QRectF& plot) const
{
    const Colors colors = colorsFor(palette());
    painter.setFont(textFont(-1));
    const QFontMetricsF metrics(painter.font());
    const auto label = [&](double us, const QString& text, const QColor& color, bool at_right) {
        if (us <= 0) {
            return;
        }
        const double width = metrics.horizontalAdvance(text) + grid;
        const double y = yToPixel(us);
        QRectF box(at_right ? plot.right() - width : plot.left(), y - metrics.height() - 2, width, metrics.height());
        box.moveTop(std::clamp(box.top(), plot.top(), plot.bottom() - box.height()));
        QColor veil = colors.background;
        veil.setAlpha(208);
        painter.fillRect(box, veil);
        painter.setPen(color);
        painter.drawText(box, Qt::AlignCenter, text);
    };
    label(baseline_us_, tr("%1 %2 µs").arg(baseline_name_, microseconds(baseline_us_)), colors.readable(colors.wait),
          true);
    label(bound_us_, tr("bound %1 µs").arg(microseconds(bound_us_)), colors.readable(colors.reference), false);
}

}  // namespace cuco::ui
