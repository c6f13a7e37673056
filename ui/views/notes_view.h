// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/agents/scratchpad.h"

#include <QHash>
#include <QWidget>

class QCheckBox;
class QLabel;
class QPushButton;
class QStackedWidget;
class QTreeView;

namespace cuco::ui {

class DiffPanel;
class NotesEditor;
class NotesModel;
class RunModel;
class RunSession;
class StepText;

/// What the search has learned: the versions above, the chosen one below, as text, as its changes since the version
/// before, or against another that is chosen too. A person writes the next version here.
class NotesView : public QWidget {
    Q_OBJECT

public:
    explicit NotesView(RunSession* session, QWidget* parent = nullptr);

    NotesModel* model() const { return model_; }
    QTreeView* list() const { return list_; }
    StepText* text() const { return text_; }
    DiffPanel* changes() const { return changes_; }
    /// Of the run's notes there is a version that was typed and not saved.
    bool isUnsaved(const RunModel* run) const;

protected:
    void showEvent(QShowEvent* event) override;
    void changeEvent(QEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;

private:
    QWidget* buildBar();
    void reset();
    void refresh();
    void updateHeading();
    void showChosen();
    void showDifference(const ScratchpadVersion& left, const ScratchpadVersion& right);
    void selectLatest();
    void edit();
    /// What a person is writing for a run; closing the editor keeps what is not saved.
    struct Writing {
        NotesEditor* editor = nullptr;
        bool is_open = false;
    };
    Writing makeEditor(RunModel* run);
    Writing writing() const;  ///< of the run that is shown
    void dropEditor(const RunModel* run);

    RunSession* session_;
    NotesModel* model_;
    QLabel *heading_, *shown_;
    QTreeView* list_;
    QCheckBox* changes_only_;
    QPushButton* edit_;
    StepText* text_;
    DiffPanel* changes_;
    QStackedWidget* pages_;
    QHash<const RunModel*, Writing> writing_;
    bool stale_ = true;  ///< there may be versions that are not shown yet
};

}  // namespace cuco::ui
