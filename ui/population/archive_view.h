// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/population/archive_model.h"

#include <QTimer>
#include <QWidget>

class QLabel;
class QTableView;

namespace cuco::ui {

/// The tab with the archive's map: where in the design space candidates verified, how fast the best are, and what
/// nobody has tried. A cell selects its fittest candidate.
class ArchiveView : public QWidget {
    Q_OBJECT

public:
    explicit ArchiveView(RunSession* session, QWidget* parent = nullptr);

    QTableView* map() const { return view_; }

private:
    void refresh();
    void showSelection();

    RunSession* session_;
    ArchiveModel* model_;
    QLabel* coverage_;
    QTableView* view_;
    QTimer refresh_timer_;
};

}  // namespace cuco::ui
