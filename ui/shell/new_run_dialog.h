// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/run/run_config.h"
#include "core/workload/workload.h"
#include "ui/shell/node_probes.h"

#include <QDialog>

#include <vector>

class QCheckBox;
class QComboBox;
class QFormLayout;
class QLabel;
class QLineEdit;
class QPushButton;
class QSpinBox;
class QToolButton;

namespace cuco::ui {

class ModelsForm;
class FormScroll;
class KeyPlaces;

/// Asks what a new run needs. Everything has a default that can be started with Enter.
class NewRunDialog : public QDialog {
    Q_OBJECT

public:
    /// `nodes` and `keys` must outlive the dialog; what they find may arrive while it is open.
    NewRunDialog(std::vector<Workload> workloads, NodeProbes& nodes, KeyPlaces& keys, QWidget* parent = nullptr);

    RunConfig config() const;
    QString path() const;

private:
    QWidget* makeMain();
    QWidget* makeAdvanced();
    void connectFields();
    const Workload* workload() const;
    bool converts() const;  ///< by the fast path
    void workloadChanged();
    void proposerChanged();
    void fitToRows();
    void showNodes();
    void nodeChosen();
    void askForHosts();
    void check();
    void browseFile();
    void browseSeed();
    void accept() override;

    std::vector<Workload> workloads_;
    NodeProbes& nodes_;
    KeyPlaces& keys_;
    QComboBox *workload_, *node_, *ranks_, *proposer_;
    QSpinBox *generations_, *islands_, *children_, *seed_, *workers_;
    QLineEdit *path_, *seed_source_;
    QCheckBox* check_races_;
    QFormLayout *main_form_, *advanced_form_;
    ModelsForm* models_form_;
    QLabel *summary_, *amount_, *problem_;
    QToolButton* more_;
    QWidget* advanced_ = nullptr;
    FormScroll* scroll_ = nullptr;
    QPushButton* start_;
    bool path_edited_ = false;
    QString chosen_node_;  ///< empty: the preferred one
    std::string seed_text_;
};

}  // namespace cuco::ui
