// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/population/candidate_table.h"

#include "ui/population/candidate_filter.h"
#include "ui/population/candidate_table_model.h"
#include "ui/style/theme.h"

#include <QButtonGroup>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QKeyEvent>
#include <QLabel>
#include <QLineEdit>
#include <QMouseEvent>
#include <QTableView>
#include <QToolButton>
#include <QVBoxLayout>

#include <algorithm>
#include <array>

namespace cuco::ui {

CandidateTable::CandidateTable(RunSession* session, QWidget* parent)
    : QWidget(parent),
      session_(session),
      model_(new CandidateTableModel(session, this)),
      filter_(new CandidateFilter(this)),
      view_(new QTableView(this)),
      words_(new QLineEdit(this)),
      chips_(new QButtonGroup(this)),
      empty_(new QLabel(this))
{
    filter_->setSourceModel(model_);
    view_->setModel(filter_);
    view_->setObjectName(QStringLiteral("candidates"));
    view_->setAccessibleName(tr("Candidates"));
    view_->setSelectionBehavior(QAbstractItemView::SelectRows);
    view_->setSelectionMode(QAbstractItemView::SingleSelection);
    view_->setShowGrid(false);
    view_->setWordWrap(false);
    view_->setSortingEnabled(true);
    view_->setTabKeyNavigation(false);
    view_->setFrameShape(QFrame::NoFrame);
    view_->verticalHeader()->hide();
    view_->verticalHeader()->setDefaultSectionSize(3 * grid);
    view_->horizontalHeader()->setHighlightSections(false);
    view_->horizontalHeader()->setStretchLastSection(true);
    view_->sortByColumn(CandidateTableModel::id_column, Qt::AscendingOrder);
    const std::array<int, CandidateTableModel::column_count> widths{48, 44, 36, 120, 88, 48, 92, 88, 136, 312, 80};
    for (int column = 0; column < CandidateTableModel::column_count; ++column) {
        view_->setColumnWidth(column, widths[static_cast<std::size_t>(column)]);
    }
    view_->viewport()->installEventFilter(this);
    view_->installEventFilter(this);

    words_->setPlaceholderText(tr("Filter by id, verdict, strategy, directive…"));
    words_->setClearButtonEnabled(true);
    words_->setObjectName(QStringLiteral("candidateFilter"));
    connect(words_, &QLineEdit::textChanged, this, [this](const QString& text) {
        filter_->setWords(text);
        showCounts();
    });

    auto* bar = new QHBoxLayout;
    bar->setContentsMargins(grid, grid / 2, grid, grid / 2);
    bar->setSpacing(grid / 2);
    bar->addWidget(words_, 1);
    addChips();
    for (QAbstractButton* chip : chips_->buttons()) {
        bar->addWidget(chip);
    }

    empty_->setAlignment(Qt::AlignCenter);
    empty_->setWordWrap(true);
    empty_->setMargin(2 * grid);
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(0);
    layout->addLayout(bar);
    layout->addWidget(view_, 1);
    layout->addWidget(empty_, 1);

    connect(view_->selectionModel(), &QItemSelectionModel::currentRowChanged, this, [this](const QModelIndex& current) {
        if (!syncing_ && current.isValid()) {
            session_->select(model_->idAt(filter_->mapToSource(current).row()));
        }
    });
    connect(view_, &QTableView::doubleClicked, this, [this](const QModelIndex& index) {
        session_->openSource(model_->idAt(filter_->mapToSource(index).row()));
    });
    connect(session_, &RunSession::selectionChanged, this, &CandidateTable::showSelection);
    connect(session_, &RunSession::runReset, this, [this] {
        fitColumns();
        showCounts();
    });
    connect(session_, &RunSession::baselinesChanged, this, &CandidateTable::fitColumns);
    connect(session_, &RunSession::candidateChanged, this, &CandidateTable::showCounts);
    fitColumns();
    showCounts();
    showSelection();
}

void CandidateTable::fitColumns()
{
    // Modelled times are exact: there is no interval to show.
    view_->setColumnHidden(CandidateTableModel::interval_column, session_->snapshot().modelled);
    // Their headings say what kind of times they are.
    for (const int column : {CandidateTableModel::speedup_column, CandidateTableModel::time_column}) {
        const int needed = view_->horizontalHeader()->sectionSizeHint(column);
        view_->setColumnWidth(column, std::max(view_->columnWidth(column), needed));
    }
}

void CandidateTable::focusFilter()
{
    words_->setFocus(Qt::ShortcutFocusReason);
    words_->selectAll();
}

void CandidateTable::addChips()
{
    // Ids: 0 is all, then one more than the standing's number.
    for (int id = 0; id <= 3; ++id) {
        auto* chip = new QToolButton(this);
        chip->setCheckable(true);
        chip->setAutoRaise(true);
        chip->setFocusPolicy(Qt::StrongFocus);
        chips_->addButton(chip, id);
    }
    chips_->setExclusive(true);
    chips_->button(0)->setChecked(true);
    connect(chips_, &QButtonGroup::idClicked, this, [this](int id) {
        filter_->setStanding(id == 0 ? std::nullopt : std::optional(static_cast<Standing>(id - 1)));
        showCounts();
    });
}

void CandidateTable::showCounts()
{
    std::array<int, 4> counts{};
    for (const Candidate& candidate : session_->snapshot().candidates) {
        ++counts[0];
        ++counts[1 + static_cast<std::size_t>(standingOf(candidate))];
    }
    const std::array<QString, 4> labels{tr("All %1"), tr("○ %1"), tr("✓ %1"), tr("✕ %1")};
    const std::array<QString, 4> tips{tr("All candidates"), tr("In flight"), tr("Verified"), tr("Failed")};
    for (std::size_t id = 0; id < counts.size(); ++id) {
        auto* chip = static_cast<QToolButton*>(chips_->button(static_cast<int>(id)));
        chip->setText(labels[id].arg(counts[id]));
        chip->setToolTip(tips[id]);
        chip->setAccessibleName(QStringLiteral("%1: %2").arg(tips[id]).arg(counts[id]));
    }
    const bool has_rows = filter_->rowCount() > 0;
    view_->setVisible(has_rows);
    empty_->setVisible(!has_rows);
    empty_->setText(counts[0] == 0 ? tr("No candidate has been proposed yet.")
                                   : tr("No candidate matches. Clear the filter, or choose All."));
}

void CandidateTable::showSelection()
{
    const QModelIndex source = model_->index(model_->rowOf(session_->primary()), 0);
    const QModelIndex row = filter_->mapFromSource(source);
    syncing_ = true;
    if (!row.isValid()) {
        view_->selectionModel()->clear();
    } else if (row.row() != view_->currentIndex().row() || !view_->selectionModel()->isRowSelected(row.row())) {
        view_->selectionModel()->setCurrentIndex(row, QItemSelectionModel::ClearAndSelect | QItemSelectionModel::Rows);
        view_->scrollTo(row);
    }
    syncing_ = false;
    view_->viewport()->update();
}

void CandidateTable::compareAt(const QModelIndex& index)
{
    if (index.isValid()) {
        session_->compareWith(model_->idAt(filter_->mapToSource(index).row()));
        view_->scrollTo(index);
    }
}

bool CandidateTable::eventFilter(QObject* watched, QEvent* event)
{
    if (watched == view_->viewport() && event->type() == QEvent::MouseButtonPress) {
        auto* mouse = static_cast<QMouseEvent*>(event);
        if (mouse->button() == Qt::LeftButton && mouse->modifiers() == Qt::ControlModifier) {
            compareAt(view_->indexAt(mouse->position().toPoint()));
            return true;
        }
    }
    if (watched == view_ && event->type() == QEvent::KeyPress) {
        auto* key = static_cast<QKeyEvent*>(event);
        const bool up_or_down = key->key() == Qt::Key_Up || key->key() == Qt::Key_Down;
        if (up_or_down && key->modifiers() == Qt::ShiftModifier && view_->currentIndex().isValid()) {
            const int second = model_->rowOf(session_->secondary());
            const QModelIndex from =
                second < 0 ? view_->currentIndex() : filter_->mapFromSource(model_->index(second, 0));
            compareAt(filter_->index(from.row() + (key->key() == Qt::Key_Up ? -1 : 1), 0));
            return true;
        }
        if (key->key() == Qt::Key_Return || key->key() == Qt::Key_Enter) {
            session_->openSource(session_->primary());
            return true;
        }
    }
    return QWidget::eventFilter(watched, event);
}

}  // namespace cuco::ui
