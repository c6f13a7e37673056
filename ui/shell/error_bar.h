// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/error.h"

#include <QFrame>
#include <QList>

class QLabel;
class QPushButton;
class QToolButton;

namespace cuco::ui {

/// An error as a sentence with its remedy; stays until dismissed, then shows the next one.
class ErrorBar : public QFrame {
    Q_OBJECT

public:
    explicit ErrorBar(QWidget* parent = nullptr);

    void add(const Error& error);
    void dismiss();
    QString text() const;

private:
    void showFirst();
    void paintEvent(QPaintEvent* event) override;

    QList<Error> errors_;
    QLabel *sentence_, *details_, *count_;
    QPushButton* details_button_;
    QToolButton* dismiss_button_;
};

}  // namespace cuco::ui
