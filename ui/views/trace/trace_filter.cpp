// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/trace/trace_filter.h"

#include "ui/views/trace/trace_model.h"

namespace cuco::ui {

TraceFilter::TraceFilter(TraceModel* model, QObject* parent) : QSortFilterProxyModel(parent), model_(model)
{
    setRecursiveFilteringEnabled(true);
    setSourceModel(model);
}

void TraceFilter::setText(const QString& text, const std::vector<int>& hits)
{
    text_ = text;
    hits_ = QSet<int>(hits.begin(), hits.end());
    invalidateFilter();
}

void TraceFilter::setAgent(const QString& agent)
{
    agent_ = agent;
    invalidateFilter();
}

void TraceFilter::setModel(const QString& model)
{
    model_name_ = model;
    invalidateFilter();
}

void TraceFilter::setFailedOnly(bool failed_only)
{
    failed_only_ = failed_only;
    invalidateFilter();
}

bool TraceFilter::filterAcceptsRow(int row, const QModelIndex& parent) const
{
    if (text_.isEmpty() && agent_.isEmpty() && model_name_.isEmpty() && !failed_only_)
        return true;
    const QModelIndex index = model_->index(row, 0, parent);
    const AgentStep* const step = model_->step(index);
    const LlmCallSummary* const call = model_->call(index);
    if (!step && !call)
        return false;  // runs and groups stay for what is in them
    if (!agent_.isEmpty() && index.data(TraceModel::agent_role).toString() != agent_)
        return false;
    if (!model_name_.isEmpty() && (!call || QString::fromStdString(call->model) != model_name_))
        return false;
    if (failed_only_ && (!call || !call->error_kind))
        return false;
    const auto contains = [this](const QString& text) { return text.contains(text_, Qt::CaseInsensitive); };
    return text_.isEmpty() || (call && hits_.contains(call->id)) ||
           (step && contains(QString::fromStdString(step->body))) || contains(index.data().toString()) ||
           contains(index.data(TraceModel::candidate_role).toString());
}

}  // namespace cuco::ui
