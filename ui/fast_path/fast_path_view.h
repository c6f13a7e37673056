// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/engine/run_session.h"
#include "ui/fast_path/fast_path_outline.h"
#include "ui/fast_path/judgements.h"

#include <QTimer>
#include <QWidget>

class QLabel;
class QPlainTextEdit;
class QPushButton;
class QTreeWidget;
class QTreeWidgetItem;

namespace cuco::ui {

/// A conversion: its stages with their attempts as they come, what was said of the selected one, and the way back to
/// an earlier one.
class FastPathView : public QWidget {
    Q_OBJECT

public:
    explicit FastPathView(RunSession* session, QWidget* parent = nullptr);

    QTreeWidget* tree() const { return tree_; }

Q_SIGNALS:
    /// The attempts after this one are to be rejected and the run resumed.
    void continueRequested(const QString& id);

private:
    void connectSession();
    void refresh();
    void addStage(const StageOutline& stage);
    void addAttempt(QTreeWidgetItem* stage, const std::string& id);
    void addRunning(QTreeWidgetItem* stage);
    QString headingText() const;
    QString detailText(const Candidate& candidate) const;
    void showSelection();
    void showButtons();
    void resizeEvent(QResizeEvent* event) override;
    void changeEvent(QEvent* event) override;
    bool eventFilter(QObject* watched, QEvent* event) override;

    RunSession* session_;
    Judgements judgements_;
    bool judgements_stale_ = true;
    QTimer refresh_timer_;
    QLabel* heading_;
    QTreeWidget* tree_;
    QPlainTextEdit* detail_;
    QPushButton *difference_, *continue_;
    bool syncing_ = false;
};

}  // namespace cuco::ui
