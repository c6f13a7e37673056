// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/population/population_view.h"
#include "ui/shell/main_window.h"
#include "ui/shell/run_list.h"
#include "ui/views/edit/throw_away.h"
#include "ui/views/notes_view.h"
#include "ui/views/source_tab.h"

#include <QCloseEvent>
#include <QFileInfo>
#include <QGuiApplication>
#include <QSettings>

namespace cuco::ui {

QStringList MainWindow::unsavedIn(const RunModel* run) const
{
    QStringList unsaved;
    if (notes_->isUnsaved(run)) {
        unsaved << tr("notes");
    }
    for (const QString& id : sources_->unsaved(run)) {
        unsaved << tr("a copy of %1").arg(id);
    }
    return unsaved;
}

void MainWindow::closeRun()
{
    RunModel* closing = session_.run();
    if (!closing || !mayThrowAway(this, unsavedIn(closing))) {
        return;
    }
    RunModel* next = nullptr;
    for (const auto& run : runs_.all()) {
        next = run.get() != closing ? run.get() : next;
    }
    showRun(next);
    // The engine cancels what is in flight, which takes a moment.
    QGuiApplication::setOverrideCursor(Qt::WaitCursor);
    runs_.close(closing);
    QGuiApplication::restoreOverrideCursor();
    run_list_->setCurrentRun(next);
}

void MainWindow::closeEvent(QCloseEvent* event)
{
    QStringList unsaved;
    for (const auto& run : runs_.all()) {
        for (const QString& what : unsavedIn(run.get())) {
            unsaved << tr("%1 of %2").arg(what, QFileInfo(run->path()).completeBaseName());
        }
    }
    if (!mayThrowAway(this, unsaved)) {
        event->ignore();
        return;
    }
    QSettings settings;
    settings.setValue(QStringLiteral("window/geometry"), saveGeometry());
    settings.setValue(QStringLiteral("window/state"), saveState());
    settings.setValue(QStringLiteral("window/inspector"), inspector_wanted_);
    settings.setValue(QStringLiteral("window/population"), population_->saveState());
    QMainWindow::closeEvent(event);
}

}  // namespace cuco::ui
