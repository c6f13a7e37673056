// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QDialog>
#include <QList>
#include <QPointer>

class QAction;
class QLineEdit;
class QListWidget;

namespace cuco::ui {

/// Every enabled action below a widget, found by typing a few of its characters.
class CommandPalette : public QDialog {
    Q_OBJECT

public:
    explicit CommandPalette(QWidget* window);

    void popUp();
    QStringList shown() const;  ///< the labels, best first

private:
    void collect();
    void filter();
    void trigger();
    bool eventFilter(QObject* watched, QEvent* event) override;

    struct Entry {
        QPointer<QAction> action;
        QString label;
    };
    QWidget* window_;
    QList<Entry> entries_;
    QLineEdit* words_;
    QListWidget* list_;
};

}  // namespace cuco::ui
