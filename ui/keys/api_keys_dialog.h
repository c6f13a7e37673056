// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/keys/key_places.h"

#include <QDialog>

class QLabel;
class QLayout;
class QLineEdit;
class QPushButton;
class QTreeWidget;
class QTreeWidgetItem;

namespace cuco::ui {

/// The keys that providers take: where each is found, and a way to put one into the keychain or to remove it from
/// there. A key that is stored is never shown.
class ApiKeysDialog : public QDialog {
    Q_OBJECT

public:
    /// `places` must outlive the dialog.
    explicit ApiKeysDialog(KeyPlaces& places, QWidget* parent = nullptr);

private:
    void makeList();
    QLayout* makeNameRow();
    /// Those beyond the providers' usual ones, as they are now.
    void listOtherNames();
    void addName();
    std::string chosen() const;  ///< the key's name; empty: none
    void showPlaces();
    void showChosen();
    void check();
    void save();
    void remove();

    KeyPlaces& places_;
    QTreeWidget* list_;
    QLabel *label_, *problem_;
    QTreeWidgetItem* others_;  ///< their heading
    QLineEdit *value_, *name_;
    QPushButton *save_, *remove_, *add_name_;
};

/// "keychain", "environment variable X", "none".
QString placeText(KeyPlace place, const std::string& name);

}  // namespace cuco::ui
