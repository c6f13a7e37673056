// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QFormLayout>

class QHBoxLayout;
class QLabel;
class QPushButton;

namespace cuco::ui {

inline constexpr int least_field_width = 352;

/// A form without margins whose fields grow.
QFormLayout* makeForm(QWidget* parent);
/// A field with a button behind it.
QHBoxLayout* withButton(QWidget* field, QPushButton* button);
/// A row whose field is a layout; the label's key goes to `buddy`.
void addRow(QFormLayout* form, const QString& text, QLayout* row, QWidget* buddy);
/// Makes room for a wrapped text as wide as the narrowest field: forms do not ask for it.
void fitHeight(QLabel* label);

/// Shows or hides the row that has the widget in it, also within a layout.
void setRowVisible(QFormLayout* form, QWidget* field, bool visible);

}  // namespace cuco::ui
