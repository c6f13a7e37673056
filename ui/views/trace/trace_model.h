// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/agents/proposer.h"

#include <QAbstractItemModel>
#include <QHash>
#include <QSortFilterProxyModel>
#include <QStringList>

#include <memory>
#include <vector>

namespace cuco::ui {

/// The steps of a run's agents as a tree: run, candidate, step, and the steps below a step. Steps are only
/// ever added, at the end of their parent.
class TraceModel : public QAbstractItemModel {
    Q_OBJECT

public:
    enum Role { candidate_role = Qt::UserRole, agent_role, body_role };
    enum Column { title_column, agent_column, time_column, column_count };

    explicit TraceModel(QObject* parent = nullptr);
    ~TraceModel() override;

    /// Starts again with one run and nothing in it.
    void reset(const QString& run_title);
    /// Steps that are there already, by id, are passed over.
    void add(const std::vector<AgentStep>& steps);

    const AgentStep* step(const QModelIndex& index) const;  ///< null for a run or a candidate
    QModelIndex runIndex() const;
    QModelIndex candidateIndex(const QString& candidate_id) const;
    int stepCount() const { return static_cast<int>(by_id_.size()); }
    QStringList agents() const { return agents_; }  ///< in the order they came

    QModelIndex index(int row, int column, const QModelIndex& parent = {}) const override;
    QModelIndex parent(const QModelIndex& child) const override;
    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role = Qt::DisplayRole) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role = Qt::DisplayRole) const override;

private:
    struct Node;

    Node* nodeOf(const QModelIndex& index) const;
    QModelIndex indexOf(const Node* node) const;
    Node* append(Node* parent, std::unique_ptr<Node> node);
    Node* candidateNode(const QString& candidate_id);

    std::unique_ptr<Node> root_;  ///< its one child is the run
    QHash<QString, Node*> candidates_;
    QHash<int, Node*> by_id_;
    QStringList agents_;
};

/// Steps whose title, body or candidate contains the text and whose agent is the chosen one; a row stays when
/// anything below it does.
class TraceFilter : public QSortFilterProxyModel {
    Q_OBJECT

public:
    explicit TraceFilter(QObject* parent = nullptr);

    void setText(const QString& text);
    void setAgent(const QString& agent);  ///< empty: every agent

protected:
    bool filterAcceptsRow(int row, const QModelIndex& parent) const override;

private:
    QString text_, agent_;
};

}  // namespace cuco::ui
