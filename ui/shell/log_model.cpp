// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/shell/log_model.h"

#include "ui/style/theme.h"

#include <QDateTime>
#include <QGuiApplication>

namespace cuco::ui {

namespace {

int severityOf(const LogEntry& entry)
{
    return entry.level == "error" ? 2 : entry.level == "warning" ? 1 : 0;
}

}  // namespace

LogModel::LogModel(RunSession* session, QObject* parent)
    : QAbstractTableModel(parent), session_(session), rows_(static_cast<int>(session->snapshot().log.size()))
{
    connect(session_, &RunSession::runReset, this, [this] {
        beginResetModel();
        rows_ = static_cast<int>(session_->snapshot().log.size());
        endResetModel();
    });
    connect(session_, &RunSession::logged, this, [this] {
        const int known = static_cast<int>(session_->snapshot().log.size());
        if (known > rows_) {
            beginInsertRows({}, rows_, known - 1);
            rows_ = known;
            endInsertRows();
        }
    });
}

int LogModel::rowCount(const QModelIndex& parent) const
{
    return parent.isValid() ? 0 : rows_;
}

int LogModel::columnCount(const QModelIndex& parent) const
{
    return parent.isValid() ? 0 : column_count;
}

QVariant LogModel::data(const QModelIndex& index, int role) const
{
    if (!checkIndex(index, CheckIndexOption::IndexIsValid)) {
        return {};
    }
    const LogEntry& entry = session_->snapshot().log[static_cast<std::size_t>(index.row())];
    switch (role) {
        case Qt::DisplayRole:
            switch (index.column()) {
                case time_column:
                    return QDateTime::fromMSecsSinceEpoch(entry.time_ms).toString(QStringLiteral("HH:mm:ss.zzz"));
                case level_column:
                    return QString::fromStdString(entry.level);
                default:
                    return QString::fromStdString(entry.text);
            }
        case Qt::ToolTipRole:
            return QDateTime::fromMSecsSinceEpoch(entry.time_ms).toString(Qt::ISODateWithMs);
        case Qt::FontRole:
            return index.column() == time_column ? QVariant(monoFont(-1)) : QVariant();
        case Qt::ForegroundRole: {
            const Colors colors = colorsFor(QGuiApplication::palette());
            if (index.column() == time_column) {
                return colors.secondary;
            }
            const int severity = severityOf(entry);
            return severity == 2   ? QVariant(colors.readable(colors.failed))
                   : severity == 1 ? QVariant(colors.readable(colors.communication))
                                   : QVariant();
        }
        case severity_role:
            return severityOf(entry);
        default:
            return {};
    }
}

QVariant LogModel::headerData(int section, Qt::Orientation orientation, int role) const
{
    if (orientation != Qt::Horizontal || role != Qt::DisplayRole || section < 0 || section >= column_count) {
        return {};
    }
    const QString labels[column_count] = {tr("Time"), tr("Level"), tr("What happened")};
    return labels[section];
}

void LogFilter::setSeverity(int least)
{
    least_ = least;
    invalidateFilter();
}

void LogFilter::setText(const QString& text)
{
    text_ = text;
    invalidateFilter();
}

bool LogFilter::filterAcceptsRow(int source_row, const QModelIndex& source_parent) const
{
    const QModelIndex index = sourceModel()->index(source_row, LogModel::text_column, source_parent);
    return index.data(LogModel::severity_role).toInt() >= least_ &&
           (text_.isEmpty() || index.data().toString().contains(text_, Qt::CaseInsensitive));
}

}  // namespace cuco::ui
