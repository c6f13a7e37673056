// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/trace/trace_model.h"

#include <QDateTime>

#include <optional>

namespace cuco::ui {

struct TraceModel::Node {
    Node* parent = nullptr;
    int row = 0;
    std::vector<std::unique_ptr<Node>> children;
    QString title;                  ///< of the run; of a candidate its id
    std::optional<AgentStep> step;  ///< of a step
};

TraceModel::TraceModel(QObject* parent) : QAbstractItemModel(parent), root_(std::make_unique<Node>()) {}

TraceModel::~TraceModel() = default;

void TraceModel::reset(const QString& run_title)
{
    beginResetModel();
    candidates_.clear();
    by_id_.clear();
    agents_.clear();
    root_ = std::make_unique<Node>();
    auto run = std::make_unique<Node>();
    run->parent = root_.get();
    run->title = run_title;
    root_->children.push_back(std::move(run));
    endResetModel();
}

void TraceModel::add(const std::vector<AgentStep>& steps)
{
    if (root_->children.empty())
        return;
    for (const AgentStep& step : steps) {
        if (by_id_.contains(step.id))
            continue;
        Node* parent = by_id_.value(step.parent);
        if (!parent)
            parent = candidateNode(QString::fromStdString(step.candidate_id));
        auto node = std::make_unique<Node>();
        node->step = step;
        by_id_.insert(step.id, append(parent, std::move(node)));
        if (const QString agent = QString::fromStdString(step.agent); !agents_.contains(agent))
            agents_.append(agent);
    }
}

TraceModel::Node* TraceModel::append(Node* parent, std::unique_ptr<Node> node)
{
    const int row = static_cast<int>(parent->children.size());
    beginInsertRows(indexOf(parent), row, row);
    node->parent = parent;
    node->row = row;
    Node* const appended = parent->children.emplace_back(std::move(node)).get();
    endInsertRows();
    return appended;
}

TraceModel::Node* TraceModel::candidateNode(const QString& candidate_id)
{
    Node* const run = root_->children.front().get();
    if (candidate_id.isEmpty())
        return run;
    if (Node* const known = candidates_.value(candidate_id))
        return known;
    auto node = std::make_unique<Node>();
    node->title = candidate_id;
    return candidates_[candidate_id] = append(run, std::move(node));
}

TraceModel::Node* TraceModel::nodeOf(const QModelIndex& index) const
{
    return index.isValid() ? static_cast<Node*>(index.internalPointer()) : root_.get();
}

QModelIndex TraceModel::indexOf(const Node* node) const
{
    return node == root_.get() ? QModelIndex() : createIndex(node->row, 0, node);
}

const AgentStep* TraceModel::step(const QModelIndex& index) const
{
    const Node* node = nodeOf(index);
    return node->step ? &*node->step : nullptr;
}

QModelIndex TraceModel::runIndex() const
{
    return root_->children.empty() ? QModelIndex() : indexOf(root_->children.front().get());
}

QModelIndex TraceModel::candidateIndex(const QString& candidate_id) const
{
    const Node* node = candidates_.value(candidate_id);
    return node ? indexOf(node) : QModelIndex();
}

QModelIndex TraceModel::index(int row, int column, const QModelIndex& parent) const
{
    if (!hasIndex(row, column, parent))
        return {};
    return createIndex(row, column, nodeOf(parent)->children[static_cast<std::size_t>(row)].get());
}

QModelIndex TraceModel::parent(const QModelIndex& child) const
{
    return child.isValid() ? indexOf(nodeOf(child)->parent) : QModelIndex();
}

int TraceModel::rowCount(const QModelIndex& parent) const
{
    return parent.column() > 0 ? 0 : static_cast<int>(nodeOf(parent)->children.size());
}

int TraceModel::columnCount(const QModelIndex&) const
{
    return column_count;
}

QVariant TraceModel::data(const QModelIndex& index, int role) const
{
    if (!index.isValid())
        return {};
    const Node* node = nodeOf(index);
    if (role == candidate_role) {
        if (node->step)
            return QString::fromStdString(node->step->candidate_id);
        return node->parent == root_.get() ? QString() : node->title;
    }
    if (!node->step)
        return role == Qt::DisplayRole && index.column() == title_column ? node->title : QVariant();
    switch (role) {
        case agent_role:
            return QString::fromStdString(node->step->agent);
        case body_role:
            return QString::fromStdString(node->step->body);
        case Qt::ToolTipRole:
        case Qt::DisplayRole:
            break;
        default:
            return {};
    }
    switch (index.column()) {
        case title_column:
            return QString::fromStdString(node->step->title);
        case agent_column:
            return QString::fromStdString(node->step->agent);
        case time_column:
            return QDateTime::fromMSecsSinceEpoch(node->step->time_ms).toString(QStringLiteral("HH:mm:ss"));
        default:
            return {};
    }
}

QVariant TraceModel::headerData(int section, Qt::Orientation orientation, int role) const
{
    if (orientation != Qt::Horizontal || role != Qt::DisplayRole)
        return {};
    switch (section) {
        case title_column:
            return tr("Step");
        case agent_column:
            return tr("Agent");
        case time_column:
            return tr("Time");
        default:
            return {};
    }
}

TraceFilter::TraceFilter(QObject* parent) : QSortFilterProxyModel(parent)
{
    setRecursiveFilteringEnabled(true);
}

void TraceFilter::setText(const QString& text)
{
    text_ = text;
    invalidateFilter();
}

void TraceFilter::setAgent(const QString& agent)
{
    agent_ = agent;
    invalidateFilter();
}

bool TraceFilter::filterAcceptsRow(int row, const QModelIndex& parent) const
{
    if (text_.isEmpty() && agent_.isEmpty())
        return true;
    const QModelIndex index = sourceModel()->index(row, 0, parent);
    const QString agent = index.data(TraceModel::agent_role).toString();
    if (agent.isEmpty())
        return false;  // runs and candidates stay for the steps in them
    if (!agent_.isEmpty() && agent != agent_)
        return false;
    for (const int role : {static_cast<int>(Qt::DisplayRole), static_cast<int>(TraceModel::body_role),
                           static_cast<int>(TraceModel::candidate_role)}) {
        if (index.data(role).toString().contains(text_, Qt::CaseInsensitive))
            return true;
    }
    return false;
}

}  // namespace cuco::ui
