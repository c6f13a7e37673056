// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/population/archive.h"
#include "ui/engine/run_session.h"

#include <QAbstractTableModel>

#include <array>
#include <string>
#include <utility>
#include <vector>

namespace cuco::ui {

/// The archive of a run as a map: a row a backend and a placement, a column a synchronisation and an issuer; chunk
/// sizes share a cell, which shows the fittest. Combinations that the design space forbids are left out or cannot be
/// selected.
class ArchiveModel : public QAbstractTableModel {
    Q_OBJECT

public:
    enum Role {
        id_role = Qt::UserRole,  ///< of the fittest; empty: nobody was there
        fitness_share_role,      ///< 0 … 1 of the range that the archive spans
        allowed_role,
    };

    explicit ArchiveModel(RunSession* session, QObject* parent = nullptr);

    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role = Qt::DisplayRole) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role = Qt::DisplayRole) const override;
    Qt::ItemFlags flags(const QModelIndex& index) const override;

    ArchiveCoverage coverage() const { return coverage_; }
    QModelIndex indexOf(const QString& id) const;  ///< where a candidate's directive is; invalid: nowhere
    void refresh();
    /// Why there is no map; empty when there is one.
    QString problem() const { return problem_; }

private:
    using Pair = std::pair<std::string, std::string>;
    struct Place {
        std::vector<ArchiveCell> cells;  ///< the allowed ones, by chunk size
    };
    const Place& place(const QModelIndex& index) const;
    const Elite* fittest(const Place& place) const;

    RunSession* session_;
    Archive archive_;
    ArchiveCoverage coverage_;
    std::vector<Pair> rows_, columns_;
    std::vector<Place> places_;  ///< row by row
    std::size_t allowed_cells_ = 0;
    double least_ = 0, most_ = 0;  ///< fitness
    QString problem_;
};

}  // namespace cuco::ui
