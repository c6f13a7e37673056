// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/engine/run_model.h"
#include "ui/shell/node_probes.h"

#include <QAbstractListModel>

#include <vector>

namespace cuco::ui {

/// The rows of the left list: the open runs, files opened before, and the nodes, each under its heading.
class RunListModel : public QAbstractListModel {
    Q_OBJECT

public:
    enum Kind { heading, open_run, recent_file, node };
    enum class Light { off, working, good, bad };
    enum Role {
        kind_role = Qt::UserRole,
        detail_role,    ///< the second line
        light_role,     ///< Light as int
        progress_role,  ///< 0 … 1, or -1 for none
        path_role,
    };

    RunListModel(const std::vector<std::unique_ptr<RunModel>>& runs, const NodeProbes& nodes,
                 QObject* parent = nullptr);

    /// To be called when the set of runs, recent files or nodes has changed.
    void refresh();
    /// To be called when what a run's row says has changed.
    void refreshRun(const RunModel* run);
    int rowOf(const RunModel* run) const;
    RunModel* runAt(int row) const;

    int rowCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role) const override;
    Qt::ItemFlags flags(const QModelIndex& index) const override;

    static QString stateText(const RunModel& run);

private:
    struct Row {
        Kind kind = heading;
        QString text, detail, path;
        Light light = Light::off;
        double progress = -1;
        RunModel* run = nullptr;
    };
    std::vector<Row> makeRows() const;
    static Row rowFor(RunModel& run);

    const std::vector<std::unique_ptr<RunModel>>& runs_;
    const NodeProbes& nodes_;
    std::vector<Row> rows_;
};

}  // namespace cuco::ui
