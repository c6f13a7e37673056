// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/population/lineage_view.h"

#include "ui/population/candidate_format.h"

#include <QHelpEvent>
#include <QKeyEvent>
#include <QMouseEvent>
#include <QScrollBar>
#include <QToolTip>
#include <QWheelEvent>

#include <algorithm>
#include <chrono>
#include <cmath>

namespace cuco::ui {

namespace {

constexpr double min_zoom = 0.1, max_zoom = 4;
constexpr double zoom_step = 1.25;
constexpr double grab_distance = 10;  // pixels around a node that belong to it

}  // namespace

LineageView::LineageView(RunSession* session, QWidget* parent) : QAbstractScrollArea(parent), session_(session)
{
    setFrameShape(QFrame::NoFrame);
    setFocusPolicy(Qt::StrongFocus);
    setMouseTracking(true);
    viewport()->setMouseTracking(true);
    setAccessibleName(tr("Lineage"));
    setMinimumHeight(12 * grid);
    // Many candidates may change between two frames; the tree is laid out once for all of them.
    rebuild_timer_.setSingleShot(true);
    rebuild_timer_.setInterval(std::chrono::milliseconds(30));
    connect(&rebuild_timer_, &QTimer::timeout, this, &LineageView::rebuild);
    connect(session_, &RunSession::runReset, this, [this] {
        fitted_ = true;
        rebuild();
    });
    connect(session_, &RunSession::candidateChanged, this, [this] { rebuild_timer_.start(); });
    connect(session_, &RunSession::selectionChanged, this, [this] {
        reveal(session_->secondary().isEmpty() ? session_->primary() : session_->secondary());
        viewport()->update();
    });
    rebuild();
}

void LineageView::rebuild()
{
    layout_ = layOut(session_->snapshot().candidates);
    const Candidate* best = bestOf(session_->snapshot());
    best_ = best ? QString::fromStdString(best->id) : QString();
    if (fitted_) {
        fit();
    }
    updateScrollBars();
    viewport()->update();
}

void LineageView::fit()
{
    fitted_ = true;
    const double columns = lineage_metrics::column * std::max(layout_.columns, 1);
    const double rows = lineage_metrics::row * std::max(layout_.rows, 1);
    const double width = viewport()->width() - lineage_metrics::margin_left - grid;
    const double height = viewport()->height() - lineage_metrics::margin_top - grid;
    // Small runs are not blown up; large ones stay large enough to see.
    zoom_ = std::clamp(std::min(width / columns, height / rows), 0.4, 1.5);
    row_stretch_ = std::clamp(height / (rows * zoom_), 1.0, 5.0);
    updateScrollBars();
    viewport()->update();
}

double LineageView::columnWidth() const
{
    return lineage_metrics::column * zoom_;
}

double LineageView::rowHeight() const
{
    return lineage_metrics::row * zoom_ * row_stretch_;
}

QPointF LineageView::positionOf(int index) const
{
    const LineageLayout::Node& node = layout_.nodes[static_cast<std::size_t>(index)];
    return {lineage_metrics::margin_left + (node.column + 0.5) * columnWidth() - horizontalScrollBar()->value(),
            lineage_metrics::margin_top + (node.row + 0.5) * rowHeight() - verticalScrollBar()->value()};
}

void LineageView::updateScrollBars()
{
    const double width = lineage_metrics::margin_left + layout_.columns * columnWidth() + grid;
    const double height = lineage_metrics::margin_top + layout_.rows * rowHeight() + grid;
    horizontalScrollBar()->setPageStep(viewport()->width());
    horizontalScrollBar()->setSingleStep(static_cast<int>(columnWidth()));
    horizontalScrollBar()->setRange(0, std::max(0, static_cast<int>(width) - viewport()->width()));
    verticalScrollBar()->setPageStep(viewport()->height());
    verticalScrollBar()->setSingleStep(static_cast<int>(rowHeight()));
    verticalScrollBar()->setRange(0, std::max(0, static_cast<int>(height) - viewport()->height()));
}

void LineageView::setZoom(double zoom, const QPointF& anchor)
{
    const double before = zoom_;
    zoom_ = std::clamp(zoom, min_zoom, max_zoom);
    fitted_ = false;
    updateScrollBars();
    const double ratio = zoom_ / before;
    const auto keep = [ratio](QScrollBar* bar, double position, double margin) {
        bar->setValue(static_cast<int>(std::lround((bar->value() + position - margin) * ratio - position + margin)));
    };
    keep(horizontalScrollBar(), anchor.x(), lineage_metrics::margin_left);
    keep(verticalScrollBar(), anchor.y(), lineage_metrics::margin_top);
    viewport()->update();
}

void LineageView::reveal(const QString& id)
{
    const int index = indexOf(id);
    if (index < 0) {
        return;
    }
    const QPointF at = positionOf(index);
    const auto show = [](QScrollBar* bar, double position, double low, double high) {
        if (position < low || position > high) {
            bar->setValue(static_cast<int>(bar->value() + position - (low + high) / 2));
        }
    };
    show(horizontalScrollBar(), at.x(), lineage_metrics::margin_left, viewport()->width() - 2 * grid);
    show(verticalScrollBar(), at.y(), lineage_metrics::margin_top, viewport()->height() - 2 * grid);
}

int LineageView::indexOf(const QString& id) const
{
    const Candidate* candidate = session_->candidate(id);
    const int index = candidate ? static_cast<int>(candidate - session_->snapshot().candidates.data()) : -1;
    return index < static_cast<int>(layout_.nodes.size()) ? index : -1;
}

int LineageView::indexAt(const QPointF& position) const
{
    int found = -1;
    double nearest = grab_distance;
    for (std::size_t i = 0; i < layout_.nodes.size(); ++i) {
        const QPointF away = positionOf(static_cast<int>(i)) - position;
        if (const double distance = std::hypot(away.x(), away.y()); distance <= nearest) {
            nearest = distance;
            found = static_cast<int>(i);
        }
    }
    return found;
}

void LineageView::resizeEvent(QResizeEvent* event)
{
    QAbstractScrollArea::resizeEvent(event);
    if (fitted_) {
        fit();
    }
    updateScrollBars();
}

void LineageView::mousePressEvent(QMouseEvent* event)
{
    if (event->button() != Qt::LeftButton) {
        return;
    }
    pressed_ = true;
    panning_ = false;
    press_ = event->position();
    press_scroll_ = {horizontalScrollBar()->value(), verticalScrollBar()->value()};
}

void LineageView::mouseMoveEvent(QMouseEvent* event)
{
    if (pressed_) {
        const QPointF moved = event->position() - press_;
        panning_ = panning_ || moved.manhattanLength() > grid;
        if (panning_) {
            viewport()->setCursor(Qt::ClosedHandCursor);
            horizontalScrollBar()->setValue(press_scroll_.x() - static_cast<int>(moved.x()));
            verticalScrollBar()->setValue(press_scroll_.y() - static_cast<int>(moved.y()));
        }
        return;
    }
    viewport()->setCursor(indexAt(event->position()) >= 0 ? Qt::PointingHandCursor : Qt::ArrowCursor);
}

void LineageView::mouseReleaseEvent(QMouseEvent* event)
{
    if (event->button() != Qt::LeftButton || !pressed_) {
        return;
    }
    pressed_ = false;
    viewport()->setCursor(Qt::ArrowCursor);
    if (panning_) {
        return;
    }
    const int index = indexAt(event->position());
    if (index < 0) {
        return;
    }
    const QString id = QString::fromStdString(session_->snapshot().candidates[static_cast<std::size_t>(index)].id);
    if (event->modifiers().testFlag(Qt::ControlModifier)) {
        session_->compareWith(id);
    } else {
        session_->select(id);
    }
}

void LineageView::mouseDoubleClickEvent(QMouseEvent* event)
{
    if (const int index = indexAt(event->position()); index >= 0) {
        session_->openSource(
            QString::fromStdString(session_->snapshot().candidates[static_cast<std::size_t>(index)].id));
    }
}

void LineageView::wheelEvent(QWheelEvent* event)
{
    if (event->modifiers().testFlag(Qt::ControlModifier)) {
        setZoom(zoom_ * std::pow(zoom_step, event->angleDelta().y() / 120.0), event->position());
        event->accept();
        return;
    }
    QAbstractScrollArea::wheelEvent(event);
}

void LineageView::walk(int key, bool second)
{
    int from = indexOf(second && !session_->secondary().isEmpty() ? session_->secondary() : session_->primary());
    if (from < 0) {
        if (!layout_.nodes.empty()) {
            session_->select(QString::fromStdString(session_->snapshot().candidates.front().id));
        }
        return;
    }
    const LineageLayout::Node& node = layout_.nodes[static_cast<std::size_t>(from)];
    int to = from;
    switch (key) {
        case Qt::Key_Left:
            to = node.parents.empty() ? from : node.parents.front();
            break;
        case Qt::Key_Right:
            to = node.children.empty() ? from : node.children.front();
            break;
        case Qt::Key_Up:
            to = layout_.sibling(from, -1);
            break;
        case Qt::Key_Down:
            to = layout_.sibling(from, 1);
            break;
        default:
            break;
    }
    if (to == from) {
        return;
    }
    const QString id = QString::fromStdString(session_->snapshot().candidates[static_cast<std::size_t>(to)].id);
    if (second) {
        session_->compareWith(id);
    } else {
        session_->select(id);
    }
}

void LineageView::keyPressEvent(QKeyEvent* event)
{
    const QPointF centre(viewport()->width() / 2.0, viewport()->height() / 2.0);
    switch (event->key()) {
        case Qt::Key_Left:
        case Qt::Key_Right:
        case Qt::Key_Up:
        case Qt::Key_Down:
            walk(event->key(), event->modifiers().testFlag(Qt::ShiftModifier));
            break;
        case Qt::Key_Plus:
        case Qt::Key_Equal:
            setZoom(zoom_ * zoom_step, centre);
            break;
        case Qt::Key_Minus:
            setZoom(zoom_ / zoom_step, centre);
            break;
        case Qt::Key_F:
            fit();
            break;
        case Qt::Key_Return:
        case Qt::Key_Enter:
            session_->openSource(session_->primary());
            break;
        default:
            QAbstractScrollArea::keyPressEvent(event);
            return;
    }
    event->accept();
}

bool LineageView::viewportEvent(QEvent* event)
{
    if (event->type() == QEvent::ToolTip) {
        auto* help = static_cast<QHelpEvent*>(event);
        const int index = indexAt(help->pos());
        if (index >= 0) {
            QToolTip::showText(help->globalPos(),
                               tooltip(session_->snapshot().candidates[static_cast<std::size_t>(index)]), viewport());
        } else {
            QToolTip::hideText();
        }
        return true;
    }
    return QAbstractScrollArea::viewportEvent(event);
}

QString LineageView::tooltip(const Candidate& candidate) const
{
    QStringList lines;
    lines << QStringLiteral("%1 · %2").arg(QString::fromStdString(candidate.id), standingText(candidate));
    if (candidate.evaluation) {
        if (const auto speedup = speedupOf(*candidate.evaluation)) {
            lines << QStringLiteral("%1× %2").arg(figureText(*speedup), session_->timesNote()).trimmed();
        }
        if (!candidate.evaluation->message.empty()) {
            lines << QString::fromStdString(candidate.evaluation->message);
        }
    }
    if (!candidate.summary.empty()) {
        lines << QString::fromStdString(candidate.summary);
    }
    if (const Decision* decision = lastDecisionOn(session_->snapshot().decisions, candidate.id)) {
        lines << decisionText(decision);
    }
    return lines.join(QLatin1Char('\n'));
}

}  // namespace cuco::ui
