// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/population/population_view.h"
#include "ui/shell/main_window.h"
#include "ui/shell/run_list.h"
#include "ui/views/notes_view.h"

#include <QCloseEvent>
#include <QFileInfo>
#include <QGuiApplication>
#include <QMessageBox>
#include <QPushButton>
#include <QSettings>

namespace cuco::ui {

QStringList MainWindow::unsavedIn(const RunModel* run) const
{
    QStringList unsaved;
    if (notes_->isUnsaved(run)) {
        unsaved << tr("notes");
    }
    return unsaved;
}

bool MainWindow::mayLose(const QStringList& unsaved)
{
    if (unsaved.isEmpty()) {
        return true;
    }
    QMessageBox box(QMessageBox::Warning, tr("Throw away what you wrote?"),
                    tr("This is not saved:\n\n%1").arg(unsaved.join(QLatin1Char('\n'))), QMessageBox::Cancel, this);
    box.setObjectName(QStringLiteral("unsaved"));
    box.setTextFormat(Qt::PlainText);
    QPushButton* lose = box.addButton(tr("&Throw away"), QMessageBox::DestructiveRole);
    box.setDefaultButton(QMessageBox::Cancel);
    box.exec();
    return box.clickedButton() == lose;
}

void MainWindow::closeRun()
{
    RunModel* closing = session_.run();
    if (!closing || !mayLose(unsavedIn(closing))) {
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
    if (!mayLose(unsaved)) {
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
