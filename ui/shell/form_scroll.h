// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QScrollArea>

namespace cuco::ui {

/// A form as high as it wants to be where there is room, and scrolled where there is not.
class FormScroll : public QScrollArea {
public:
    explicit FormScroll(QWidget* form, QWidget* parent = nullptr);

    QSize sizeHint() const override;
    QSize minimumSizeHint() const override;

private:
    bool eventFilter(QObject* watched, QEvent* event) override;
};

}  // namespace cuco::ui
