// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/shell/screenshot.h"

#include "ui/shell/error_bar.h"
#include "ui/shell/main_window.h"
#include "ui/views/timeline_window.h"

#include <QAction>
#include <QCoreApplication>
#include <QDialog>
#include <QElapsedTimer>
#include <QEventLoop>
#include <QPixmap>
#include <QThread>
#include <QThreadPool>

#include <map>

namespace cuco::ui {

namespace {

constexpr int settle_ms = 400;  // the timers that gather changes before a repaint are shorter

QString translated(const char* text)
{
    return QCoreApplication::translate("Screenshot", text);
}

std::unexpected<Error> problem(const QString& what, const QString& remedy)
{
    return failure(what.toStdString(), {}, remedy.toStdString());
}

const std::map<QString, Tab>& tabsByName()
{
    static const std::map<QString, Tab> tabs{
        {QStringLiteral("population"), Tab::population},
        {QStringLiteral("compare"), Tab::population},
        {QStringLiteral("archive"), Tab::archive},
        {QStringLiteral("diff"), Tab::diff},
        {QStringLiteral("edit"), Tab::diff},
        {QStringLiteral("timeline"), Tab::timeline},
        {QStringLiteral("llm"), Tab::traces},
        {QStringLiteral("notes"), Tab::notes},
        {QStringLiteral("log"), Tab::log},
    };
    return tabs;
}

void settle()
{
    QThreadPool::globalInstance()->waitForDone();
    QElapsedTimer timer;
    timer.start();
    while (timer.elapsed() < settle_ms) {
        QCoreApplication::processEvents(QEventLoop::AllEvents, 20);
        QThread::msleep(5);
    }
}

Result<void> selectIn(MainWindow& window, const ScreenshotRequest& request)
{
    RunSession& session = *window.session();
    const QStringList ids = request.select.split(QLatin1Char(','), Qt::SkipEmptyParts);
    for (const QString& id : ids) {
        if (!session.candidate(id) && !session.evaluation(id)) {
            return problem(translated("The run has no candidate %1.").arg(id),
                           translated("Choose an id that the table shows."));
        }
    }
    if (!ids.isEmpty()) {
        session.select(ids[0]);
    }
    if (ids.size() > 1) {
        session.compareWith(ids[1]);
    } else if (request.view == QStringLiteral("compare")) {
        window.actions().compare_parent->trigger();
        if (session.secondary().isEmpty()) {
            window.actions().compare_baseline->trigger();
        }
        if (session.secondary().isEmpty()) {
            return problem(translated("There is nothing to compare with."),
                           translated("Give two candidates, as in --select c3,c7."));
        }
    }
    return {};
}

Result<void> save(QWidget& shown, const QString& output)
{
    settle();
    const QPixmap picture = shown.grab();
    if (picture.isNull() || !picture.save(output)) {
        return problem(translated("The picture cannot be written to %1.").arg(output),
                       translated("Choose another file, ending in .png."));
    }
    return {};
}

/// A trace that belongs to no run, or what is said where it cannot be read.
Result<void> takeTrace(const ScreenshotRequest& request)
{
    if (request.run_file.isEmpty()) {
        return problem(translated("The view trace shows a trace, and none was given."),
                       translated("Give a .json, .json.gz or .sqlite file."));
    }
    TimelineWindow window(request.run_file);
    window.resize(request.size);
    window.show();
    return save(window, request.output);
}

}  // namespace

QStringList screenshotViews()
{
    QStringList names{QStringLiteral("start"), QStringLiteral("new-run"), QStringLiteral("lineage"),
                      QStringLiteral("inspector"), QStringLiteral("trace")};
    for (const auto& [name, tab] : tabsByName()) {
        names << name;
    }
    names.sort();
    return names;
}

Result<void> takeScreenshot(const ScreenshotRequest& request)
{
    if (!screenshotViews().contains(request.view)) {
        return problem(translated("There is no view %1.").arg(request.view),
                       translated("Choose one of %1.").arg(screenshotViews().join(QStringLiteral(", "))));
    }
    if (request.view == QStringLiteral("trace")) {
        return takeTrace(request);
    }
    MainWindow window;
    window.nodes().start();
    window.resize(request.size);
    window.show();
    QWidget* shown = &window;
    const bool needs_run = request.view != QStringLiteral("start") && request.view != QStringLiteral("new-run");
    if (request.run_file.isEmpty() && needs_run) {
        return problem(translated("The view %1 shows a run, and none was given.").arg(request.view),
                       translated("Give a .cuco file."));
    }
    if (!request.run_file.isEmpty() && needs_run) {
        auto run = window.runs().open(request.run_file);
        if (!run) {
            return std::unexpected(run.error());
        }
        window.showRun(*run);
    }
    if (const auto tab = tabsByName().find(request.view); tab != tabsByName().end()) {
        window.showTab(tab->second);
    }
    if (auto selected = selectIn(window, request); needs_run && !selected) {
        return selected;
    }
    if (request.view == QStringLiteral("edit")) {
        window.actions().edit_copy->trigger();
    }
    if (request.view == QStringLiteral("new-run")) {
        settle();
        window.actions().new_run->trigger();
        shown = window.findChild<QDialog*>(QStringLiteral("newRun"));
        if (!shown) {
            return problem(window.findChild<ErrorBar*>()->text(), {});
        }
    } else if (QWidget* part = window.part(request.view)) {
        shown = part;
    }
    return save(*shown, request.output);
}

}  // namespace cuco::ui
