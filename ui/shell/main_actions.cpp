// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/shell/main_actions.h"

#include "ui/style/theme.h"

#include <QAction>
#include <QActionGroup>
#include <QCoreApplication>
#include <QKeySequence>
#include <QMainWindow>
#include <QMenu>
#include <QMenuBar>

namespace cuco::ui {

namespace {

QString translated(const char* text)
{
    return QCoreApplication::translate("MainActions", text);
}

QAction* add(QMenu* menu, const char* text, const QKeySequence& keys = {}, const char* icon = nullptr)
{
    auto* action = menu->addAction(translated(text));
    action->setShortcut(keys);
    if (icon) {
        action->setIcon(themedIcon(QString::fromLatin1(icon)));
    }
    return action;
}

QMenu* addMenu(QMainWindow* window, const char* title)
{
    return window->menuBar()->addMenu(translated(title));
}

}  // namespace

MainActions::MainActions(QMainWindow* window)
{
    makeFileMenu(window);
    makeRunMenu(window);
    makeCandidateMenu(window);
    makeViewMenu(window);
    makeHelpMenu(window);
}

void MainActions::makeFileMenu(QMainWindow* window)
{
    QMenu* menu = addMenu(window, "&File");
    new_run = add(menu, "&New run…", QKeySequence::New, "new");
    open = add(menu, "&Open…", QKeySequence::Open, "open");
    open_trace = add(menu, "Open &trace…", QKeySequence(Qt::CTRL | Qt::SHIFT | Qt::Key_O), "timeline");
    recent_menu = menu->addMenu(translated("Open &recent"));
    open_demo = add(menu, "Open the &demo run", {}, "population");
    menu->addSeparator();
    api_keys = add(menu, "API &keys…");
    menu->addSeparator();
    close_run = add(menu, "&Close run", QKeySequence::Close, "close");
    quit = add(menu, "&Quit", QKeySequence::Quit);
    quit->setMenuRole(QAction::QuitRole);
}

void MainActions::makeRunMenu(QMainWindow* window)
{
    QMenu* menu = addMenu(window, "&Run");
    start = add(menu, "&Start", Qt::CTRL | Qt::Key_R, "play");
    pause = add(menu, "&Pause", Qt::CTRL | Qt::SHIFT | Qt::Key_R, "pause");
    stop = add(menu, "S&top", Qt::CTRL | Qt::Key_Period, "stop");
    start->setToolTip(translated("Begin, or go on with, the run"));
    pause->setToolTip(translated("Propose nothing new; what is in flight is finished"));
    stop->setToolTip(translated("Cancel what is in flight; it is evaluated again when the run goes on"));
}

void MainActions::makeCandidateMenu(QMainWindow* window)
{
    QMenu* menu = addMenu(window, "&Candidate");
    promote = add(menu, "&Promote…", Qt::CTRL | Qt::Key_P, "promote");
    reject = add(menu, "&Reject…", Qt::CTRL | Qt::Key_Backspace, "reject");
    undo = add(menu, "&Undo decision", QKeySequence::Undo, "undo");
    menu->addSeparator();
    open_source = add(menu, "Open &source", Qt::CTRL | Qt::Key_U, "source");
    edit_copy = add(menu, "Edit a &copy…", Qt::CTRL | Qt::SHIFT | Qt::Key_E, "edit");
    edit_copy->setToolTip(translated("Change its source and evaluate that as its child"));
    select_best = add(menu, "Select the &best", Qt::CTRL | Qt::Key_B);
    menu->addSeparator();
    compare_parent = add(menu, "Compare with its &parent", Qt::CTRL | Qt::Key_K, "compare");
    compare_best = add(menu, "Compare with the b&est", Qt::CTRL | Qt::SHIFT | Qt::Key_B);
    compare_baseline = add(menu, "Compare with the base&line", Qt::CTRL | Qt::SHIFT | Qt::Key_K);
    end_comparison = add(menu, "E&nd comparison", Qt::CTRL | Qt::Key_E);
    promote->setToolTip(translated("Prefer it as a parent"));
    reject->setToolTip(translated("Never use it as a parent"));
}

void MainActions::makeViewMenu(QMainWindow* window)
{
    view_menu = addMenu(window, "&View");
    const char* names[] = {"&Population", "&Archive", "&Diff", "&Timeline", "&LLM traces", "&Notes", "L&og"};
    const char* icons[] = {"population", "archive", "diff", "timeline", "traces", "notes", "log"};
    for (int i = 0; i < 7; ++i) {
        tabs << add(view_menu, names[i], Qt::CTRL | static_cast<Qt::Key>(Qt::Key_1 + i), icons[i]);
    }
    view_menu->addSeparator();
    filter = add(view_menu, "&Filter candidates", Qt::CTRL | Qt::SHIFT | Qt::Key_F, "search");
    logarithmic = add(view_menu, "Lo&garithmic time");
    logarithmic->setCheckable(true);
    view_menu->addSeparator();
    QMenu* colors = view_menu->addMenu(translated("&Colours"));
    auto* group = new QActionGroup(window);
    system_colors = add(colors, "Follow the &system");
    light_colors = add(colors, "&Light");
    dark_colors = add(colors, "&Dark");
    for (QAction* action : {system_colors, light_colors, dark_colors}) {
        action->setCheckable(true);
        group->addAction(action);
    }
}

void MainActions::makeHelpMenu(QMainWindow* window)
{
    QMenu* menu = addMenu(window, "&Help");
    palette = add(menu, "&Command palette…", Qt::CTRL | Qt::SHIFT | Qt::Key_P, "command");
    shortcuts = add(menu, "&Keys and mouse…", Qt::Key_F1);
    about = add(menu, "&About CUCo Desktop");
    about->setMenuRole(QAction::AboutRole);
}

}  // namespace cuco::ui
