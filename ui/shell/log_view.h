// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/engine/run_session.h"

#include <QWidget>

class QComboBox;
class QLabel;
class QLineEdit;
class QTableView;

namespace cuco::ui {

class LogFilter;

/// The log with a level filter and a search box; follows its end while that is in sight.
class LogView : public QWidget {
    Q_OBJECT

public:
    explicit LogView(RunSession* session, QWidget* parent = nullptr);

private:
    void showEmptiness();
    void copySelection() const;

    LogFilter* filter_;
    QComboBox* level_;
    QLineEdit* words_;
    QTableView* table_;
    QLabel* empty_;
};

}  // namespace cuco::ui
