// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/missing_text.h"

#include "ui/engine/run_session.h"

#include <QCoreApplication>

namespace cuco::ui {

namespace {

QString text(const char* source)
{
    return QCoreApplication::translate("cuco::ui::Timeline", source);
}

QString fromView(std::string_view view)
{
    return QString::fromUtf8(view.data(), static_cast<qsizetype>(view.size()));
}

}  // namespace

QString missingTimelineText(const RunSession& session, const QString& id)
{
    const Candidate* candidate = session.candidate(id);
    const Evaluation* evaluation = session.evaluation(id);
    const QString title = session.title(id);
    if (!evaluation && candidate)
        return text("%1 has no timeline yet: it is %2.").arg(title, fromView(toString(candidate->state)));
    if (!evaluation)
        return text("%1 has no timeline: it was not measured in this run.").arg(title);
    if (session.isImported())
        return text("%1 has no timeline: the run was imported, and nothing was measured here.").arg(title);
    if (evaluation->self_reported && evaluation->verified())
        return text("%1 has no timeline: its figures are its own word.").arg(title);
    if (evaluation->verified())
        return text("%1 has no timeline: it is right, but none was recorded for it.").arg(title);
    QString sentence = text("%1 has no timeline: it did not get past %2 (%3).")
                           .arg(title, fromView(toString(evaluation->stage)), fromView(toString(evaluation->verdict)));
    if (!evaluation->message.empty())
        sentence += QStringLiteral("\n") + QString::fromStdString(evaluation->message);
    return sentence;
}

QString errorText(const QString& what_failed, const Error& error)
{
    return what_failed + QStringLiteral(": ") + QString::fromStdString(describe(error));
}

}  // namespace cuco::ui
