// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/shell/start_page.h"

#include "ui/shell/recent_files.h"
#include "ui/style/theme.h"

#include <QAction>
#include <QDir>
#include <QFileInfo>
#include <QLabel>
#include <QPushButton>
#include <QVBoxLayout>

namespace cuco::ui {

namespace {

QPushButton* makeButton(QAction* action, QWidget* parent)
{
    auto* button = new QPushButton(action->icon(), action->text().remove(QLatin1Char('&')), parent);
    button->setMinimumHeight(4 * grid);
    button->setAutoDefault(true);
    button->setToolTip(action->shortcut().toString(QKeySequence::NativeText));
    QObject::connect(button, &QPushButton::clicked, action, &QAction::trigger);
    return button;
}

}  // namespace

StartPage::StartPage(QAction* new_run, QAction* open, QAction* open_demo, QWidget* parent)
    : QWidget(parent), new_run_(makeButton(new_run, this)), recent_(new QWidget(this))
{
    setBackgroundRole(QPalette::Base);
    setAutoFillBackground(true);
    auto* title = new QLabel(tr("CUCo Desktop"), this);
    title->setFont(textFont(12, QFont::DemiBold));
    auto* purpose =
        new QLabel(tr("Finds faster multi-GPU CUDA kernels: it evolves a correct one, and you watch, compare, "
                      "promote and reject. Without a GPU it runs them on the CPU and models the times."),
                   this);
    purpose->setWordWrap(true);
    purpose->setForegroundRole(QPalette::PlaceholderText);

    auto* column = new QWidget(this);
    column->setMaximumWidth(56 * grid);
    auto* layout = new QVBoxLayout(column);
    layout->setSpacing(grid);
    layout->addStretch(1);
    layout->addWidget(title);
    layout->addWidget(purpose);
    layout->addSpacing(grid);
    layout->addWidget(new_run_);
    layout->addWidget(makeButton(open, this));
    if (open_demo->isEnabled()) {
        layout->addWidget(makeButton(open_demo, this));
    }
    layout->addSpacing(grid);
    layout->addWidget(recent_);
    layout->addStretch(2);
    auto* centred = new QHBoxLayout(this);
    centred->addStretch(1);
    centred->addWidget(column, 100);
    centred->addStretch(1);
    setFocusProxy(new_run_);
    refresh();
}

void StartPage::refresh()
{
    delete recent_->layout();
    qDeleteAll(recent_->findChildren<QWidget*>(Qt::FindDirectChildrenOnly));
    auto* layout = new QVBoxLayout(recent_);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(0);
    const QStringList files = recentFiles();
    if (!files.isEmpty()) {
        auto* heading = new QLabel(tr("Recent runs"), recent_);
        heading->setFont(textFont(0, QFont::DemiBold));
        layout->addWidget(heading);
    }
    for (const QString& path : files.mid(0, 5)) {
        const QFileInfo file(path);
        auto* button = new QPushButton(recent_);
        button->setText(
            QStringLiteral("%1   –   %2").arg(file.completeBaseName(), QDir::toNativeSeparators(file.absolutePath())));
        button->setFlat(true);
        button->setAutoDefault(true);
        button->setStyleSheet(QStringLiteral("text-align: left; padding: 4px 0;"));
        button->setToolTip(QDir::toNativeSeparators(path));
        // Queued: the button itself may go when the list is made anew.
        connect(
            button, &QPushButton::clicked, this, [this, path] { Q_EMIT fileChosen(path); }, Qt::QueuedConnection);
        layout->addWidget(button);
    }
}

}  // namespace cuco::ui
