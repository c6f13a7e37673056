// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>

class QAction;
class QPushButton;

namespace cuco::ui {

/// What the window shows while no run is open. Enter starts a new run.
class StartPage : public QWidget {
    Q_OBJECT

public:
    StartPage(QAction* new_run, QAction* open, QAction* open_demo, QWidget* parent = nullptr);

    void refresh();

Q_SIGNALS:
    void fileChosen(const QString& path);

private:
    QPushButton* new_run_;
    QWidget* recent_;
};

}  // namespace cuco::ui
