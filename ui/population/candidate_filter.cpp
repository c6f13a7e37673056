// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/population/candidate_filter.h"

#include "ui/population/candidate_table_model.h"

#include <algorithm>

namespace cuco::ui {

CandidateFilter::CandidateFilter(QObject* parent) : QSortFilterProxyModel(parent)
{
    setSortRole(CandidateTableModel::sort_role);
    setDynamicSortFilter(true);
}

void CandidateFilter::setWords(const QString& words)
{
    words_ = words.split(QLatin1Char(' '), Qt::SkipEmptyParts);
    invalidateFilter();
}

void CandidateFilter::setStanding(std::optional<Standing> standing)
{
    standing_ = standing;
    invalidateFilter();
}

bool CandidateFilter::filterAcceptsRow(int source_row, const QModelIndex& source_parent) const
{
    const QModelIndex index = sourceModel()->index(source_row, 0, source_parent);
    if (standing_ && index.data(CandidateTableModel::standing_role).toInt() != static_cast<int>(*standing_)) {
        return false;
    }
    if (words_.isEmpty()) {
        return true;
    }
    const QString searched = index.data(CandidateTableModel::search_role).toString();
    return std::all_of(words_.begin(), words_.end(),
                       [&](const QString& word) { return searched.contains(word, Qt::CaseInsensitive); });
}

}  // namespace cuco::ui
