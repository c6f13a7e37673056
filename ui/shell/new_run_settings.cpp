// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/shell/new_run_settings.h"

#include "ui/shell/error_text.h"

#include <QCoreApplication>
#include <QDir>
#include <QFileInfo>
#include <QSettings>
#include <QStandardPaths>

namespace cuco::ui {

namespace {

QString translated(const char* text)
{
    return QCoreApplication::translate("NewRun", text);
}

/// The folder or the nearest one above it that exists can be written to.
bool canHold(const QString& folder)
{
    QFileInfo nearest(folder);
    while (!nearest.exists() && !nearest.isRoot()) {
        nearest.setFile(nearest.absolutePath());
    }
    return nearest.isDir() && nearest.isWritable();
}

QString pathProblem(const QString& path)
{
    if (path.isEmpty()) {
        return translated("Choose where to save the run.");
    }
    const QFileInfo file(path);
    if (file.isRelative()) {
        return translated("Give the whole path of the file, beginning with /.");
    }
    if (file.suffix() != QStringLiteral("cuco")) {
        return translated("The file's name must end in .cuco.");
    }
    if (file.exists()) {
        return translated("%1 exists already. Choose another name.").arg(file.fileName());
    }
    if (!canHold(file.absolutePath())) {
        return translated("Files cannot be written to %1. Choose another folder.")
            .arg(QDir::toNativeSeparators(file.absolutePath()));
    }
    return {};
}

}  // namespace

QString runFolder()
{
    const QString last = QSettings().value(QStringLiteral("newRun/folder")).toString();
    if (!last.isEmpty() && QFileInfo(last).isDir()) {
        return last;
    }
    return QDir(QStandardPaths::writableLocation(QStandardPaths::DocumentsLocation)).filePath(QStringLiteral("CUCo"));
}

QString freeRunPath(const QString& folder, const QString& name)
{
    const QDir directory(folder);
    QString path = directory.filePath(name + QStringLiteral(".cuco"));
    for (int number = 2; QFileInfo::exists(path); ++number) {
        path = directory.filePath(QStringLiteral("%1-%2.cuco").arg(name).arg(number));
    }
    return path;
}

QString newRunProblem(const RunConfig& config, const Workload* workload, const NodeProbe* probe, const QString& path)
{
    if (!workload) {
        return translated("There is no workload to run. Install the product's workloads folder.");
    }
    if (probe && !probe->usable) {
        QString problem = translated("The node %1 cannot be used.").arg(QString::fromStdString(config.node));
        if (!probe->problems.empty()) {
            problem = sentence(probe->problems.front());
        }
        return problem;
    }
    if (probe && probe->max_ranks > 0 && config.ranks > probe->max_ranks) {
        return translated("The node %1 has room for %2 ranks. Choose fewer.")
            .arg(QString::fromStdString(config.node))
            .arg(probe->max_ranks);
    }
    if (const auto valid = validate(config); !valid) {
        return sentence(valid.error());
    }
    return pathProblem(path);
}

}  // namespace cuco::ui
