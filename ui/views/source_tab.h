// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/error.h"

#include <QHash>
#include <QPair>
#include <QStringList>
#include <QWidget>

class QAction;
class QStackedLayout;

namespace cuco::ui {

class CopyPage;
class DiffView;
class RunModel;
class RunSession;

/// The sources of a run: differences, and copies that a person is changing. A copy stays with its candidate: it is in
/// front again when that one is selected.
class SourceTab : public QWidget {
    Q_OBJECT

public:
    /// `edit_copy` has its button beside the diff.
    SourceTab(RunSession* session, QAction* edit_copy, QWidget* parent = nullptr);

    DiffView* diff() const { return diff_; }
    /// The copy that is shown; null: the diff is.
    CopyPage* copy() const;
    /// Begins a copy of the selected candidate, or goes on with it.
    Result<void> editCopy();
    /// The candidate has a copy that is not submitted.
    bool hasCopy(const QString& id) const;
    /// Brings the source as it is stored, at a line (1-based; 0: its beginning).
    void showSource(int line);
    /// Candidates of the run whose copies are neither submitted nor thrown away.
    QStringList unsaved(const RunModel* run) const;

Q_SIGNALS:
    void copiesChanged();

private:
    using Key = QPair<const RunModel*, QString>;
    struct Copy {
        CopyPage* page = nullptr;
        bool is_open = false;
    };

    Key selected() const;
    CopyPage* makePage(const Key& key, RunModel* run, const std::string& source);
    void follow();
    void takeUpChildren();
    void drop(const Key& key);

    RunSession* session_;
    DiffView* diff_;
    QStackedLayout* pages_;
    QHash<Key, Copy> copies_;
};

}  // namespace cuco::ui
