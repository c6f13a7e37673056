// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QList>

class QAction;
class QMainWindow;
class QMenu;

namespace cuco::ui {

/// The window's actions with their texts, icons and keys, in the menu bar. What they do is connected by the
/// window.
struct MainActions {
    explicit MainActions(QMainWindow* window);

    QAction *new_run, *open, *open_trace, *open_demo, *api_keys, *close_run, *quit;
    QAction *start, *pause, *stop;
    QAction *promote, *reject, *undo, *open_source, *edit_copy;
    QAction *select_best, *compare_parent, *compare_best, *compare_baseline, *end_comparison;
    QAction *filter, *logarithmic, *palette, *shortcuts, *about;
    QAction *system_colors, *light_colors, *dark_colors;
    QList<QAction*> tabs;  ///< in the order of the tabs
    QMenu *recent_menu, *view_menu;

private:
    void makeFileMenu(QMainWindow* window);
    void makeRunMenu(QMainWindow* window);
    void makeCandidateMenu(QMainWindow* window);
    void makeViewMenu(QMainWindow* window);
    void makeHelpMenu(QMainWindow* window);
};

}  // namespace cuco::ui
