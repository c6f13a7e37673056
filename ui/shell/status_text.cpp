// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/shell/status_text.h"

#include "ui/population/candidate_format.h"
#include "ui/shell/run_list_model.h"

#include <QCoreApplication>
#include <QStringList>

#include <cmath>

namespace cuco::ui {

namespace {

QString translated(const char* text)
{
    return QCoreApplication::translate("Status", text);
}

QString summaryOf(const RunModel& run)
{
    const RunSnapshot& snapshot = run.snapshot();
    QStringList parts{RunListModel::stateText(run)};
    if (const Candidate* best = bestOf(snapshot)) {
        if (const auto speedup = speedupOf(*best->evaluation)) {
            parts << (snapshot.modelled        ? translated("best %1: %2× modelled")
                      : selfReported(snapshot) ? translated("best %1: %2× self-reported")
                                               : translated("best %1: %2×"))
                         .arg(QString::fromStdString(best->id), figureText(*speedup));
        }
    }
    if (!snapshot.message.empty()) {
        parts << QString::fromStdString(snapshot.message);
    }
    return parts.join(QStringLiteral(" · "));
}

}  // namespace

QString timeLeftText(double seconds)
{
    if (seconds < 60) {
        return translated("less than a minute left");
    }
    if (seconds < 90 * 60) {
        return translated("about %1 min left").arg(std::lround(seconds / 60));
    }
    return translated("about %1 h left").arg(std::lround(seconds / 3600));
}

QString statusText(const RunModel& run)
{
    if (const QString activity = run.activity(); !activity.isEmpty()) {
        return activity;
    }
    if (!run.isActive()) {
        return summaryOf(run);
    }
    const Progress& progress = run.progress();
    const RunSnapshot& snapshot = run.snapshot();
    QStringList parts;
    if (!run.prompts().waiting().empty()) {
        parts << RunListModel::stateText(run);
    }
    if (progress.compiling > 0) {
        parts << translated("%1 compiling").arg(progress.compiling);
    }
    if (progress.queued > 0) {
        parts << translated("%1 waiting").arg(progress.queued);
    }
    if (progress.measuring > 0) {
        parts << (snapshot.modelled ? translated("%1 on CPU (modelled)") : translated("%1 on GPU"))
                     .arg(progress.measuring);
    }
    if (progress.cost_usd > 0 || snapshot.config.budget_usd > 0) {
        parts << translated("$%1 of $%2").arg(progress.cost_usd, 0, 'f', 2).arg(snapshot.config.budget_usd, 0, 'f', 2);
    }
    if (progress.seconds_left >= 0) {
        parts << timeLeftText(progress.seconds_left);
    }
    return parts.isEmpty() ? translated("running") : parts.join(QStringLiteral(" · "));
}

}  // namespace cuco::ui
