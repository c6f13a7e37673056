// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/engine/run_session.h"
#include "ui/population/candidate_format.h"

#include <QChartView>
#include <QTimer>

#include <vector>

class QLineSeries;
class QLogValueAxis;
class QValueAxis;

namespace cuco::ui {

/// Time over the number of the proposal: each candidate with its interval, the best so far, and the lines of
/// the baseline and of the bound. A click selects, Ctrl+click compares, L changes the scale.
class FitnessChart : public QChartView {
    Q_OBJECT

public:
    explicit FitnessChart(RunSession* session, QWidget* parent = nullptr);

    void setLogarithmic(bool logarithmic);
    bool isLogarithmic() const { return logarithmic_; }
    /// Best time in µs after each proposal, as drawn; first proposal first.
    QList<QPointF> bestSoFar() const;
    QPointF positionOf(const QString& id) const;  ///< in the viewport; null when it has no time

protected:
    void drawForeground(QPainter* painter, const QRectF& rect) override;
    void mousePressEvent(QMouseEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    bool viewportEvent(QEvent* event) override;
    void changeEvent(QEvent* event) override;

private:
    struct Point {
        QString id;
        int number = 0, island = 0;
        Figure us;
    };

    void rebuild();
    void setRanges();
    void applyColors();
    const Point* pointAt(const QPointF& position) const;
    void drawPoints(QPainter& painter, const QRectF& plot) const;
    void drawLineLabels(QPainter& painter, const QRectF& plot) const;
    double xToPixel(double number) const;
    double yToPixel(double us) const;

    RunSession* session_;
    std::vector<Point> points_;
    std::vector<int> failed_;  ///< numbers of the candidates without a time
    double baseline_us_ = 0, bound_us_ = 0;
    QString baseline_name_;
    QLineSeries *best_, *baseline_, *bound_;
    QValueAxis *x_axis_, *linear_axis_;
    QLogValueAxis* log_axis_;
    QTimer rebuild_timer_;
    bool logarithmic_ = false;
};

}  // namespace cuco::ui
