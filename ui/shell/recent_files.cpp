// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/shell/recent_files.h"

#include <QFileInfo>
#include <QSettings>

#include <algorithm>

namespace cuco::ui {

namespace {

constexpr qsizetype most_files = 10;
const QString key = QStringLiteral("recentFiles");

}  // namespace

QStringList recentFiles()
{
    QStringList files = QSettings().value(key).toStringList();
    files.erase(
        std::remove_if(files.begin(), files.end(), [](const QString& file) { return !QFileInfo::exists(file); }),
        files.end());
    return files;
}

void addRecentFile(const QString& path)
{
    QStringList files = QSettings().value(key).toStringList();
    files.removeAll(path);
    files.prepend(path);
    QSettings().setValue(key, files.mid(0, most_files));
}

void removeRecentFile(const QString& path)
{
    QStringList files = QSettings().value(key).toStringList();
    files.removeAll(path);
    QSettings().setValue(key, files);
}

}  // namespace cuco::ui
