// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/run/run_screen.h"

#include <QPointer>
#include <QTimer>
#include <QWidget>

#include <string>

class QCheckBox;
class QLabel;
class QLineEdit;
class QPushButton;
class QStackedWidget;

namespace cuco::ui {

class CopyEditor;
class DiffPanel;
class RunModel;

/// A copy of a candidate's source that a person changes and submits as its child. What the screen of the cascade would
/// refuse is said before; what the engine refuses stays as it is, with a sentence.
class CopyPage : public QWidget {
    Q_OBJECT

public:
    CopyPage(RunModel* run, const QString& parent_id, const std::string& source, QWidget* parent = nullptr);

    CopyEditor* editor() const { return editor_; }
    QString parentId() const { return parent_id_; }
    /// Something was typed, and it is not stored in the run.
    bool isUnsaved() const;
    /// The candidate that became of what was submitted; empty while there is none.
    QString childId() const;

Q_SIGNALS:
    void backRequested();  ///< to the diff; what was typed stays
    void discardRequested();
    void changed();  ///< isUnsaved or childId may be another

private:
    enum class State { writing, submitting, submitted };

    QWidget* buildHeading();
    QWidget* buildFooter();
    void edit();
    void check();
    void updateState();
    void showChanges(bool shown);
    void submit();

    QPointer<RunModel> run_;
    QString parent_id_;
    std::string original_;
    Result<RunScreen> screen_;
    State state_ = State::writing;
    std::string submitted_sha256_;
    std::size_t candidates_before_ = 0;  ///< when it was submitted
    bool differs_ = false, passes_ = false;
    QString problem_, refused_;
    QTimer check_timer_;  ///< a check starts when typing pauses
    CopyEditor* editor_;
    DiffPanel* panel_;
    QStackedWidget* pages_;
    QLabel *heading_ = nullptr, *status_ = nullptr;
    QLineEdit* note_ = nullptr;
    QCheckBox* changes_ = nullptr;
    QPushButton *submit_ = nullptr, *back_ = nullptr, *discard_ = nullptr;
};

}  // namespace cuco::ui
