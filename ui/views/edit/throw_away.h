// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QStringList>

class QWidget;

namespace cuco::ui {

/// Asks whether what a person wrote, and neither saved nor submitted, may be lost; not when there is nothing.
bool mayThrowAway(QWidget* window, const QStringList& unsaved);

}  // namespace cuco::ui
