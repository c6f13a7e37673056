// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/population/candidate_format.h"

#include <QSortFilterProxyModel>

#include <optional>

namespace cuco::ui {

/// Sorts by the numbers behind the texts and keeps the rows that have every word and the chosen standing.
class CandidateFilter : public QSortFilterProxyModel {
    Q_OBJECT

public:
    explicit CandidateFilter(QObject* parent = nullptr);

    void setWords(const QString& words);
    void setStanding(std::optional<Standing> standing);

protected:
    bool filterAcceptsRow(int source_row, const QModelIndex& source_parent) const override;

private:
    QStringList words_;
    std::optional<Standing> standing_;
};

}  // namespace cuco::ui
