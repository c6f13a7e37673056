// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/population/population_view.h"

#include "ui/population/candidate_table.h"
#include "ui/population/fitness_chart.h"
#include "ui/population/lineage_view.h"
#include "ui/style/theme.h"

#include <QDataStream>
#include <QShortcut>
#include <QSplitter>
#include <QVBoxLayout>

namespace cuco::ui {

PopulationView::PopulationView(RunSession* session, QWidget* parent)
    : QWidget(parent),
      chart_(new FitnessChart(session)),
      lineage_(new LineageView(session)),
      table_(new CandidateTable(session)),
      rows_(new QSplitter(Qt::Vertical, this)),
      columns_(new QSplitter(Qt::Horizontal))
{
    columns_->addWidget(lineage_);
    columns_->addWidget(table_);
    columns_->setStretchFactor(0, 2);
    columns_->setStretchFactor(1, 3);
    rows_->addWidget(chart_);
    rows_->addWidget(columns_);
    rows_->setStretchFactor(0, 2);
    rows_->setStretchFactor(1, 3);
    for (QSplitter* splitter : {rows_, columns_}) {
        splitter->setHandleWidth(1);
        splitter->setChildrenCollapsible(false);
    }
    table_->setMinimumWidth(30 * grid);
    lineage_->setMinimumWidth(20 * grid);
    columns_->setSizes({360, 640});
    rows_->setSizes({320, 480});

    // Each tab has the key for a search of its own, so that it works within the tab only.
    auto* find = new QShortcut(QKeySequence::Find, this);
    find->setContext(Qt::WidgetWithChildrenShortcut);
    connect(find, &QShortcut::activated, table_, &CandidateTable::focusFilter);

    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->addWidget(rows_);
}

QByteArray PopulationView::saveState() const
{
    QByteArray state;
    QDataStream stream(&state, QIODevice::WriteOnly);
    stream << rows_->saveState() << columns_->saveState();
    return state;
}

void PopulationView::restoreState(const QByteArray& state)
{
    QByteArray rows, columns;
    QDataStream stream(state);
    stream >> rows >> columns;
    if (stream.status() == QDataStream::Ok) {
        rows_->restoreState(rows);
        columns_->restoreState(columns);
    }
}

}  // namespace cuco::ui
