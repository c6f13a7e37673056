// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/population/candidate_format.h"
#include "ui/population/lineage_view.h"

#include <QPainter>
#include <QPainterPath>
#include <QScrollBar>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

namespace cuco::ui {

namespace {

constexpr double labels_from_zoom = 0.9;

QPolygonF star(const QPointF& centre, double radius)
{
    QPolygonF polygon;
    for (int corner = 0; corner < 10; ++corner) {
        const double angle = -std::numbers::pi / 2 + corner * std::numbers::pi / 5;
        const double reach = corner % 2 == 0 ? radius : radius * 0.45;
        polygon << centre + QPointF(std::cos(angle), std::sin(angle)) * reach;
    }
    return polygon;
}

QPolygonF diamond(const QPointF& centre, double radius)
{
    return QPolygonF{centre + QPointF(0, -radius), centre + QPointF(radius, 0), centre + QPointF(0, radius),
                     centre + QPointF(-radius, 0)};
}

}  // namespace

void LineageView::paintEvent(QPaintEvent*)
{
    const Colors colors = colorsFor(palette());
    QPainter painter(viewport());
    painter.setRenderHint(QPainter::Antialiasing);
    painter.fillRect(viewport()->rect(), colors.background);
    if (layout_.nodes.empty()) {
        painter.setPen(colors.secondary);
        painter.drawText(viewport()->rect().adjusted(2 * grid, grid, -2 * grid, -grid),
                         Qt::AlignCenter | Qt::TextWordWrap, tr("The lineage grows here as candidates are proposed."));
        return;
    }
    painter.save();
    painter.setClipRect(
        QRectF(lineage_metrics::margin_left, lineage_metrics::margin_top, viewport()->width(), viewport()->height()));
    paintEdges(painter, colors);
    paintNodes(painter, colors);
    painter.restore();
    paintLanes(painter, colors);
}

void LineageView::paintLanes(QPainter& painter, const Colors& colors) const
{
    const int scrolled_x = horizontalScrollBar()->value(), scrolled_y = verticalScrollBar()->value();
    painter.setFont(textFont(-1));
    const QFontMetrics metrics(painter.font());

    painter.save();
    painter.setClipRect(QRectF(0, lineage_metrics::margin_top, viewport()->width(), viewport()->height()));
    for (const LineageLayout::Lane& lane : layout_.lanes) {
        const double top = lineage_metrics::margin_top + lane.first_row * rowHeight() - scrolled_y;
        const double height = lane.rows * rowHeight();
        if (top > viewport()->height() || top + height < lineage_metrics::margin_top) {
            continue;
        }
        if (&lane != &layout_.lanes.front()) {
            painter.setPen(colors.grid_line);
            painter.drawLine(QPointF(0, top), QPointF(viewport()->width(), top));
        }
        painter.setPen(colors.island(lane.island));
        painter.drawText(QRectF(grid, top, lineage_metrics::margin_left - grid, height),
                         Qt::AlignVCenter | Qt::AlignLeft, tr("Island %1").arg(lane.island + 1));
    }
    painter.restore();

    painter.setPen(colors.secondary);
    painter.drawText(QRectF(grid, 0, lineage_metrics::margin_left - grid, lineage_metrics::margin_top),
                     Qt::AlignVCenter | Qt::AlignLeft, tr("Gen."));
    const int every = std::max(
        1, static_cast<int>(std::ceil((metrics.horizontalAdvance(QStringLiteral("000")) + grid) / columnWidth())));
    const int first = std::max(0, static_cast<int>(scrolled_x / columnWidth()));
    for (int column = first - first % every; column < layout_.columns; column += every) {
        const double left = lineage_metrics::margin_left + column * columnWidth() - scrolled_x;
        if (left > viewport()->width()) {
            break;
        }
        if (left + columnWidth() / 2 < lineage_metrics::margin_left) {
            continue;
        }
        const double width = std::max(columnWidth(), 4.0 * grid);
        painter.drawText(QRectF(left + columnWidth() / 2 - width / 2, 0, width, lineage_metrics::margin_top),
                         Qt::AlignCenter, QString::number(column));
    }
}

void LineageView::paintEdges(QPainter& painter, const Colors& colors) const
{
    const QRectF visible(0, 0, viewport()->width(), viewport()->height());
    const auto& candidates = session_->snapshot().candidates;
    const int selected = indexOf(session_->primary());
    painter.setBrush(Qt::NoBrush);
    for (std::size_t i = 0; i < layout_.nodes.size(); ++i) {
        const QPointF child = positionOf(static_cast<int>(i));
        bool first_parent = true;
        for (const int parent_index : layout_.nodes[i].parents) {
            const QPointF parent = positionOf(parent_index);
            const bool crossover = !first_parent;
            first_parent = false;
            if (!QRectF(parent, child).normalized().adjusted(-1, -1, 1, 1).intersects(visible)) {
                continue;
            }
            const bool on_path = static_cast<int>(i) == selected || parent_index == selected;
            QPen pen(on_path ? colors.readable(colors.selected)
                             : (standingOf(candidates[i]) == Standing::failed ? colors.border : colors.wait),
                     on_path ? 2 : 1);
            if (crossover) {
                pen.setStyle(Qt::DashLine);
            }
            painter.setPen(pen);
            QPainterPath path(parent);
            const double bend = std::min(columnWidth() * 0.5, std::abs(child.x() - parent.x()));
            path.cubicTo(QPointF(child.x() - bend, parent.y()), QPointF(child.x() - bend, child.y()), child);
            painter.drawPath(path);
        }
    }
}

void LineageView::paintNodes(QPainter& painter, const Colors& colors) const
{
    const QRectF visible = QRectF(viewport()->rect()).adjusted(-2 * grid, -2 * grid, 2 * grid, 2 * grid);
    for (std::size_t i = 0; i < layout_.nodes.size(); ++i) {
        if (visible.contains(positionOf(static_cast<int>(i)))) {
            paintNode(painter, colors, static_cast<int>(i));
        }
    }
}

void LineageView::paintNode(QPainter& painter, const Colors& colors, int index) const
{
    const Candidate& candidate = session_->snapshot().candidates[static_cast<std::size_t>(index)];
    const QString id = QString::fromStdString(candidate.id);
    const QPointF at = positionOf(index);
    const double radius = std::clamp(6.0 * zoom_, 2.0, 9.0);
    const QColor hue = colors.island(candidate.island);

    if (id == session_->primary() || id == session_->secondary()) {
        painter.setPen(QPen(colors.readable(id == session_->primary() ? colors.selected : colors.communication), 2));
        painter.setBrush(colors.background);
        painter.drawEllipse(at, radius + 4, radius + 4);
    }

    const Standing standing = standingOf(candidate);
    if (standing == Standing::failed) {
        painter.setPen(QPen(colors.readable(colors.failed), 2));
        const double reach = radius * 0.7;
        painter.drawLine(at - QPointF(reach, reach), at + QPointF(reach, reach));
        painter.drawLine(at + QPointF(-reach, reach), at + QPointF(reach, -reach));
    } else if (standing == Standing::in_flight) {
        painter.setPen(QPen(hue, 1.5, candidate.state == CandidateState::proposed ? Qt::DotLine : Qt::SolidLine));
        painter.setBrush(colors.background);
        painter.drawEllipse(at, radius, radius);
        if (candidate.state == CandidateState::measuring) {
            painter.setBrush(hue);
            painter.drawPie(QRectF(at.x() - radius, at.y() - radius, 2 * radius, 2 * radius), 90 * 16, -180 * 16);
        }
    } else {
        painter.setPen(Qt::NoPen);
        painter.setBrush(hue);
        if (id == best_) {
            painter.drawPolygon(star(at, radius * 1.6));
        } else if (candidate.parents.empty()) {
            painter.drawPolygon(diamond(at, radius * 1.2));
        } else {
            painter.drawEllipse(at, radius, radius);
        }
    }

    const Decision* decision = lastDecisionOn(session_->snapshot().decisions, candidate.id);
    if (decision && !(decision->kind == DecisionKind::promoted && decision->standing == PromotionStanding::refused)) {
        const bool promoted = decision->kind == DecisionKind::promoted;
        const bool pending = promoted && decision->standing == PromotionStanding::pending;
        painter.setPen(
            QPen(colors.readable(promoted ? colors.copy : colors.failed), 2, pending ? Qt::DotLine : Qt::SolidLine));
        const double y = at.y() + radius + 3;
        painter.drawLine(QPointF(at.x() - radius, y), QPointF(at.x() + radius, y));
    }
    if (zoom_ >= labels_from_zoom) {
        painter.setFont(monoFont(-2));
        painter.setPen(colors.secondary);
        painter.drawText(QRectF(at.x() + radius + grid, at.y() - grid, columnWidth() - 2 * radius - grid, 2 * grid),
                         Qt::AlignVCenter | Qt::AlignLeft, id);
    }
}

}  // namespace cuco::ui
