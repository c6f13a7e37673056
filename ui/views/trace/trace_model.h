// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/agents/proposer.h"
#include "core/run/run_event.h"

#include <QAbstractItemModel>
#include <QHash>
#include <QStringList>

#include <memory>
#include <vector>

namespace cuco::ui {

/// The steps of a run's agents and their calls of models as a tree: run, candidate or agent, step, the steps below a
/// step, call. Each row sums up the calls below it. Rows are only ever added, at the end of their parent.
class TraceModel : public QAbstractItemModel {
    Q_OBJECT

public:
    enum Role { candidate_role = Qt::UserRole, agent_role };
    enum Column {
        title_column,
        agent_column,
        calls_column,
        tokens_column,
        cost_column,
        duration_column,
        time_column,
        column_count
    };
    enum class Grouping { by_candidate, by_agent };

    explicit TraceModel(QObject* parent = nullptr);
    ~TraceModel() override;

    /// Starts again with one run and nothing in it.
    void reset(const QString& run_title, Grouping grouping = Grouping::by_candidate);
    /// What is there already, by id, is passed over.
    void add(const std::vector<AgentStep>& steps, const std::vector<LlmCallSummary>& calls = {});
    void addRunning(const LlmCallStarted& call);
    void endRunning(const LlmCallEnded& call);

    const AgentStep* step(const QModelIndex& index) const;       ///< null for any other row
    const LlmCallSummary* call(const QModelIndex& index) const;  ///< null for any other row; id 0 while it runs
    int running(const QModelIndex& index) const;                 ///< LlmCallStarted::running; 0: not a running call
    LlmTotals totals(const QModelIndex& index) const;            ///< of all ended calls below the row
    QModelIndex runIndex() const;
    /// Of the candidate's row, or of its first step where rows are grouped by agent.
    QModelIndex candidateIndex(const QString& candidate_id) const;
    QModelIndex callIndex(int id) const;
    int stepCount() const { return static_cast<int>(by_id_.size()); }
    int callCount() const { return static_cast<int>(calls_.size()); }
    QStringList agents() const { return agents_; }  ///< in the order they came
    QStringList models() const { return models_; }

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
    Node* groupNode(const std::string& candidate_id, const std::string& agent);
    void addStep(const AgentStep& step);
    void addCall(const LlmCallSummary& call);
    Node* appendCall(const LlmCallSummary& call);
    void remove(Node* node);  ///< one without children
    void addTotals(Node* from, const LlmTotals& totals);
    QVariant text(const Node& node, int column) const;

    std::unique_ptr<Node> root_;  ///< its one child is the run
    Grouping grouping_ = Grouping::by_candidate;
    QHash<QString, Node*> groups_;
    QHash<int, Node*> by_id_;  ///< steps
    QHash<int, Node*> calls_;  ///< ended ones
    QHash<int, Node*> running_;
    QStringList agents_, models_;
    bool loading_ = false;  ///< rows come inside a reset
};

}  // namespace cuco::ui
