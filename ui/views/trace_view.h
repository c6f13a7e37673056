// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>

class QComboBox;
class QLabel;
class QLineEdit;
class QTreeView;

namespace cuco::ui {

class RunSession;
class StepText;
class TraceFilter;
class TraceModel;

/// What the run's agents decided, step by step: a tree at the left, the chosen step's text at the right.
class TraceView : public QWidget {
    Q_OBJECT

public:
    explicit TraceView(RunSession* session, QWidget* parent = nullptr);

    TraceModel* model() const { return model_; }
    TraceFilter* filter() const { return filter_; }
    QTreeView* tree() const { return tree_; }
    StepText* text() const { return text_; }
    QString headingText() const;

protected:
    void showEvent(QShowEvent* event) override;
    void changeEvent(QEvent* event) override;

private:
    void reload();
    void addNew();
    void updateHeading();
    void updateAgents();
    void showCurrent();
    void selectCandidate();
    void followSelection();

    RunSession* session_;
    TraceModel* model_;
    TraceFilter* filter_;
    QLabel* heading_;
    QLineEdit* search_;
    QComboBox* agent_;
    QTreeView* tree_;
    StepText* text_;
    bool following_ = false;
    bool stale_ = true;  ///< there may be steps that are not shown yet
};

}  // namespace cuco::ui
