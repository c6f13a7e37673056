// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/shell/error_text.h"

namespace cuco::ui {

QString sentence(const Error& error)
{
    QString text = QString::fromStdString(error.what);
    if (!text.isEmpty() && !text.endsWith(QLatin1Char('.'))) {
        text += QLatin1Char('.');
    }
    if (!error.remedy.empty()) {
        text += QLatin1Char(' ') + QString::fromStdString(error.remedy);
    }
    return text;
}

}  // namespace cuco::ui
