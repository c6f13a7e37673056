// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QSet>
#include <QSortFilterProxyModel>

#include <vector>

namespace cuco::ui {

class TraceModel;

/// Steps and calls that fit all that is set; a row stays when anything below it does.
class TraceFilter : public QSortFilterProxyModel {
    Q_OBJECT

public:
    explicit TraceFilter(TraceModel* model, QObject* parent = nullptr);

    /// Rows with the text in title, body or candidate, and the calls `hits`, in whose texts it was found.
    void setText(const QString& text, const std::vector<int>& hits = {});
    void setAgent(const QString& agent);  ///< empty: every agent
    void setModel(const QString& model);  ///< of a call; empty: every model, and steps too
    void setFailedOnly(bool failed_only);

protected:
    bool filterAcceptsRow(int row, const QModelIndex& parent) const override;

private:
    TraceModel* model_;
    QString text_, agent_, model_name_;
    QSet<int> hits_;
    bool failed_only_ = false;
};

}  // namespace cuco::ui
