// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/views/diff/diff_page.h"

#include <QWidget>

class QCheckBox;
class QComboBox;
class QHBoxLayout;
class QLabel;
class QLineEdit;
class QStackedLayout;

namespace cuco::ui {

class DiffPanel;
class RunSession;

/// The selected candidate's source against its parent, or against what a person chooses. With two selected
/// the second is what the first is compared with.
class DiffView : public QWidget {
    Q_OBJECT

public:
    explicit DiffView(RunSession* session, QWidget* parent = nullptr);

    /// Beside the heading.
    void addTool(QWidget* tool);
    DiffPanel* panel() const { return panel_; }
    QString headingText() const;
    QString message() const;  ///< empty while a diff is shown

    /// "parent", "parent:1" for the second of a crossover, "seed", "best", or an id.
    void compareAgainst(const QString& reference);
    void openFind();

protected:
    void showEvent(QShowEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    bool eventFilter(QObject* watched, QEvent* event) override;

private:
    QWidget* buildToolBar();
    QWidget* buildFindBar();
    void refresh();
    void fillReferences();
    /// The id that the chosen reference means for `id`; empty when there is none.
    QString resolve(const QString& id, const QString& reference) const;
    QString roleOf(const QString& reference) const;
    void showMessage(const QString& text);
    void updateHeading();
    Result<DiffSide> sideOf(const QString& id) const;
    void find(bool forward);
    void closeFind();

    RunSession* session_;
    DiffPanel* panel_;
    QStackedLayout* content_;
    QLabel *heading_ = nullptr, *counts_ = nullptr, *message_ = nullptr, *find_result_ = nullptr;
    QHBoxLayout* first_row_ = nullptr;
    QComboBox* reference_box_ = nullptr;
    QCheckBox *unified_ = nullptr, *folded_ = nullptr, *ignore_white_space_ = nullptr;
    QWidget* find_bar_ = nullptr;
    QLineEdit* find_ = nullptr;
    QString reference_;
    QString left_id_, right_id_;
    bool stale_ = true;
    bool both_judged_ = false;  ///< both that are shown have their verdict
};

}  // namespace cuco::ui
