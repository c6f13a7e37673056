// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/views/timeline/timeline_index.h"

#include <QWidget>

#include <array>
#include <functional>
#include <vector>

class QBoxLayout;
class QFrame;
class QLabel;
class QLineEdit;
class QScrollArea;

namespace cuco::ui {

class RunSession;
class TimelineCanvas;
class TimelinePane;

/// The selected candidate's timeline; with two selected both, one above the other on one time axis.
class TimelineView : public QWidget {
    Q_OBJECT

public:
    explicit TimelineView(RunSession* session, QWidget* parent = nullptr);

    /// 0: the selected one, 1: the one it is compared with.
    TimelinePane* pane(int index) const { return panes_[static_cast<std::size_t>(index)]; }

    void openSearch();
    void toggleHelp();

protected:
    void showEvent(QShowEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    bool eventFilter(QObject* watched, QEvent* event) override;

private:
    void addButton(QBoxLayout* row, const QString& text, const QString& tip, std::function<void()> action);
    void buildSearch();
    void buildHelp();
    void connectCanvas(int index);
    void refresh();
    void load(TimelinePane* pane, const QString& id);
    void shareAxis();
    void searchChanged(const QString& text);
    void nextMatch(int direction);
    void closeSearch();
    void updateDetails();
    TimelineCanvas* activeCanvas() const;

    RunSession* session_;
    std::array<TimelinePane*, 2> panes_{};
    QWidget* search_bar_ = nullptr;
    QLineEdit* search_ = nullptr;
    QLabel *search_count_ = nullptr, *details_ = nullptr;
    QScrollArea* details_area_ = nullptr;
    QFrame* help_ = nullptr;

    int active_ = 0;
    bool stale_ = true;
    std::vector<IntervalRef> matches_;
    std::ptrdiff_t match_ = -1;  ///< the match selected last; -1: none yet
};

}  // namespace cuco::ui
