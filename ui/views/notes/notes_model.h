// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/agents/scratchpad.h"

#include <QAbstractTableModel>

#include <vector>

namespace cuco::ui {

/// The versions of a search's notes, the latest first.
class NotesModel : public QAbstractTableModel {
    Q_OBJECT

public:
    enum Column { number_column, writer_column, candidates_column, time_column, size_column, column_count };

    using QAbstractTableModel::QAbstractTableModel;

    /// Versions are only added: rows stay where those that are there already are.
    void setVersions(std::vector<ScratchpadVersion> versions);
    void clear();

    const std::vector<ScratchpadVersion>& versions() const { return versions_; }
    /// Null for no row.
    const ScratchpadVersion* version(const QModelIndex& index) const;

    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

private:
    std::vector<ScratchpadVersion> versions_;  ///< in the order in which they were written
};

}  // namespace cuco::ui
