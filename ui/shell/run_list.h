// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/shell/run_list_model.h"

#include <QListView>

namespace cuco::ui {

/// The left list. One click or Enter opens a run or file.
class RunList : public QListView {
    Q_OBJECT

public:
    explicit RunList(RunListModel* model, QWidget* parent = nullptr);

    void setCurrentRun(const RunModel* run);
    QSize sizeHint() const override;

Q_SIGNALS:
    void runChosen(cuco::ui::RunModel* run);
    void fileChosen(const QString& path);

private:
    void choose(const QModelIndex& index);
    RunListModel* model_;
};

}  // namespace cuco::ui
