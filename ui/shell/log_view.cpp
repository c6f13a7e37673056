// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/shell/log_view.h"

#include "ui/shell/log_model.h"
#include "ui/style/theme.h"

#include <QAction>
#include <QClipboard>
#include <QComboBox>
#include <QGuiApplication>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QLabel>
#include <QLineEdit>
#include <QScrollBar>
#include <QTableView>
#include <QVBoxLayout>

#include <algorithm>
#include <memory>

namespace cuco::ui {

LogView::LogView(RunSession* session, QWidget* parent)
    : QWidget(parent),
      filter_(new LogFilter(this)),
      level_(new QComboBox(this)),
      words_(new QLineEdit(this)),
      table_(new QTableView(this)),
      empty_(new QLabel(this))
{
    auto* model = new LogModel(session, this);
    filter_->setSourceModel(model);
    level_->addItems({tr("All"), tr("Warnings and errors"), tr("Errors")});
    level_->setAccessibleName(tr("Level"));
    level_->setObjectName(QStringLiteral("logLevel"));
    words_->setPlaceholderText(tr("Search the log…"));
    words_->setClearButtonEnabled(true);
    table_->setModel(filter_);
    table_->setObjectName(QStringLiteral("log"));
    table_->setAccessibleName(tr("Log"));
    table_->setFrameShape(QFrame::NoFrame);
    table_->setShowGrid(false);
    table_->setTabKeyNavigation(false);
    table_->setSelectionBehavior(QAbstractItemView::SelectRows);
    table_->verticalHeader()->hide();
    table_->verticalHeader()->setDefaultSectionSize(3 * grid);
    table_->horizontalHeader()->setStretchLastSection(true);
    table_->horizontalHeader()->setDefaultAlignment(Qt::AlignLeft | Qt::AlignVCenter);
    table_->setColumnWidth(LogModel::time_column, 14 * grid);
    table_->setColumnWidth(LogModel::level_column, 10 * grid);
    empty_->setAlignment(Qt::AlignCenter);
    empty_->setWordWrap(true);

    auto* copy = new QAction(tr("Copy log lines"), table_);
    copy->setShortcut(QKeySequence::Copy);
    copy->setShortcutContext(Qt::WidgetShortcut);
    table_->addAction(copy);
    table_->setContextMenuPolicy(Qt::ActionsContextMenu);
    connect(copy, &QAction::triggered, this, &LogView::copySelection);

    auto* bar = new QHBoxLayout;
    bar->setContentsMargins(grid, grid / 2, grid, grid / 2);
    bar->setSpacing(grid);
    bar->addWidget(level_);
    bar->addWidget(words_, 1);
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(0);
    layout->addLayout(bar);
    layout->addWidget(table_, 1);
    layout->addWidget(empty_, 1);

    connect(level_, &QComboBox::currentIndexChanged, this, [this](int least) {
        filter_->setSeverity(least);
        showEmptiness();
    });
    connect(words_, &QLineEdit::textChanged, this, [this](const QString& text) {
        filter_->setText(text);
        showEmptiness();
    });
    auto at_end = std::make_shared<bool>(true);
    connect(filter_, &QAbstractItemModel::rowsAboutToBeInserted, this, [this, at_end] {
        *at_end = table_->verticalScrollBar()->value() == table_->verticalScrollBar()->maximum();
    });
    connect(filter_, &QAbstractItemModel::rowsInserted, this, [this, at_end] {
        if (*at_end) {
            table_->scrollToBottom();
        }
        showEmptiness();
    });
    connect(filter_, &QAbstractItemModel::modelReset, this, &LogView::showEmptiness);
    showEmptiness();
}

void LogView::showEmptiness()
{
    const bool has_rows = filter_->rowCount() > 0;
    table_->setVisible(has_rows);
    empty_->setVisible(!has_rows);
    empty_->setText(filter_->sourceModel()->rowCount() == 0 ? tr("Nothing has been logged yet.")
                                                            : tr("No entry matches. Choose All, or clear the search."));
}

void LogView::copySelection() const
{
    QModelIndexList rows = table_->selectionModel()->selectedRows();
    std::sort(rows.begin(), rows.end());
    QStringList lines;
    for (const QModelIndex& row : rows) {
        QStringList cells;
        for (int column = 0; column < LogModel::column_count; ++column) {
            cells << row.siblingAtColumn(column).data().toString();
        }
        lines << cells.join(QLatin1Char('\t'));
    }
    QGuiApplication::clipboard()->setText(lines.join(QLatin1Char('\n')));
}

}  // namespace cuco::ui
