// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/notes_view.h"

#include "ui/engine/run_session.h"
#include "ui/style/theme.h"
#include "ui/views/diff/diff_panel.h"
#include "ui/views/missing_text.h"
#include "ui/views/notes/notes_editor.h"
#include "ui/views/notes/notes_model.h"
#include "ui/views/trace/step_text.h"

#include <QCheckBox>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QLabel>
#include <QPushButton>
#include <QSplitter>
#include <QStackedWidget>
#include <QTreeView>
#include <QVBoxLayout>

#include <algorithm>
#include <utility>

namespace cuco::ui {

namespace {

constexpr int width_for_two_sides = 88 * grid;

DiffSide sideOf(const ScratchpadVersion& version)
{
    DiffSide side;
    side.name = version.number > 0 ? "version " + std::to_string(version.number) : "nothing";
    side.text = version.notes.text;
    return side;
}

}  // namespace

NotesView::NotesView(RunSession* session, QWidget* parent)
    : QWidget(parent),
      session_(session),
      model_(new NotesModel(this)),
      heading_(new QLabel(this)),
      list_(new QTreeView(this)),
      text_(new StepText(this)),
      changes_(new DiffPanel(this)),
      pages_(new QStackedWidget(this))
{
    heading_->setObjectName(QStringLiteral("notesHeading"));
    heading_->setWordWrap(true);
    heading_->setMargin(grid);
    heading_->setTextFormat(Qt::PlainText);
    list_->setObjectName(QStringLiteral("noteVersions"));
    list_->setAccessibleName(tr("Versions of the notes"));
    list_->setModel(model_);
    list_->setRootIsDecorated(false);
    list_->setUniformRowHeights(true);
    list_->setFrameShape(QFrame::NoFrame);
    list_->setSelectionMode(QAbstractItemView::ExtendedSelection);
    list_->header()->setSectionResizeMode(QHeaderView::ResizeToContents);
    list_->header()->setStretchLastSection(true);
    changes_->setPlain();
    pages_->addWidget(text_);
    pages_->addWidget(changes_);

    auto* below = new QWidget(this);
    auto* column = new QVBoxLayout(below);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    column->addWidget(buildBar());
    column->addWidget(pages_, 1);
    auto* splitter = new QSplitter(Qt::Vertical, this);
    splitter->setChildrenCollapsible(false);
    splitter->addWidget(list_);
    splitter->addWidget(below);
    splitter->setStretchFactor(1, 1);
    splitter->setSizes({18 * grid, 60 * grid});
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(0);
    layout->addWidget(heading_);
    layout->addWidget(splitter, 1);
    setFocusProxy(list_);

    connect(session_, &RunSession::runReset, this, &NotesView::reset);
    const auto later = [this] {
        stale_ = true;
        if (isVisible())
            refresh();
    };
    connect(session_, &RunSession::stepsAdded, this, later);
    connect(session_, &RunSession::stateChanged, this, &NotesView::updateHeading);
    connect(list_->selectionModel(), &QItemSelectionModel::selectionChanged, this, &NotesView::showChosen);
    connect(text_, &StepText::candidateClicked, session_, &RunSession::select);
    reset();
}

QWidget* NotesView::buildBar()
{
    auto* bar = new QWidget(this);
    shown_ = new QLabel(bar);
    shown_->setObjectName(QStringLiteral("notesShown"));
    shown_->setTextFormat(Qt::PlainText);
    shown_->setFont(textFont(0, QFont::DemiBold));
    shown_->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
    changes_only_ = new QCheckBox(tr("C&hanges"), bar);
    changes_only_->setObjectName(QStringLiteral("notesChanges"));
    changes_only_->setToolTip(tr("Since the version before; with two versions chosen (Ctrl+click), between them"));
    edit_ = new QPushButton(tr("&Edit…"), bar);
    edit_->setObjectName(QStringLiteral("editNotes"));
    connect(changes_only_, &QCheckBox::toggled, this, &NotesView::showChosen);
    connect(edit_, &QPushButton::clicked, this, &NotesView::edit);
    auto* row = new QHBoxLayout(bar);
    row->setContentsMargins(grid, grid / 2, grid, grid / 2);
    row->setSpacing(grid);
    row->addWidget(shown_, 1);
    row->addWidget(changes_only_);
    row->addWidget(edit_);
    return bar;
}

bool NotesView::isUnsaved(const RunModel* run) const
{
    const NotesEditor* editor = writing_.value(run).editor;
    return editor && editor->isUnsaved();
}

NotesView::Writing NotesView::writing() const
{
    return writing_.value(session_->run());
}

void NotesView::reset()
{
    model_->clear();
    stale_ = true;
    if (isVisible())
        refresh();
    else
        updateHeading();
}

void NotesView::showEvent(QShowEvent* event)
{
    QWidget::showEvent(event);
    if (stale_)
        refresh();
}

void NotesView::changeEvent(QEvent* event)
{
    QWidget::changeEvent(event);
    if (event->type() == QEvent::PaletteChange)
        showChosen();  // the text holds the colours it was made with
}

void NotesView::resizeEvent(QResizeEvent* event)
{
    QWidget::resizeEvent(event);
    changes_->setUnified(width() < width_for_two_sides);
}

void NotesView::refresh()
{
    stale_ = false;
    if (session_->run()) {
        const auto steps = session_->run()->scratchpads();
        if (!steps) {
            heading_->setText(errorText(tr("The notes of this run cannot be read"), steps.error()));
            return;
        }
        const bool follows = list_->selectionModel()->selectedRows().size() <= 1 &&
                             (!list_->currentIndex().isValid() || list_->currentIndex().row() == 0);
        model_->setVersions(scratchpadVersions(*steps));
        if (follows)
            selectLatest();
        if (writing().editor && !model_->versions().empty())
            writing().editor->setLatest(model_->versions().back());
    }
    updateHeading();
    showChosen();
}

void NotesView::selectLatest()
{
    if (model_->rowCount() > 0)
        list_->setCurrentIndex(model_->index(0, 0));
}

void NotesView::updateHeading()
{
    const RunSnapshot& snapshot = session_->snapshot();
    const bool searches = snapshot.config.proposer == "llm", finished = snapshot.state == RunState::finished;
    const int interval = snapshot.config.slow_path.summary_interval;
    const QString rewritten =
        interval > 0 ? tr(" Every %1 candidates a model sums up and rewrites it.").arg(interval) : QString();
    if (!session_->run())
        heading_->setText(tr("Open a run, or start one, to read what its search has learned."));
    else if (session_->isImported())
        heading_->setText(
            tr("A search by models keeps notes here of what it has learned. Those of an imported run are "
               "not in its database."));
    else if (!searches)
        heading_->setText(
            tr("A search by models keeps notes here of what it has learned. This run asks no model for candidates."));
    else if (finished)
        heading_->setText(tr("What this search has learned. It is finished: no prompt will be made of it any more."));
    else if (model_->versions().empty())
        heading_->setText(tr("This search has no notes yet. What you write goes into the prompts of all later "
                             "proposals.") +
                          rewritten);
    else
        heading_->setText(tr("What this search has learned. The latest version goes into the prompts of all later "
                             "proposals, also one that you write.") +
                          rewritten);
    edit_->setEnabled(searches);
    edit_->setText(isUnsaved(session_->run()) ? tr("Go on &editing") : tr("&Edit…"));
}

void NotesView::showChosen()
{
    std::vector<const ScratchpadVersion*> chosen;
    for (const QModelIndex& row : list_->selectionModel()->selectedRows())
        chosen.push_back(model_->version(row));
    std::ranges::sort(chosen, {}, &ScratchpadVersion::number);
    const bool writes = writing().is_open;
    changes_only_->setEnabled(chosen.size() == 1 && !writes);
    edit_->setVisible(!writes);
    shown_->setText(QString());
    if (writes) {
        shown_->setText(tr("Your next version"));
        pages_->setCurrentWidget(writing().editor);
        return;
    }
    static const ScratchpadVersion nothing;
    if (chosen.size() == 2) {
        showDifference(*chosen[0], *chosen[1]);
    } else if (chosen.size() == 1 && changes_only_->isChecked()) {
        const auto before = static_cast<std::size_t>(chosen[0]->number - 1);
        showDifference(before > 0 ? model_->versions()[before - 1] : nothing, *chosen[0]);
    } else if (chosen.size() == 1) {
        AgentStep step = toStep(chosen[0]->notes);
        step.time_ms = chosen[0]->time_ms;
        shown_->setText(tr("Version %1").arg(chosen[0]->number));
        text_->showStep(step, [this](const QString& id) { return session_->candidate(id) != nullptr; });
        pages_->setCurrentWidget(text_);
    } else {
        text_->showSentence(chosen.empty() ? QString() : tr("Choose one version to read it, or two to compare them."));
        pages_->setCurrentWidget(text_);
    }
}

void NotesView::showDifference(const ScratchpadVersion& left, const ScratchpadVersion& right)
{
    pages_->setCurrentWidget(changes_);
    if (auto compared = changes_->setSides(sideOf(left), sideOf(right)); !compared) {
        shown_->setText(errorText(tr("The versions cannot be compared"), compared.error()));
        return;
    }
    const LineDiff& diff = changes_->diff();
    const QString sides = left.number > 0 ? tr("Version %1 ↔ %2").arg(left.number).arg(right.number)
                                          : tr("Version %1, the first").arg(right.number);
    shown_->setText(diff.hunks.empty() ? tr("%1: the same text").arg(sides)
                                       : QStringLiteral("%1: +%2 −%3").arg(sides).arg(diff.added).arg(diff.removed));
}

NotesView::Writing NotesView::makeEditor(RunModel* run)
{
    static const ScratchpadVersion nothing;
    auto* made = new NotesEditor(run, model_->versions().empty() ? nothing : model_->versions().back(), this);
    pages_->addWidget(made);
    connect(run, &QObject::destroyed, made, [this, run] { dropEditor(run); });
    connect(made, &NotesEditor::closed, this, [this, run, made] {
        if (made->isUnsaved())
            writing_[run].is_open = false;
        else
            dropEditor(run);
        updateHeading();
        showChosen();
        list_->setFocus();
    });
    connect(made, &NotesEditor::saved, this, [this, run] {
        dropEditor(run);
        if (session_->run() != run)
            return;
        list_->clearSelection();
        refresh();
        selectLatest();
        list_->setFocus();
    });
    return {made, true};
}

void NotesView::dropEditor(const RunModel* run)
{
    if (NotesEditor* dropped = writing_.take(run).editor) {
        dropped->disconnect(this);
        dropped->deleteLater();
    }
}

void NotesView::edit()
{
    if (!edit_->isEnabled() || !session_->run())
        return;
    const Writing before = writing();
    writing_[session_->run()] = before.editor ? Writing{before.editor, true} : makeEditor(session_->run());
    showChosen();
    writing().editor->setFocus();
}

}  // namespace cuco::ui
