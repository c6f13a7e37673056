// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/run/run_config.h"
#include "core/workload/workload.h"

#include <QObject>

class QComboBox;
class QDoubleSpinBox;
class QFormLayout;
class QLabel;
class QLineEdit;
class QPushButton;
class QWidget;

namespace cuco::ui {

class KeyPlaces;

/// Rows of a form for what a run with models needs beyond a workload and a node: who answers, and for a conversion the
/// program and the backend. Only what the chosen provider takes is shown. Remembers the last choices, none of which may
/// be a secret.
class ModelsForm : public QObject {
    Q_OBJECT

public:
    /// Adds its rows to `form`, whose widget is `box`. `keys` must outlive it.
    ModelsForm(QFormLayout* form, QWidget* box, KeyPlaces& keys);

    enum class Purpose { none, conversion, search };
    void setPurpose(Purpose purpose);

    /// Adds what the purpose needs; a conversion's source is `sourceFile`'s, which is not read here.
    void apply(RunConfig& config) const;
    /// The program to convert; empty: the workload's own.
    QString sourceFile() const;
    /// A sentence; empty where there is nothing to say that validate() does not.
    QString problem(const Workload* workload) const;
    void remember() const;

Q_SIGNALS:
    void changed();

private:
    ProviderSettings provider() const;
    void restore();
    void showRows();
    void update();

    QFormLayout* form_;
    KeyPlaces& keys_;
    QLineEdit *source_, *model_, *judge_model_, *base_url_, *key_name_, *region_, *command_, *folder_, *recording_;
    QComboBox *backend_, *provider_;
    QLabel* key_;
    QPushButton* api_keys_;
    QDoubleSpinBox* budget_;
    Purpose purpose_ = Purpose::none;
};

}  // namespace cuco::ui
