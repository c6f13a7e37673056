// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/trace/trace_model.h"

#include "core/agents/fast_path_stages.h"
#include "ui/style/theme.h"
#include "ui/views/trace/call_format.h"

#include <QDateTime>
#include <QGuiApplication>
#include <QPalette>

#include <optional>

namespace cuco::ui {

struct TraceModel::Node {
    Node* parent = nullptr;
    int row = 0;
    std::vector<std::unique_ptr<Node>> children;
    QString title;                  ///< of the run and of a group
    QString candidate_id;           ///< of a group of one candidate
    std::optional<AgentStep> step;  ///< of a step
    std::optional<LlmCallSummary> call;
    int running = 0;
    LlmTotals totals;
};

namespace {

/// What a step is about: of a judgement that which was judged, although the next attempt began with it.
std::string subjectOf(const AgentStep& step)
{
    std::string judged = judgedAttempt(step);
    return judged.empty() ? step.candidate_id : judged;
}

void noteNew(QStringList& known, const std::string& name)
{
    if (const QString text = QString::fromStdString(name); !known.contains(text))
        known.append(text);
}

LlmCallSummary summaryOf(const LlmCallStarted& started)
{
    LlmCallSummary call;
    call.step = started.origin.step;
    call.candidate_id = started.origin.candidate_id;
    call.agent = started.origin.agent;
    call.provider = started.provider;
    call.model = started.model;
    call.started_ms = started.started_ms;
    return call;
}

}  // namespace

TraceModel::TraceModel(QObject* parent) : QAbstractItemModel(parent), root_(std::make_unique<Node>()) {}

TraceModel::~TraceModel() = default;

void TraceModel::reset(const QString& run_title, Grouping grouping)
{
    beginResetModel();
    grouping_ = grouping;
    groups_.clear();
    by_id_.clear();
    calls_.clear();
    running_.clear();
    agents_.clear();
    models_.clear();
    root_ = std::make_unique<Node>();
    auto run = std::make_unique<Node>();
    run->parent = root_.get();
    run->title = run_title;
    root_->children.push_back(std::move(run));
    endResetModel();
}

void TraceModel::add(const std::vector<AgentStep>& steps, const std::vector<LlmCallSummary>& calls)
{
    if (root_->children.empty())
        return;
    // Thousands of rows at once, each announced, would keep views and filters busy for seconds.
    loading_ = by_id_.isEmpty() && calls_.isEmpty() && running_.isEmpty();
    if (loading_)
        beginResetModel();
    // By time, but a step before what belongs to it.
    auto step = steps.begin();
    for (const LlmCallSummary& call : calls) {
        while (step != steps.end() && (step->time_ms <= call.started_ms || step->id <= call.step))
            addStep(*step++);
        addCall(call);
    }
    while (step != steps.end())
        addStep(*step++);
    if (loading_)
        endResetModel();
    loading_ = false;
}

void TraceModel::addStep(const AgentStep& step)
{
    if (by_id_.contains(step.id))
        return;
    Node* parent = by_id_.value(step.parent);
    if (!parent)
        parent = groupNode(subjectOf(step), step.agent);
    auto node = std::make_unique<Node>();
    node->step = step;
    by_id_.insert(step.id, append(parent, std::move(node)));
    noteNew(agents_, step.agent);
}

void TraceModel::addCall(const LlmCallSummary& call)
{
    if (calls_.contains(call.id))
        return;
    Node* const node = appendCall(call);
    calls_.insert(call.id, node);
    addTotals(node, totalsOf(call));
}

void TraceModel::addRunning(const LlmCallStarted& call)
{
    if (root_->children.empty() || running_.contains(call.running))
        return;
    Node* const node = appendCall(summaryOf(call));
    node->running = call.running;
    running_.insert(call.running, node);
    Q_EMIT dataChanged(indexOf(node), indexOf(node).siblingAtColumn(column_count - 1));
}

void TraceModel::endRunning(const LlmCallEnded& ended)
{
    Node* const node = running_.take(ended.running);
    if (!node) {
        add({}, {ended.summary});
        return;
    }
    if (calls_.contains(ended.summary.id)) {
        remove(node);  // it was read from the file before its end was told
        return;
    }
    node->running = 0;
    node->call = ended.summary;
    if (ended.summary.id > 0)
        calls_.insert(ended.summary.id, node);
    addTotals(node, totalsOf(ended.summary));
}

TraceModel::Node* TraceModel::appendCall(const LlmCallSummary& call)
{
    Node* parent = by_id_.value(call.step);
    if (!parent)
        parent = groupNode(call.candidate_id, call.agent);
    noteNew(agents_, call.agent);
    noteNew(models_, call.model);
    auto node = std::make_unique<Node>();
    node->call = call;
    return append(parent, std::move(node));
}

void TraceModel::addTotals(Node* from, const LlmTotals& totals)
{
    for (Node* node = from; node != root_.get(); node = node->parent) {
        node->totals += totals;
        if (!loading_)
            Q_EMIT dataChanged(indexOf(node), indexOf(node).siblingAtColumn(column_count - 1));
    }
}

TraceModel::Node* TraceModel::append(Node* parent, std::unique_ptr<Node> node)
{
    const int row = static_cast<int>(parent->children.size());
    if (!loading_)
        beginInsertRows(indexOf(parent), row, row);
    node->parent = parent;
    node->row = row;
    Node* const appended = parent->children.emplace_back(std::move(node)).get();
    if (!loading_)
        endInsertRows();
    return appended;
}

void TraceModel::remove(Node* node)
{
    Node* const parent = node->parent;
    const int row = node->row;
    beginRemoveRows(indexOf(parent), row, row);
    parent->children.erase(parent->children.begin() + row);
    for (std::size_t i = static_cast<std::size_t>(row); i < parent->children.size(); ++i)
        parent->children[i]->row = static_cast<int>(i);
    endRemoveRows();
}

TraceModel::Node* TraceModel::groupNode(const std::string& candidate_id, const std::string& agent)
{
    Node* const run = root_->children.front().get();
    const bool by_candidate = grouping_ == Grouping::by_candidate;
    const QString name = QString::fromStdString(by_candidate ? candidate_id : agent);
    if (name.isEmpty())
        return run;
    if (Node* const known = groups_.value(name))
        return known;
    auto node = std::make_unique<Node>();
    node->title = name;
    if (by_candidate)
        node->candidate_id = name;
    return groups_[name] = append(run, std::move(node));
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

const LlmCallSummary* TraceModel::call(const QModelIndex& index) const
{
    const Node* node = nodeOf(index);
    return node->call ? &*node->call : nullptr;
}

int TraceModel::running(const QModelIndex& index) const
{
    return nodeOf(index)->running;
}

LlmTotals TraceModel::totals(const QModelIndex& index) const
{
    return nodeOf(index)->totals;
}

QModelIndex TraceModel::runIndex() const
{
    return root_->children.empty() ? QModelIndex() : indexOf(root_->children.front().get());
}

QModelIndex TraceModel::candidateIndex(const QString& candidate_id) const
{
    if (grouping_ == Grouping::by_candidate) {
        const Node* node = groups_.value(candidate_id);
        return node ? indexOf(node) : QModelIndex();
    }
    const std::string id = candidate_id.toStdString();
    const Node* first = nullptr;
    for (const Node* node : by_id_)
        if (subjectOf(*node->step) == id && (!first || node->step->id < first->step->id))
            first = node;
    return first ? indexOf(first) : QModelIndex();
}

QModelIndex TraceModel::callIndex(int id) const
{
    const Node* node = calls_.value(id);
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

QVariant TraceModel::text(const Node& node, int column) const
{
    const auto clock = [](std::int64_t time_ms) {
        return QDateTime::fromMSecsSinceEpoch(time_ms).toString(QStringLiteral("HH:mm:ss"));
    };
    switch (column) {
        case title_column:
            return node.step   ? QString::fromStdString(node.step->title)
                   : node.call ? callTitle(*node.call, node.running != 0)
                               : node.title;
        case agent_column:
            return node.step   ? QString::fromStdString(node.step->agent)
                   : node.call ? QString::fromStdString(node.call->agent)
                               : QString();
        case time_column:
            return node.step ? clock(node.step->time_ms) : node.call ? clock(node.call->started_ms) : QString();
        default:
            break;
    }
    if (node.totals.calls == 0)
        return {};
    switch (column) {
        case calls_column:
            return node.call ? QVariant() : QString::number(node.totals.calls);
        case tokens_column:
            return tokensText(node.totals);
        case cost_column:
            return costText(node.totals);
        case duration_column:
            return durationText(node.totals.time);
        default:
            return {};
    }
}

QVariant TraceModel::data(const QModelIndex& index, int role) const
{
    if (!index.isValid())
        return {};
    const Node* node = nodeOf(index);
    switch (role) {
        case candidate_role:
            return node->step                         ? QString::fromStdString(subjectOf(*node->step))
                   : node->call && node->parent->step ? QString::fromStdString(subjectOf(*node->parent->step))
                   : node->call                       ? QString::fromStdString(node->call->candidate_id)
                                                      : node->candidate_id;
        case agent_role:
            return text(*node, agent_column);
        case Qt::DisplayRole:
            return text(*node, index.column());
        case Qt::ToolTipRole:
            if (node->call && node->call->error_kind)
                return QString::fromStdString(node->call->error);
            return index.column() == title_column ? text(*node, title_column) : totalsText(node->totals);
        case Qt::TextAlignmentRole:
            return index.column() >= calls_column ? QVariant(Qt::AlignRight | Qt::AlignVCenter) : QVariant();
        case Qt::ForegroundRole:
            if (node->call && node->call->error_kind) {
                const Colors colors = colorsFor(QGuiApplication::palette());
                return colors.readable(colors.failed);
            }
            return {};
        default:
            return {};
    }
}

QVariant TraceModel::headerData(int section, Qt::Orientation orientation, int role) const
{
    if (orientation != Qt::Horizontal)
        return {};
    if (role == Qt::TextAlignmentRole)
        return section >= calls_column ? QVariant(Qt::AlignRight | Qt::AlignVCenter)
                                       : QVariant(Qt::AlignLeft | Qt::AlignVCenter);
    if (role == Qt::ToolTipRole && section == tokens_column)
        return tr("Tokens asked with, those from a cache included, and tokens answered");
    if (role != Qt::DisplayRole)
        return {};
    switch (section) {
        case title_column:
            return tr("Step or call");
        case agent_column:
            return tr("Agent");
        case calls_column:
            return tr("Calls");
        case tokens_column:
            return tr("Tokens");
        case cost_column:
            return tr("Cost");
        case duration_column:
            return tr("Took");
        case time_column:
            return tr("At");
        default:
            return {};
    }
}

}  // namespace cuco::ui
