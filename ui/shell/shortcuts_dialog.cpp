// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/shell/shortcuts_dialog.h"

#include "ui/style/theme.h"

#include <QAction>
#include <QDialogButtonBox>
#include <QHeaderView>
#include <QTreeWidget>
#include <QVBoxLayout>

namespace cuco::ui {

ShortcutsDialog::ShortcutsDialog(QWidget* window) : QDialog(window)
{
    setWindowTitle(tr("Keys and mouse"));
    resize(64 * grid, 72 * grid);
    auto* list = new QTreeWidget(this);
    list->setColumnCount(2);
    list->setHeaderLabels({tr("Key"), tr("What it does")});
    list->setRootIsDecorated(false);
    list->setFrameShape(QFrame::NoFrame);
    list->header()->setSectionResizeMode(0, QHeaderView::ResizeToContents);
    const auto add = [list](const QString& keys, const QString& what) {
        auto* item = new QTreeWidgetItem(list, {keys, what});
        item->setFont(0, monoFont());
    };
    for (const QAction* action : window->findChildren<QAction*>()) {
        if (!action->shortcut().isEmpty()) {
            add(action->shortcut().toString(QKeySequence::NativeText), action->text().remove(QLatin1Char('&')));
        }
    }
    add(tr("Ctrl+click"), tr("Compare with the candidate"));
    add(tr("Arrows"), tr("Lineage: to the parent, child, or neighbour"));
    add(tr("Shift+arrows"), tr("Lineage, table: move the second of a comparison"));
    add(tr("Ctrl+wheel, +, −"), tr("Lineage: zoom"));
    add(tr("F"), tr("Lineage, timeline: fit"));
    add(tr("L"), tr("Chart: logarithmic or linear time"));
    add(tr("Enter"), tr("Lineage, table: open the source"));
    add(tr("?"), tr("Timeline: its own keys"));
    auto* buttons = new QDialogButtonBox(QDialogButtonBox::Close, this);
    connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
    auto* layout = new QVBoxLayout(this);
    layout->addWidget(list);
    layout->addWidget(buttons);
}

}  // namespace cuco::ui
