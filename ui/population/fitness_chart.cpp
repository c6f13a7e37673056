// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/population/fitness_chart.h"

#include "ui/style/theme.h"

#include <QChart>
#include <QGraphicsLayout>
#include <QHelpEvent>
#include <QKeyEvent>
#include <QLineSeries>
#include <QLogValueAxis>
#include <QMouseEvent>
#include <QToolTip>
#include <QValueAxis>

#include <algorithm>
#include <chrono>
#include <cmath>

namespace cuco::ui {

namespace {

constexpr double grab_distance = 10;

double niceStep(double range, int steps)
{
    const double raw = range / std::max(steps, 1);
    const double magnitude = std::pow(10, std::floor(std::log10(raw)));
    for (const double factor : {1.0, 2.0, 5.0, 10.0}) {
        if (raw <= factor * magnitude) {
            return factor * magnitude;
        }
    }
    return 10 * magnitude;
}

}  // namespace

FitnessChart::FitnessChart(RunSession* session, QWidget* parent)
    : QChartView(parent),
      session_(session),
      best_(new QLineSeries(this)),
      baseline_(new QLineSeries(this)),
      bound_(new QLineSeries(this)),
      x_axis_(new QValueAxis(this)),
      linear_axis_(new QValueAxis(this)),
      log_axis_(new QLogValueAxis(this))
{
    setFrameShape(QFrame::NoFrame);
    setFocusPolicy(Qt::StrongFocus);
    setRenderHint(QPainter::Antialiasing);
    setViewportUpdateMode(QGraphicsView::FullViewportUpdate);
    viewport()->setMouseTracking(true);
    setMinimumHeight(16 * grid);
    setAccessibleName(tr("Time by proposal"));

    chart()->setMargins(QMargins(grid / 2, grid / 2, grid, grid / 2));
    chart()->setBackgroundRoundness(0);
    chart()->layout()->setContentsMargins(0, 0, 0, 0);
    chart()->legend()->hide();
    chart()->addAxis(x_axis_, Qt::AlignBottom);
    chart()->addAxis(linear_axis_, Qt::AlignLeft);
    for (QLineSeries* series : {bound_, baseline_, best_}) {
        chart()->addSeries(series);
        series->attachAxis(x_axis_);
        series->attachAxis(linear_axis_);
    }
    x_axis_->setTitleText(tr("Proposal"));
    x_axis_->setLabelFormat(QStringLiteral("%.0f"));
    x_axis_->setTickType(QValueAxis::TicksDynamic);
    linear_axis_->setTickType(QValueAxis::TicksDynamic);
    log_axis_->setBase(10);
    log_axis_->setMinorTickCount(8);

    rebuild_timer_.setSingleShot(true);
    rebuild_timer_.setInterval(std::chrono::milliseconds(100));
    connect(&rebuild_timer_, &QTimer::timeout, this, &FitnessChart::rebuild);
    connect(session_, &RunSession::runReset, this, &FitnessChart::rebuild);
    connect(session_, &RunSession::baselinesChanged, this, [this] { rebuild_timer_.start(); });
    connect(session_, &RunSession::candidateChanged, this, [this] { rebuild_timer_.start(); });
    connect(session_, &RunSession::selectionChanged, viewport(), qOverload<>(&QWidget::update));
    applyColors();
    rebuild();
}

void FitnessChart::applyColors()
{
    const Colors colors = colorsFor(palette());
    setBackgroundBrush(colors.background);
    chart()->setBackgroundBrush(colors.background);
    chart()->setBackgroundPen(Qt::NoPen);
    for (QAbstractAxis* axis : std::initializer_list<QAbstractAxis*>{x_axis_, linear_axis_, log_axis_}) {
        axis->setLabelsBrush(colors.secondary);
        axis->setLabelsFont(monoFont(-2));
        axis->setTitleBrush(colors.secondary);
        axis->setTitleFont(textFont(-1));
        axis->setLinePen(QPen(colors.border));
        axis->setGridLinePen(QPen(colors.grid_line));
        axis->setMinorGridLineVisible(false);
    }
    x_axis_->setGridLineVisible(false);
    best_->setPen(QPen(colors.text, 1.5));
    baseline_->setPen(QPen(colors.readable(colors.wait), 1.5, Qt::DashLine));
    bound_->setPen(QPen(colors.readable(colors.reference), 1.5, Qt::DotLine));
}

void FitnessChart::changeEvent(QEvent* event)
{
    QChartView::changeEvent(event);
    if (event->type() == QEvent::PaletteChange) {
        applyColors();
    }
}

QList<QPointF> FitnessChart::bestSoFar() const
{
    return best_->points();
}

void FitnessChart::rebuild()
{
    points_.clear();
    failed_.clear();
    baseline_us_ = bound_us_ = 0;
    baseline_name_.clear();
    const RunSnapshot& snapshot = session_->snapshot();
    for (const Candidate& candidate : snapshot.candidates) {
        if (!candidate.evaluation) {
            continue;
        }
        const auto us = timeUsOf(*candidate.evaluation);
        if (!us || !candidate.evaluation->verified()) {
            failed_.push_back(candidate.number);
            continue;
        }
        points_.push_back({QString::fromStdString(candidate.id), candidate.number, candidate.island, *us});
    }
    for (const Baseline& baseline : snapshot.baselines) {
        const auto us = baseline.evaluation.timeUs();
        if (us && baseline.evaluation.verified() && (baseline_us_ <= 0 || *us < baseline_us_)) {
            baseline_us_ = *us;
            baseline_name_ = QString::fromStdString(baseline.name);
            bound_us_ = baseline.evaluation.boundUs().value_or(0);
        }
    }

    QList<QPointF> best;
    double lowest = 0;
    for (const Point& point : points_) {
        if (best.isEmpty() || point.us.value < lowest) {
            if (!best.isEmpty()) {
                best << QPointF(point.number, lowest);
            }
            lowest = point.us.value;
            best << QPointF(point.number, lowest);
        }
    }
    if (!best.isEmpty() && !snapshot.candidates.empty()) {
        best << QPointF(snapshot.candidates.back().number, lowest);
    }
    best_->replace(best);
    setRanges();
    const QString title =
        session_->timesNote().isEmpty() ? tr("Median time, µs") : tr("Time, µs (%1)").arg(session_->timesNote());
    linear_axis_->setTitleText(title);
    log_axis_->setTitleText(title);
    viewport()->update();
}

void FitnessChart::setRanges()
{
    const auto& candidates = session_->snapshot().candidates;
    const double last = std::max(candidates.empty() ? 0 : candidates.back().number, 8);
    x_axis_->setRange(-0.5, last + 0.5);
    x_axis_->setTickAnchor(0);
    x_axis_->setTickInterval(std::max(1.0, niceStep(last, 8)));

    std::vector<double> highs, lows;
    for (const Point& point : points_) {
        highs.push_back(point.us.high);
        lows.push_back(point.us.low);
    }
    for (const double line : {baseline_us_, bound_us_}) {
        if (line > 0) {
            highs.push_back(line);
            lows.push_back(line);
        }
    }
    const double low = lows.empty() ? 0 : *std::min_element(lows.begin(), lows.end());
    double high = highs.empty() ? 1 : *std::max_element(highs.begin(), highs.end());
    // A candidate many times slower than the baseline would press everything else flat; it is drawn at the edge.
    if (baseline_us_ > 0 && !logarithmic_) {
        high = std::min(high, 2.5 * baseline_us_);
    }
    const double span = std::max(high - low, high * 0.05);
    if (logarithmic_) {
        log_axis_->setRange(std::max(low * 0.85, 1e-3), high * 1.2);
        log_axis_->setLabelFormat(QStringLiteral("%g"));
    } else {
        linear_axis_->setRange(std::max(0.0, low - 0.12 * span), high + 0.12 * span);
        linear_axis_->setTickAnchor(0);
        const double step = niceStep(1.24 * span, 6);
        linear_axis_->setTickInterval(step);
        linear_axis_->setLabelFormat(QStringLiteral("%.%1f").arg(step < 1 ? (step < 0.1 ? 2 : 1) : 0));
    }
    const QList<qreal> ends{-0.5, last + 0.5};
    const auto horizontal = [&](QLineSeries* series, double us) {
        series->replace(us > 0 ? QList<QPointF>{{ends[0], us}, {ends[1], us}} : QList<QPointF>{});
    };
    horizontal(baseline_, baseline_us_);
    horizontal(bound_, bound_us_);
}

void FitnessChart::setLogarithmic(bool logarithmic)
{
    if (logarithmic == logarithmic_) {
        return;
    }
    logarithmic_ = logarithmic;
    QAbstractAxis* from = logarithmic ? static_cast<QAbstractAxis*>(linear_axis_) : log_axis_;
    QAbstractAxis* to = logarithmic ? static_cast<QAbstractAxis*>(log_axis_) : linear_axis_;
    for (QLineSeries* series : {bound_, baseline_, best_}) {
        series->detachAxis(from);
    }
    chart()->removeAxis(from);
    from->setParent(this);
    chart()->addAxis(to, Qt::AlignLeft);
    for (QLineSeries* series : {bound_, baseline_, best_}) {
        series->attachAxis(to);
    }
    setRanges();
    applyColors();
    viewport()->update();
}

double FitnessChart::xToPixel(double number) const
{
    return chart()->mapToPosition(QPointF(number, linear_axis_->min()), best_).x();
}

double FitnessChart::yToPixel(double us) const
{
    const QRectF plot = chart()->plotArea();
    return std::clamp(chart()->mapToPosition(QPointF(0, us), best_).y(), plot.top() + 3, plot.bottom());
}

QPointF FitnessChart::positionOf(const QString& id) const
{
    for (const Point& point : points_) {
        if (point.id == id) {
            return {xToPixel(point.number), yToPixel(point.us.value)};
        }
    }
    return {};
}

const FitnessChart::Point* FitnessChart::pointAt(const QPointF& position) const
{
    const Point* found = nullptr;
    double nearest = grab_distance;
    for (const Point& point : points_) {
        const double distance =
            std::hypot(xToPixel(point.number) - position.x(), yToPixel(point.us.value) - position.y());
        if (distance <= nearest) {
            nearest = distance;
            found = &point;
        }
    }
    return found;
}

void FitnessChart::mousePressEvent(QMouseEvent* event)
{
    setFocus(Qt::MouseFocusReason);
    if (event->button() != Qt::LeftButton) {
        return;
    }
    if (const Point* point = pointAt(event->position())) {
        if (event->modifiers().testFlag(Qt::ControlModifier)) {
            session_->compareWith(point->id);
        } else {
            session_->select(point->id);
        }
    }
}

void FitnessChart::mouseMoveEvent(QMouseEvent* event)
{
    viewport()->setCursor(pointAt(event->position()) ? Qt::PointingHandCursor : Qt::ArrowCursor);
}

void FitnessChart::keyPressEvent(QKeyEvent* event)
{
    const bool back = event->key() == Qt::Key_Left, forward = event->key() == Qt::Key_Right;
    if (event->key() == Qt::Key_L && event->modifiers() == Qt::NoModifier) {
        setLogarithmic(!logarithmic_);
        return;
    }
    if (!(back || forward) || points_.empty()) {
        QChartView::keyPressEvent(event);
        return;
    }
    const auto selected = std::find_if(points_.begin(), points_.end(),
                                       [this](const Point& point) { return point.id == session_->primary(); });
    if (selected == points_.end()) {
        session_->select(back ? points_.back().id : points_.front().id);
    } else if (back && selected != points_.begin()) {
        session_->select(std::prev(selected)->id);
    } else if (forward && std::next(selected) != points_.end()) {
        session_->select(std::next(selected)->id);
    }
}

bool FitnessChart::viewportEvent(QEvent* event)
{
    if (event->type() == QEvent::ToolTip) {
        auto* help = static_cast<QHelpEvent*>(event);
        if (const Point* point = pointAt(help->pos())) {
            const QString width = halfWidthText(point->us);
            const QString text =
                QStringLiteral("%1 · %2%3 µs")
                    .arg(point->id, figureText(point->us), width.isEmpty() ? QString() : QStringLiteral(" ± ") + width);
            QToolTip::showText(help->globalPos(), (text + QLatin1Char(' ') + session_->timesNote()).trimmed(), this);
        } else {
            QToolTip::hideText();
        }
        return true;
    }
    return QChartView::viewportEvent(event);
}

}  // namespace cuco::ui
