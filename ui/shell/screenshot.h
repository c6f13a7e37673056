// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/error.h"

#include <QSize>
#include <QString>
#include <QStringList>

namespace cuco::ui {

struct ScreenshotRequest {
    QString output;    ///< a file whose ending names the format
    QString view;      ///< one of screenshotViews()
    QString select;    ///< candidate ids, comma separated; empty: the best; two are compared
    QString run_file;  ///< may be empty for "start" and "new-run"
    QSize size{1280, 800};
};

QStringList screenshotViews();
/// Renders one view of the window into a file. Needs a QApplication with the theme applied.
Result<void> takeScreenshot(const ScreenshotRequest& request);

}  // namespace cuco::ui
