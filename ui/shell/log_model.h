// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/engine/run_session.h"

#include <QAbstractTableModel>
#include <QSortFilterProxyModel>

namespace cuco::ui {

/// The run's log, oldest first: time, level, text.
class LogModel : public QAbstractTableModel {
    Q_OBJECT

public:
    enum Column { time_column, level_column, text_column, column_count };
    static constexpr int severity_role = Qt::UserRole;  ///< 0 info, 1 warning, 2 error

    explicit LogModel(RunSession* session, QObject* parent = nullptr);

    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

private:
    RunSession* session_;
    int rows_ = 0;
};

/// Entries of at least a severity that contain a text.
class LogFilter : public QSortFilterProxyModel {
    Q_OBJECT

public:
    using QSortFilterProxyModel::QSortFilterProxyModel;

    void setSeverity(int least);
    void setText(const QString& text);

protected:
    bool filterAcceptsRow(int source_row, const QModelIndex& source_parent) const override;

private:
    int least_ = 0;
    QString text_;
};

}  // namespace cuco::ui
