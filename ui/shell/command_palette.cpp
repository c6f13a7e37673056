// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/shell/command_palette.h"

#include "ui/shell/fuzzy_match.h"
#include "ui/style/theme.h"

#include <QAction>
#include <QKeyEvent>
#include <QLineEdit>
#include <QListWidget>
#include <QMenu>
#include <QSet>
#include <QTimer>
#include <QVBoxLayout>

#include <algorithm>

namespace cuco::ui {

namespace {

constexpr int entry_role = Qt::UserRole;

QString labelOf(const QAction& action)
{
    QString text = action.text();
    text.remove(QLatin1Char('&'));
    for (const QObject* object : action.associatedObjects()) {
        if (const auto* menu = qobject_cast<const QMenu*>(object); menu && !menu->title().isEmpty()) {
            QString title = menu->title();
            return title.remove(QLatin1Char('&')) + QStringLiteral(": ") + text;
        }
    }
    return text;
}

}  // namespace

CommandPalette::CommandPalette(QWidget* window)
    : QDialog(window, Qt::Popup), window_(window), words_(new QLineEdit(this)), list_(new QListWidget(this))
{
    setObjectName(QStringLiteral("commandPalette"));
    setAccessibleName(tr("Command palette"));
    words_->setPlaceholderText(tr("Type a command…"));
    words_->installEventFilter(this);
    words_->setMinimumHeight(4 * grid);
    list_->setFocusPolicy(Qt::NoFocus);
    list_->setFrameShape(QFrame::NoFrame);
    list_->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(grid, grid, grid, grid);
    layout->setSpacing(grid);
    layout->addWidget(words_);
    layout->addWidget(list_);
    connect(words_, &QLineEdit::textChanged, this, &CommandPalette::filter);
    connect(words_, &QLineEdit::returnPressed, this, &CommandPalette::trigger);
    connect(list_, &QListWidget::itemClicked, this, &CommandPalette::trigger);
}

void CommandPalette::popUp()
{
    collect();
    words_->clear();
    filter();
    const int width = std::min(70 * grid, window_->width() - 4 * grid);
    resize(width, std::min(50 * grid, window_->height() - 8 * grid));
    move(window_->mapToGlobal(QPoint((window_->width() - width) / 2, 6 * grid)));
    show();
    words_->setFocus();
}

void CommandPalette::collect()
{
    entries_.clear();
    QSet<QString> known;
    for (QAction* action : window_->findChildren<QAction*>()) {
        const bool usable = action->isEnabled() && action->isVisible() && !action->isSeparator() && !action->menu() &&
                            !action->text().isEmpty();
        if (!usable || qobject_cast<QLineEdit*>(action->parent())) {
            continue;
        }
        const QString label = labelOf(*action);
        if (!known.contains(label)) {
            known.insert(label);
            entries_ << Entry{action, label};
        }
    }
    std::sort(entries_.begin(), entries_.end(),
              [](const Entry& first, const Entry& second) { return first.label < second.label; });
}

void CommandPalette::filter()
{
    QList<std::pair<int, int>> ranked;  // score, entry
    for (int i = 0; i < entries_.size(); ++i) {
        if (const auto score = fuzzyScore(words_->text(), entries_[i].label)) {
            ranked << std::pair(*score, i);
        }
    }
    if (!words_->text().isEmpty()) {
        std::stable_sort(ranked.begin(), ranked.end(),
                         [](const auto& first, const auto& second) { return first.first > second.first; });
    }
    list_->clear();
    for (const auto& [score, entry] : ranked) {
        const QAction* action = entries_[entry].action;
        auto* item = new QListWidgetItem(entries_[entry].label, list_);
        const QString keys = action ? action->shortcut().toString(QKeySequence::NativeText) : QString();
        if (!keys.isEmpty()) {
            item->setText(QStringLiteral("%1   (%2)").arg(entries_[entry].label, keys));
        }
        item->setData(entry_role, entry);
    }
    list_->setCurrentRow(0);
}

QStringList CommandPalette::shown() const
{
    QStringList labels;
    for (int row = 0; row < list_->count(); ++row) {
        labels << entries_[list_->item(row)->data(entry_role).toInt()].label;
    }
    return labels;
}

void CommandPalette::trigger()
{
    const QListWidgetItem* item = list_->currentItem();
    if (!item) {
        return;
    }
    const QPointer<QAction> action = entries_[item->data(entry_role).toInt()].action;
    close();
    // Only after the popup has gone does the focus return to where the action expects it.
    QTimer::singleShot(0, window_, [action] {
        if (action) {
            action->trigger();
        }
    });
}

bool CommandPalette::eventFilter(QObject* watched, QEvent* event)
{
    if (watched == words_ && event->type() == QEvent::KeyPress) {
        const auto* key = static_cast<QKeyEvent*>(event);
        if (key->key() == Qt::Key_Down || key->key() == Qt::Key_Up) {
            const int row = list_->currentRow() + (key->key() == Qt::Key_Down ? 1 : -1);
            list_->setCurrentRow(std::clamp(row, 0, std::max(0, list_->count() - 1)));
            return true;
        }
    }
    return QDialog::eventFilter(watched, event);
}

}  // namespace cuco::ui
