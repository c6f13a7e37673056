// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QTimer>
#include <QWidget>

class QCheckBox;
class QComboBox;
class QLabel;
class QLineEdit;
class QStackedWidget;
class QTreeView;

namespace cuco::ui {

class CallPage;
class PromptDiff;
class RunSession;
class StepText;
class TraceFilter;
class TraceModel;

/// What the run's agents asked and decided: a tree at the left, the chosen step or call at the right. Two chosen calls
/// show how their prompts differ. What a call says is read when it is chosen.
class TraceView : public QWidget {
    Q_OBJECT

public:
    explicit TraceView(RunSession* session, QWidget* parent = nullptr);

    TraceModel* model() const { return model_; }
    TraceFilter* filter() const { return filter_; }
    QTreeView* tree() const { return tree_; }
    StepText* text() const { return text_; }
    CallPage* callPage() const { return call_page_; }
    PromptDiff* promptDiff() const { return diff_; }
    QStackedWidget* pages() const { return pages_; }
    QString headingText() const;

protected:
    void showEvent(QShowEvent* event) override;
    void changeEvent(QEvent* event) override;
    bool eventFilter(QObject* watched, QEvent* event) override;

private:
    QWidget* buildLeft();
    void connectSession();
    void reload();
    void addNew();
    void updateHeading();
    void updateChoices();
    void updateColumns();
    void search();
    void goToNextCall();
    void showCurrent();
    void showRunningText();
    bool showTwoCalls();
    void showCall(const QModelIndex& index);
    void selectCandidate();
    void followSelection();
    QString modelTitle() const;

    RunSession* session_;
    TraceModel* model_;
    TraceFilter* filter_;
    QLabel *heading_, *found_;
    QLineEdit* search_;
    QComboBox *grouping_, *agent_, *language_model_;
    QCheckBox* failed_only_;
    QTreeView* tree_;
    StepText* text_;
    CallPage* call_page_;
    PromptDiff* diff_;
    QStackedWidget* pages_;
    QTimer search_timer_;     ///< a search starts when typing pauses
    QTimer running_timer_;    ///< gathers pieces of a running call's answer
    bool more_text_ = false;  ///< of the running call that is shown, not shown yet
    bool following_ = false;
    bool stale_ = true;  ///< there may be rows that are not shown yet
};

}  // namespace cuco::ui
