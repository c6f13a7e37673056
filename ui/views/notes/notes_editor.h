// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/agents/scratchpad.h"

#include <QPointer>
#include <QWidget>

class QLabel;
class QPlainTextEdit;
class QPushButton;

namespace cuco::ui {

class RunModel;

/// A person's next version of a run's notes, until it is saved. What cannot be saved stays, with a sentence that says
/// why.
class NotesEditor : public QWidget {
    Q_OBJECT

public:
    NotesEditor(RunModel* run, const ScratchpadVersion& from, QWidget* parent = nullptr);

    bool isUnsaved() const;
    /// The version that prompts get now; a newer one than it was begun from is told.
    void setLatest(const ScratchpadVersion& latest);

Q_SIGNALS:
    void saved();
    void closed();  ///< what was typed stays

private:
    void save();
    void revert();
    void check();

    QPointer<RunModel> run_;
    ScratchpadVersion from_, latest_;
    QPlainTextEdit* text_;
    QLabel *size_, *problem_;
    QPushButton *save_, *revert_, *close_;
    QString clean_;    ///< the text that nobody has to save
    QString refused_;  ///< why the last save failed; empty once the text changes
    bool saving_ = false;
};

}  // namespace cuco::ui
