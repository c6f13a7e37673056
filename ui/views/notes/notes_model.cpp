// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/notes/notes_model.h"

#include "ui/population/candidate_format.h"

#include <QDateTime>

#include <utility>

namespace cuco::ui {

void NotesModel::setVersions(std::vector<ScratchpadVersion> versions)
{
    const auto more = static_cast<int>(versions.size()) - static_cast<int>(versions_.size());
    if (more <= 0)
        return;
    beginInsertRows({}, 0, more - 1);
    versions_ = std::move(versions);
    endInsertRows();
}

void NotesModel::clear()
{
    beginResetModel();
    versions_.clear();
    endResetModel();
}

const ScratchpadVersion* NotesModel::version(const QModelIndex& index) const
{
    return index.isValid() ? &versions_[versions_.size() - 1 - static_cast<std::size_t>(index.row())] : nullptr;
}

int NotesModel::rowCount(const QModelIndex& parent) const
{
    return parent.isValid() ? 0 : static_cast<int>(versions_.size());
}

int NotesModel::columnCount(const QModelIndex& parent) const
{
    return parent.isValid() ? 0 : column_count;
}

QVariant NotesModel::data(const QModelIndex& index, int role) const
{
    const ScratchpadVersion* shown = version(index);
    if (!shown || role != Qt::DisplayRole)
        return {};
    switch (index.column()) {
        case number_column:
            return shown->number;
        case writer_column:
            return QString::fromLatin1(writerOf(shown->notes));
        case candidates_column:
            return tr("%1 candidates").arg(shown->notes.candidates);
        case time_column:
            return QDateTime::fromMSecsSinceEpoch(shown->time_ms).toString(QStringLiteral("yyyy-MM-dd HH:mm"));
        case size_column:
            return bytesText(shown->notes.text.size());
        default:
            return {};
    }
}

QVariant NotesModel::headerData(int section, Qt::Orientation orientation, int role) const
{
    if (orientation != Qt::Horizontal || role != Qt::DisplayRole)
        return {};
    switch (section) {
        case number_column:
            return tr("Version");
        case writer_column:
            return tr("By");
        case candidates_column:
            return tr("After");
        case time_column:
            return tr("Written");
        case size_column:
            return tr("Size");
        default:
            return {};
    }
}

}  // namespace cuco::ui
