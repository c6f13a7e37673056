// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/engine/run_session.h"

#include <QWidget>

class QButtonGroup;
class QLabel;
class QLineEdit;
class QTableView;

namespace cuco::ui {

class CandidateFilter;
class CandidateTableModel;

/// The table with its filter box and verdict chips. Ctrl+click, or Shift with an arrow key, picks the second
/// candidate of a comparison.
class CandidateTable : public QWidget {
    Q_OBJECT

public:
    explicit CandidateTable(RunSession* session, QWidget* parent = nullptr);

    QTableView* view() const { return view_; }
    void focusFilter();

private:
    void addChips();
    void showCounts();
    void fitColumns();
    void showSelection();
    void compareAt(const QModelIndex& index);
    bool eventFilter(QObject* watched, QEvent* event) override;

    RunSession* session_;
    CandidateTableModel* model_;
    CandidateFilter* filter_;
    QTableView* view_;
    QLineEdit* words_;
    QButtonGroup* chips_;
    QLabel* empty_;
    bool syncing_ = false;
};

}  // namespace cuco::ui
