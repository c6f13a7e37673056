// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/engine/run_session.h"

#include "core/run/import_shinka.h"

#include <utility>

namespace cuco::ui {

namespace {

const QString baseline_prefix = QStringLiteral("baseline:");

Error nothingOpen()
{
    return {RunSession::tr("No run is open.").toStdString(), {}, RunSession::tr("Open a run first.").toStdString()};
}

}  // namespace

QString baselineId(const std::string& name)
{
    return baseline_prefix + QString::fromStdString(name);
}

bool isBaselineId(const QString& id)
{
    return id.startsWith(baseline_prefix);
}

std::string baselineName(const QString& id)
{
    return id.mid(baseline_prefix.size()).toStdString();
}

RunSession::RunSession(QObject* parent) : QObject(parent) {}

void RunSession::setRun(RunModel* run)
{
    if (run == run_) {
        return;
    }
    if (run_) {
        disconnect(run_, nullptr, this, nullptr);
    }
    run_ = run;
    primary_.clear();
    secondary_.clear();
    if (run_) {
        connect(run_, &RunModel::reset, this, [this] {
            Q_EMIT runReset();
            // The ids of a run never change, only more come: what was selected still is.
            Q_EMIT selectionChanged();
        });
        connect(run_, &RunModel::candidateChanged, this, &RunSession::candidateChanged);
        connect(run_, &RunModel::baselinesChanged, this, &RunSession::baselinesChanged);
        connect(run_, &RunModel::stepsAdded, this, &RunSession::stepsAdded);
        connect(run_, &RunModel::decisionsChanged, this, &RunSession::decisionsChanged);
        connect(run_, &RunModel::logged, this, &RunSession::logged);
        connect(run_, &RunModel::stateChanged, this, &RunSession::stateChanged);
        connect(run_, &RunModel::progressChanged, this, &RunSession::progressChanged);
        connect(run_, &RunModel::llmCallStarted, this, &RunSession::llmCallStarted);
        connect(run_, &RunModel::llmText, this, &RunSession::llmText);
        connect(run_, &RunModel::llmCallEnded, this, &RunSession::llmCallEnded);
    }
    Q_EMIT runReset();
    Q_EMIT selectionChanged();
}

const RunSnapshot& RunSession::snapshot() const
{
    static const RunSnapshot empty;
    return run_ ? run_->snapshot() : empty;
}

QString RunSession::timesNote() const
{
    if (isImported()) {
        return tr("imported, self-reported");
    }
    return snapshot().modelled ? tr("modelled") : selfReported(snapshot()) ? tr("self-reported") : QString();
}

bool RunSession::isImported() const
{
    return cuco::isImported(snapshot().config);
}

void RunSession::select(const QString& id)
{
    const QString known = candidate(id) || evaluation(id) ? id : QString();
    if (known == primary_ && secondary_.isEmpty()) {
        return;
    }
    primary_ = known;
    secondary_.clear();
    Q_EMIT selectionChanged();
}

void RunSession::compareWith(const QString& id)
{
    if (primary_.isEmpty()) {
        select(id);
        return;
    }
    const QString known = id != primary_ && (candidate(id) || evaluation(id)) ? id : QString();
    if (known == secondary_) {
        return;
    }
    secondary_ = known;
    Q_EMIT selectionChanged();
}

const Candidate* RunSession::candidate(const QString& id) const
{
    return run_ ? run_->candidate(id) : nullptr;
}

const Evaluation* RunSession::evaluation(const QString& id) const
{
    if (isBaselineId(id)) {
        const std::string name = baselineName(id);
        for (const Baseline& baseline : snapshot().baselines) {
            if (baseline.name == name) {
                return &baseline.evaluation;
            }
        }
        return nullptr;
    }
    const Candidate* found = candidate(id);
    return found && found->evaluation ? &*found->evaluation : nullptr;
}

QString RunSession::title(const QString& id) const
{
    return isBaselineId(id) ? tr("%1 (baseline)").arg(QString::fromStdString(baselineName(id))) : id;
}

Result<std::string> RunSession::source(const QString& id) const
{
    return run_ ? run_->source(id) : std::unexpected(nothingOpen());
}

Result<std::optional<Timeline>> RunSession::timeline(const QString& id) const
{
    return run_ ? run_->timeline(id) : std::unexpected(nothingOpen());
}

Result<std::vector<AgentStep>> RunSession::steps() const
{
    return run_ ? run_->steps() : std::unexpected(nothingOpen());
}

void RunSession::openSource(const QString& id, int line)
{
    select(id);
    Q_EMIT sourceRequested(id, line);
}

}  // namespace cuco::ui
