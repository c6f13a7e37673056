// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QStringList>

namespace cuco::ui {

/// The run files opened last, newest first, kept in QSettings. Files that are gone are left out.
QStringList recentFiles();
void addRecentFile(const QString& path);
void removeRecentFile(const QString& path);

}  // namespace cuco::ui
