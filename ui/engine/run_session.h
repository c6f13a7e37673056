// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/engine/run_model.h"

#include <QObject>
#include <QPointer>
#include <QString>

namespace cuco::ui {

/// What the window shows: at most one run, and the selection that all views share. Views keep a pointer
/// to the session for their whole life and refresh on its signals; the run behind it may change.
///
/// An id names a candidate ("c27") or a baseline ("baseline:host.cu").
class RunSession : public QObject {
    Q_OBJECT

public:
    explicit RunSession(QObject* parent = nullptr);

    /// Null when nothing is open. The session does not own it.
    RunModel* run() const { return run_; }
    void setRun(RunModel* run);

    /// The run's snapshot, or an empty one.
    const RunSnapshot& snapshot() const;
    /// "modelled", "self-reported", or nothing: what has to stand beside every time of this run.
    QString timesNote() const;
    /// Another program's run: nothing was measured here, and nothing can be.
    bool isImported() const;

    QString primary() const { return primary_; }      ///< empty: nothing selected
    QString secondary() const { return secondary_; }  ///< not empty: two are compared
    /// Selects one thing, which ends a comparison. An id that the run does not have clears the selection.
    void select(const QString& id);
    /// Compares the selected one with `id`; the same one, or an empty id, ends the comparison.
    void compareWith(const QString& id);

    /// Null for a baseline or an unknown id.
    const Candidate* candidate(const QString& id) const;
    /// Of a candidate that has settled or of a baseline; otherwise null.
    const Evaluation* evaluation(const QString& id) const;
    /// A short name for people: "c27", "host.cu (baseline)".
    QString title(const QString& id) const;

    Result<std::string> source(const QString& id) const;
    Result<std::optional<Timeline>> timeline(const QString& id) const;
    Result<std::vector<AgentStep>> steps() const;

    /// Asks the window to show the id's source, at a line (1-based; 0: its beginning).
    void openSource(const QString& id, int line = 0);

Q_SIGNALS:
    void runReset();  ///< another run, or none; the selection is empty
    void selectionChanged();
    void candidateChanged(const QString& id);  ///< new, or another state, evaluation or decision
    void baselinesChanged();
    void stepsAdded();
    void decisionsChanged();
    void logged();
    void stateChanged();
    void progressChanged();
    void llmCallStarted(int running);
    void llmText(int running);  ///< more of RunModel::runningCalls
    void llmCallEnded(const cuco::LlmCallEnded& call);
    void sourceRequested(const QString& id, int line);

private:
    QPointer<RunModel> run_;
    QString primary_, secondary_;
};

/// "baseline:host.cu" ↔ "host.cu".
QString baselineId(const std::string& name);
bool isBaselineId(const QString& id);
std::string baselineName(const QString& id);

}  // namespace cuco::ui
