// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/engine/run_session.h"

#include <QScrollArea>

class QAction;
class QGridLayout;
class QLabel;
class QLineEdit;
class QPushButton;

namespace cuco::ui {

/// What the window's actions do to the selected candidate; the inspector shows them as buttons.
struct InspectorActions {
    QAction *promote, *reject, *undo, *compare_parent, *compare_best, *compare_baseline, *end_comparison, *open_source;
    QAction* edit_copy;
};

/// The selected candidate in words and figures, beside the second one when two are compared. A decision asks
/// for its reason in place; a rejection must have one.
class Inspector : public QScrollArea {
    Q_OBJECT

public:
    Inspector(RunSession* session, const InspectorActions& actions, QWidget* parent = nullptr);

    void askReason(DecisionKind kind);

Q_SIGNALS:
    void decided(const QString& id, cuco::DecisionKind kind, const QString& reason);

protected:
    void changeEvent(QEvent* event) override;

private:
    void refresh();
    void showHeading(QLabel* id_label, QLabel* verdict, const QString& id);
    void fillGrid();
    void addButtons(const InspectorActions& actions);
    QWidget* makeReasonBox();
    void decide();
    void followLink(const QString& link, const QString& owner);

    RunSession* session_;
    QWidget* body_;
    QLabel *empty_, *id_, *verdict_, *second_id_, *second_verdict_, *message_, *detail_;
    QWidget *grid_box_ = nullptr, *buttons_ = nullptr, *reason_box_ = nullptr;
    QLineEdit* reason_;
    QPushButton* decide_;
    QString reason_for_;
    DecisionKind reason_kind_ = DecisionKind::promoted;
};

}  // namespace cuco::ui
