// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/engine/run_session.h"
#include "ui/population/lineage_layout.h"
#include "ui/style/theme.h"

#include <QAbstractScrollArea>
#include <QTimer>

namespace cuco::ui {

/// Pixels at zoom 1; the margins hold the names of lanes and generations and do not zoom.
namespace lineage_metrics {
inline constexpr double column = 5 * grid, row = 3 * grid;
inline constexpr double margin_left = 9 * grid, margin_top = 3 * grid;
}  // namespace lineage_metrics

/// The lineage as a tree: a lane an island, a column a generation. Only what is in the viewport is painted.
///
/// Click selects, Ctrl+click compares; arrow keys walk to parent, child and neighbours, with Shift they move
/// the second candidate of a comparison. Ctrl+wheel or + and − zoom, drag pans, F fits.
class LineageView : public QAbstractScrollArea {
    Q_OBJECT

public:
    explicit LineageView(RunSession* session, QWidget* parent = nullptr);

    const LineageLayout& lineage() const { return layout_; }
    QPointF positionOf(int index) const;  ///< a node's centre in the viewport
    double zoom() const { return zoom_; }
    void fit();

protected:
    void paintEvent(QPaintEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void mouseReleaseEvent(QMouseEvent* event) override;
    void mouseDoubleClickEvent(QMouseEvent* event) override;
    void wheelEvent(QWheelEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    bool viewportEvent(QEvent* event) override;

private:
    void rebuild();
    void updateScrollBars();
    void setZoom(double zoom, const QPointF& anchor);
    void reveal(const QString& id);
    void walk(int key, bool second);
    int indexAt(const QPointF& position) const;
    int indexOf(const QString& id) const;
    QString tooltip(const Candidate& candidate) const;

    double columnWidth() const;
    double rowHeight() const;
    void paintLanes(QPainter& painter, const Colors& colors) const;
    void paintEdges(QPainter& painter, const Colors& colors) const;
    void paintNodes(QPainter& painter, const Colors& colors) const;
    void paintNode(QPainter& painter, const Colors& colors, int index) const;

    RunSession* session_;
    LineageLayout layout_;
    QString best_;
    QTimer rebuild_timer_;
    double zoom_ = 1;
    double row_stretch_ = 1;  ///< fills the height when there are few rows
    bool fitted_ = true;      ///< follows the size until the person zooms
    QPointF press_;
    QPoint press_scroll_;
    bool panning_ = false, pressed_ = false;
};

}  // namespace cuco::ui
