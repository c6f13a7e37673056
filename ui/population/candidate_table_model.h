// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/engine/run_session.h"

#include <QAbstractTableModel>

namespace cuco::ui {

/// The candidates of the session's run, one a row, in order of proposal. Reads the snapshot in place.
class CandidateTableModel : public QAbstractTableModel {
    Q_OBJECT

public:
    enum Column {
        id_column,
        generation_column,
        island_column,
        verdict_column,
        speedup_column,
        interval_column,
        time_column,
        exposed_column,
        strategy_column,
        directive_column,
        decision_column,
        column_count
    };
    enum Role {
        sort_role = Qt::UserRole,  ///< a number where there is one, so that 9 comes before 10
        standing_role,             ///< Standing as int
        search_role,               ///< all that the filter box looks at
    };

    explicit CandidateTableModel(RunSession* session, QObject* parent = nullptr);

    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

    QString idAt(int row) const;
    int rowOf(const QString& id) const;  ///< -1 when there is none

private:
    void update(const QString& id);
    QString text(const Candidate& candidate, int column) const;
    QVariant sortKey(const Candidate& candidate, int column) const;
    QVariant foreground(const Candidate& candidate, int column) const;

    RunSession* session_;
    int rows_ = 0;  ///< announced to the views; the snapshot may be ahead for a moment
};

}  // namespace cuco::ui
